# SPDX-License-Identifier: BSD-3-Clause
"""A loaded library with the interface of accl.h, and errors about it."""

from libc.stdint cimport uint32_t
from accl.libaccl cimport accl_table
from offchip.native cimport LoadedLibrary

# Longest stay in C without checking signals.
cdef enum:
    SLICE_NS = 50_000_000


cdef class Library(LoadedLibrary):
    # Never freed: functions of the library may run until the end of the process.
    cdef const accl_table *table

    # Raises the error of a status that is not ACCL_OK. To be called in the thread that got it, and
    # next: the text belongs to the last call.
    cdef int fail(self, int status, str function) except -1
    # The error of a call that ended with error bits.
    cdef object call_error(self, uint32_t retcode, str operation, str text)


# None for the one that the process uses by default, a Library, or what loader.choose() takes.
cdef Library get_library(object which)
