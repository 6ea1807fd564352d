/* SPDX-License-Identifier: BSD-3-Clause */
/* dpuruntime.h: names that code close to the run time uses. */
#ifndef DPU_RUNTIME_DPURUNTIME_H
#define DPU_RUNTIME_DPURUNTIME_H

#include <built_ins.h>
#include <dpu_instructions.h>
#include <dpuconst.h>
#include <dpufault.h>
#include <macro_utils.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern uint8_t __sys_heap_pointer_reset[]; /* its address is where the heap starts */
extern volatile uint32_t __sys_heap_pointer;
extern uint8_t __sys_wq_table[]; /* the tasklet after this one, in the queue that it waits in */

/* Values that a tasklet starts with, in the order that crt0 loads it. */
typedef struct {
    uint32_t stack_size;
    uint32_t stack_ptr;
} thread_stack_t;
extern thread_stack_t __sys_thread_stack_table_ptr[];

#define __INITIAL_HEAP_POINTER __sys_heap_pointer_reset
#define __HEAP_POINTER __sys_heap_pointer
#define __WAIT_QUEUE_TABLE __sys_wq_table
#define __SP_TABLE__ __sys_thread_stack_table_ptr
#define __STDOUT_BUFFER_STATE __stdout_buffer_state

#define __EMPTY_WAIT_QUEUE 0xFF

#define __acquire(base, off) __dpu_acquire((uintptr_t)(base) + (uintptr_t)(off))
#define __release(base, off, at) __dpu_release((uintptr_t)(base) + (uintptr_t)(off))
#define __resume(base, off) __dpu_resume((uint32_t)(base) + (uint32_t)(off))
#define __stop() __dpu_stop()
#define __AT_THIS_INSTRUCTION ".+0"
#define __AT_NEXT_INSTRUCTION ".+1"

#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif
#define unreachable() __builtin_unreachable()
#define count_leading_zeros(x) __builtin_clz(x)
#define count_population(x) __builtin_popcount(x)

#ifdef __cplusplus
}
#endif

#endif
