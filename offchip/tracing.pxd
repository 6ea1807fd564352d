# SPDX-License-Identifier: BSD-3-Clause
"""C declarations: csrc/dispatch/trace.h, of which each package's module has a copy of its own."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free


cdef extern from "trace.h" nogil:
    struct offchip_trace_event:
        const char *name
        int64_t begin
        int64_t end
        uint64_t bytes
        int32_t thread
        int32_t rank

    offchip_trace_event *offchip_trace_take(size_t *count, uint64_t *dropped)


# The calls so far, which are forgotten, and how many more there were.
cdef inline tuple taken_trace():
    cdef size_t count, i
    cdef uint64_t dropped
    cdef offchip_trace_event *events = offchip_trace_take(&count, &dropped)
    try:
        calls = [
            (
                events[i].name.decode("ascii"), events[i].begin, events[i].end, events[i].bytes,
                events[i].thread, events[i].rank,
            )
            for i in range(count)
        ]
    finally:
        free(events)
    return calls, dropped
