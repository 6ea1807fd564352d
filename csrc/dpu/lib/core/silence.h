/* SPDX-License-Identifier: BSD-3-Clause */
/* silence.h: how long a wait for the queue of a rank lasts before it is told, in libdpu and Python.
 */
#ifndef OFFCHIP_DPU_LIB_SILENCE_H
#define OFFCHIP_DPU_LIB_SILENCE_H

#include <stdint.h>

#define DPU_SILENCE_NS INT64_C(30000000000)

#endif
