/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host and the DPU both know. */
#ifndef COMMON_H
#define COMMON_H

#include <stdint.h>

#define ELEMENTS 1024

struct arguments {
    uint32_t elements;
    uint32_t factor;
};

#endif
