/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions that the host and the DPU share. */
#ifndef COMMON_H
#define COMMON_H

#include <stdint.h>

#define ELEMENTS 1024

struct arguments {
    uint32_t elements;
    uint32_t factor;
};

#endif
