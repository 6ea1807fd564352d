/* SPDX-License-Identifier: BSD-3-Clause */
/* divide64.h: division of 64-bit numbers. */
#ifndef DPU_RUNTIME_DIVIDE64_H
#define DPU_RUNTIME_DIVIDE64_H

#include "arithmetic.h"

/* The quotient; *REST becomes the remainder. Division by 0 is fault 2. */
uint64_t RUNTIME(__udivmoddi4)(uint64_t a, uint64_t b, uint64_t *rest);

#endif
