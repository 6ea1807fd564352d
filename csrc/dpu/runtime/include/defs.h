/* SPDX-License-Identifier: BSD-3-Clause */
/* defs.h: who this tasklet is, and ways to stop. */
#ifndef DPU_RUNTIME_DEFS_H
#define DPU_RUNTIME_DEFS_H

#include <attributes.h>
#include <dpu_instructions.h>
#include <dpuconst.h>
#include <sysdef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of this tasklet. */
__DPU_INLINE sysname_t me(void)
{
    return __dpu_me();
}

/* Ends the program of the whole DPU with fault 4. */
__attribute__((noreturn)) void halt(void);

/* Bytes of this tasklet's stack that are free; negative if the stack has overflowed. */
int check_stack(void);

/* The address that the calling function returns to (return address pointer). */
#define rap() ((uintptr_t)__builtin_return_address(0))

#ifdef __cplusplus
}
#endif

#endif
