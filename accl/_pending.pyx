# SPDX-License-Identifier: BSD-3-Clause
"""Calls that may still run."""

cimport cython
from accl.libaccl cimport ACCL_COMPLETED

__all__ = []


@cython.final
@cython.no_gc_clear
cdef class Pending:
    def __dealloc__(self):
        if self.c is not NULL:
            self.lib.table.accl_request_free(self.c)

    def __reduce_ex__(self, protocol):
        raise TypeError("a call cannot be pickled: it runs in this process")

    cdef bint ended(self) noexcept:
        return self.lib.table.accl_request_state(self.c) == ACCL_COMPLETED


cdef int prune(object outstanding) except -1:
    while outstanding and (<Pending>outstanding[0]).ended():
        outstanding.popleft()
    return 0
