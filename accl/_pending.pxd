# SPDX-License-Identifier: BSD-3-Clause
"""Calls that may still run, as their device keeps them."""

from accl.libaccl cimport accl_request
from accl._native cimport Library


cdef class Pending:
    """A call that may still run: the device keeps it, even if the handle was dropped."""

    # Whose functions free it. Not the device, which is closed with its last other reference.
    cdef Library lib
    cdef accl_request *c
    # What the call uses, until it has ended.
    cdef tuple keep

    # Whether the call has ended; never waits.
    cdef bint ended(self) noexcept


# Drops those at the front of a deque that have ended, and what they used.
cdef int prune(object outstanding) except -1
