/* SPDX-License-Identifier: BSD-3-Clause */
/* silence.h: how long a wait for the main context lasts before it is told, in libveo and Python. */
#ifndef OFFCHIP_VEO_SILENCE_H
#define OFFCHIP_VEO_SILENCE_H

#include <stdint.h>

#define VEO_SILENCE_NS INT64_C(30000000000)

#endif
