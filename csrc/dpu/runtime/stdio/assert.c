/* SPDX-License-Identifier: BSD-3-Clause */
/* assert.c: an assertion that failed. */
#include <assert.h>
#include <dpu_instructions.h>

void __assert_failed(void)
{
    __dpu_fault(__FAULT_ASSERT_FAILED__);
}
