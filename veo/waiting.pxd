# SPDX-License-Identifier: BSD-3-Clause
"""Time and pauses without the GIL, and waiting with the vendor's functions alone."""

from libc.stdint cimport uint64_t
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, nanosleep, timespec
from veo.libveo cimport VEO_COMMAND_UNFINISHED, veo_table, veo_thr_ctxt

# The longest stay in C without a check for signals.
cdef enum:
    SLICE_NS = 100_000_000


cdef inline long long now_ns() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return <long long>now.tv_sec * 1_000_000_000 + now.tv_nsec


cdef inline void pause_ns(long long ns) noexcept nogil:
    cdef timespec span
    span.tv_sec = ns // 1_000_000_000
    span.tv_nsec = ns % 1_000_000_000
    nanosleep(&span, NULL)


# The pauses between polls grow.
cdef inline int wait_by_peeking(const veo_table *table, veo_thr_ctxt *ctx, uint64_t id,
                                uint64_t *value, long long ns) noexcept nogil:
    cdef long long deadline = now_ns() + ns
    cdef long long pause = 0
    cdef int looks = 0
    cdef int rc
    while True:
        rc = table.veo_call_peek_result(ctx, id, value)
        if rc != VEO_COMMAND_UNFINISHED:
            return rc
        looks += 1
        if looks < 200:
            continue
        if now_ns() + pause >= deadline:
            return VEO_COMMAND_UNFINISHED
        pause = min(max(pause + pause // 4, 1_000), 500_000)
        pause_ns(pause)
