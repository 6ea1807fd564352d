/* SPDX-License-Identifier: BSD-3-Clause */
/* export.h: marks the functions that programs call; all others are hidden (libdpu.map). */
#ifndef OFFCHIP_DPU_LIB_EXPORT_H
#define OFFCHIP_DPU_LIB_EXPORT_H

#define DPU_EXPORT __attribute__((visibility("default")))

#endif
