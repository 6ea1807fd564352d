/* SPDX-License-Identifier: BSD-3-Clause */
/* halt.c: stopping the DPU. */
#include <assert.h>
#include <defs.h>
#include <dpufault.h>
#include <stdlib.h>

void halt(void)
{
    __dpu_fault(__FAULT_HALT__);
}

void abort(void)
{
    __dpu_fault(__FAULT_HALT__);
}

void exit(int status)
{
    (void)status;
    __dpu_fault(__FAULT_HALT__);
}
