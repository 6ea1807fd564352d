/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meetings.h: where tasklets of a program can sleep: its barriers, semaphores and handshakes, which
 * are the same structures in the vendor's run time and in ours. A variable is known by the symbol
 * of the atomic bit that guards it.
 */
#ifndef OFFCHIP_DPU_LIB_MEETINGS_H
#define OFFCHIP_DPU_LIB_MEETINGS_H

#include "formats/dpu_elf.h"

#include <stdbool.h>
#include <stdint.h>

#define DPULIB_NOWHERE UINT32_MAX

/* Prefixes of the symbols of atomic bits. */
#define DPULIB_BIT_PREFIX "__atomic_bit_"
#define DPULIB_BARRIER_PREFIX DPULIB_BIT_PREFIX "barrier_"
#define DPULIB_SEMAPHORE_PREFIX DPULIB_BIT_PREFIX "semaphore_"

struct dpulib_meeting {
    const char *name; /* in the program */
    bool is_barrier;
    uint32_t address;
    uint8_t guard;
};

struct dpulib_meetings {
    uint32_t
        next; /* of each tasklet in a queue the one after it; DPULIB_NOWHERE if there is none */
    uint32_t partners; /* of each tasklet who waits for it in a handshake, plus 1 */
    struct dpulib_sleeping_function {
        const char *name;
        uint32_t first, last; /* instructions */
    } functions[4];           /* in which tasklets sleep */
    uint32_t functions_count, count;
    struct dpulib_meeting meetings[];
};

/* Finds them in a file, whose names they point to. To be freed by free(); NULL if out of memory. */
struct dpulib_meetings *dpulib_meetings_new(const struct dpu_elf *elf);

#endif
