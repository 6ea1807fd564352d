/* SPDX-License-Identifier: BSD-3-Clause */
/* stdint.h: the compiler's own, and <limits.h> with it, as programs for the vendor's expect. */
#ifndef DPU_RUNTIME_STDINT_H
#define DPU_RUNTIME_STDINT_H

#include <limits.h>
#include_next <stdint.h>

#endif
