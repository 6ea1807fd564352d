# SPDX-License-Identifier: BSD-3-Clause
"""Time and pauses without the GIL, and long waits in parts, with looks at signals between them."""

from libc.limits cimport LLONG_MAX as NEVER
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, nanosleep, timespec

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


# The end of a wait of NS nanoseconds that begins now; NEVER if NS is negative or beyond the clock.
cdef inline long long deadline_after(long long ns) noexcept nogil:
    cdef long long now = now_ns() if ns >= 0 else 0
    return now + ns if ns >= 0 and ns <= NEVER - now else NEVER


# The first part of a wait of NS nanoseconds; negative: without an end. A look at the clock would be
# as dear as the rest of a short wait.
cdef inline long long first_slice(long long ns) noexcept nogil:
    return min(ns, <long long>SLICE_NS) if ns >= 0 else SLICE_NS


# The next part of a wait until DEADLINE; 0 after it.
cdef inline long long slice_until(long long deadline) noexcept nogil:
    return first_slice(max(deadline - now_ns(), <long long>0) if deadline != NEVER else -1)
