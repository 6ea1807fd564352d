# SPDX-License-Identifier: BSD-3-Clause
"""A loaded libdpu, and errors about it."""

from offchip.native cimport LoadedLibrary
from dpu.libdpu cimport dpu_error_t, dpu_table, dpusoft_table


cdef class Library(LoadedLibrary):
    # Neither is ever freed: functions of the library may run until the end of the process.
    cdef const dpu_table *table
    cdef const dpusoft_table *soft

    # Raises DpuError with the library's text for `code`. Must be the next call in the thread that
    # got the code: the explanation is that of the last call.
    cdef int fail(self, dpu_error_t code, str function, str detail=*) except -1
    # DpuError if the library is a vendor's, without an extension of the soft twin.
    cdef int need(self, const void *function, str what) except -1


# `invalid action for this dpu set`, detected before the library is called.
cdef int fail_set(str function, str detail) except -1
# None for the default library, a Library, or an argument of loader.choose().
cdef Library get_library(object which)
