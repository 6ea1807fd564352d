# SPDX-License-Identifier: BSD-3-Clause
"""A loaded library with the interface of accl.h, and errors about it."""

from libc.stdint cimport uint32_t
from accl.libaccl cimport accl_table
from offchip.native cimport LoadedLibrary


cdef class Library(LoadedLibrary):
    # Never freed: functions of the library may run until the end of the process.
    cdef const accl_table *table

    # Raises the error of a status that is not ACCL_OK. Must be the next call in the thread that got
    # the status: the text is that of the last call.
    cdef int fail(self, int status, str function) except -1
    # Raises the error of a call that failed with error bits.
    cdef object call_error(self, uint32_t retcode, str operation, str text, int rank)


# None for the default library, a Library, or an argument of loader.choose().
cdef Library get_library(object which)
