# SPDX-License-Identifier: BSD-3-Clause
"""Waits of synchronous functions for what is queued in the main context."""

from libc.errno cimport EINPROGRESS, ETIMEDOUT, errno
from veo.libveo cimport veo_thr_ctxt, veosoft_table

cdef enum:
    # For kernels whose wait timed out.
    GIVEN_UP_NS = 1_500_000_000


cdef struct main_wait:
    long long limit                    # in nanoseconds; negative: the default rule
    long long slice                    # the next stay in C
    long long began                    # 0 before it had to wait
    bint told
    bint begun                         # what is waited for has begun


# TIMEOUT as the user gives it: seconds, or None for the default rule.
cdef main_wait main_wait_of(object timeout) except *
# A stay in C has ended in vain: KeyboardInterrupt, VeoTimeoutError at the limit, or 0 to go on.
# GIVEN_UP: a wait for what is queued there has timed out before.
cdef int keep_waiting(main_wait *wait, const veosoft_table *soft, veo_thr_ctxt *main,
                      bint given_up, str function) except -1
# VeoTimeoutError for a wait of that long; TEXT says what is queued.
cdef int fail_late(long long ns, str text, bint given_up, str function) except -1
# Describes the oldest request of a context that is not done; "" where the library does not say.
cdef str oldest_of(const veosoft_table *soft, veo_thr_ctxt *ctx)


# The function that is called next returns after a slice.
cdef inline void limit_wait(const veosoft_table *soft, const main_wait *wait) noexcept nogil:
    if soft.veosoft_set_wait_limit is not NULL:
        soft.veosoft_set_wait_limit(wait.slice)


# True if it FAILED because of that. Later functions have no limit.
cdef inline bint was_late(const veosoft_table *soft, main_wait *wait, bint failed) noexcept nogil:
    cdef bint late = failed and (errno == ETIMEDOUT or errno == EINPROGRESS)
    wait.begun = late and errno == EINPROGRESS
    if soft.veosoft_set_wait_limit is NULL:
        return False
    soft.veosoft_set_wait_limit(-1)
    return late
