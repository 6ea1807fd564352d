# SPDX-License-Identifier: BSD-3-Clause
"""Calls that may still run, which their device keeps."""

from accl.libaccl cimport accl_request
from accl._native cimport Library


cdef class Pending:
    """A call that may still run: the device keeps it, even if the handle was dropped."""

    # Has the function that frees it. Not the device, which is closed with its last other reference.
    cdef Library lib
    cdef accl_request *c
    # The operands, until the call has finished.
    cdef tuple keep

    # Returns true if the call has finished; never waits.
    cdef bint ended(self) noexcept


# Drops finished calls at the front of a deque, and their operands.
cdef int prune(object outstanding) except -1
