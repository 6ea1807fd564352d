/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks_gates.h: calls of functions of the host from code that is checked. Their arguments must
 * have been written; what they read and write is looked at for those whose ranges are known
 * (checks_ranges.c), and what others are given pointers to counts as written afterwards. The heap
 * is one with bounds (checks_heap.c). For the thread that runs the core.
 */
#ifndef VERUN_CHECKS_GATES_H
#define VERUN_CHECKS_GATES_H

#include <stdbool.h>
#include <stdint.h>

#include "veo/checks/checks.h"

/* Puts itself before the gates and the monitor calls of a core that has checks. */
void verun_checks_gates(struct ve_core *core);

/* A call that is under way: its checks, and what its arguments were. */
struct verun_gate_call {
    struct ve_checks *checks;
    struct ve_core *core;
    const char *name;
    uint64_t args[8];
};

/* Tells of something that is wrong with a call: an address with its size, or an argument. */
void verun_checks_tell_gate(const struct verun_gate_call *call, enum ve_finding_kind kind,
                            enum ve_check check, uint64_t address, uint64_t size, unsigned number);

/*
 * Ranges that a function reads and writes, before and after it: letters with numbers of arguments,
 * see checks_ranges.c; NULL if they are not known.
 */
const char *verun_ranges_of(const char *name);
void verun_ranges_before(const struct verun_gate_call *call, const char *ranges);
void verun_ranges_after(const struct verun_gate_call *call, const char *ranges);
/* Bytes of a string and its 0, at most LIMIT; what is hidden ends it, too, as its last byte. */
uint64_t verun_string_bytes(uint64_t address, uint64_t limit);

/* Before a function that writes more than its numbers say: that counts as written then. */
void verun_elements_before(const struct verun_gate_call *call);

/* Does what a function of the heap does. False if CALL is of another one. */
bool verun_heap_call(const struct verun_gate_call *call);
/* Before a function that may give a block of the heap to the host's realloc(). */
void verun_heap_before(const struct verun_gate_call *call);

#endif
