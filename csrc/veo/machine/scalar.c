/* SPDX-License-Identifier: BSD-3-Clause */
/* scalar.c: executors of what the run loop has inline as well. */
#include "executors.h"
#include "scalar.h"

#define STOP return
#define HERE (void)0
#define SCALAR(operation, ...) \
    void ve_execute_##operation(struct ve_core *core, const struct ve_instruction *i) \
    { \
        (void)core; \
        (void)i; \
        __VA_ARGS__ \
    }
#define MEMORY SCALAR
#include "veo/machine/scalar_float.inc"
#include "veo/machine/scalar_integer.inc"
#include "veo/machine/scalar_memory.inc"
