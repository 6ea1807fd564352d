/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace.h: when the functions of a table were called, and how long they took.
 *
 * While a table is traced, its fields are functions that call those of the library and note the
 * time; a table that is not traced is as the library filled it. All functions may be called from
 * any thread. One table of each kind at a time; its memory must stay.
 */
#ifndef OFFCHIP_TRACE_H
#define OFFCHIP_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct offchip_trace_event {
    const char *name;
    int64_t begin, end; /* nanoseconds of CLOCK_MONOTONIC */
    uint64_t bytes;
    int32_t thread; /* of the kernel */
    int32_t rank;   /* -1: none, or not known */
};

/* Begins with no events; a child of this process has none. */
void offchip_trace_begin(void);
int64_t offchip_trace_now(void);
/* Notes a call that began at BEGIN and is over now. NAME must stay. What there is no memory for is
 * counted. */
void offchip_trace_add(const char *name, int64_t begin, uint64_t bytes, int32_t rank);
/* The events so far, in the order of their ends, to be freed by the caller, and how many more there
 * were; they are forgotten. */
struct offchip_trace_event *offchip_trace_take(size_t *number, uint64_t *lost);

/* Functions that note the time of a call: of one with a result, and of one without. */
#define OFFCHIP_TRACED(table, type, name, bytes, rank, parameters, arguments) \
    static type traced_##name parameters \
    { \
        int64_t begin_ = offchip_trace_now(); \
        type result_ = (table).name arguments; \
        offchip_trace_add(#name, begin_, bytes, rank); \
        return result_; \
    }
#define OFFCHIP_TRACED_VOID(table, name, rank, parameters, arguments) \
    static void traced_##name parameters \
    { \
        int64_t begin_ = offchip_trace_now(); \
        (table).name arguments; \
        offchip_trace_add(#name, begin_, 0, rank); \
    }
/* In a table, and back. A function that the library does not have stays so. */
#define OFFCHIP_TRACE_FIELD(table, name) \
    if ((table)->name != NULL) \
        __atomic_store_n(&(table)->name, traced_##name, __ATOMIC_RELAXED);
#define OFFCHIP_UNTRACE_FIELD(table, real, name) \
    __atomic_store_n(&(table)->name, (real).name, __ATOMIC_RELAXED);

#endif
