# SPDX-License-Identifier: BSD-3-Clause
"""A loaded libdpu, and errors about it."""

from offchip.native cimport LoadedLibrary
from dpu.libdpu cimport dpu_error_t, dpu_table, dpusoft_table

# Longest stay in C without a look at signals.
cdef enum:
    SLICE_NS = 100_000_000


cdef class Library(LoadedLibrary):
    # Neither is ever freed: functions of the library may run until the end of the process.
    cdef const dpu_table *table
    cdef const dpusoft_table *soft

    # DpuError with the library's text for `code`. To be called in the thread that got the code,
    # and next: the explanation belongs to the last call.
    cdef int fail(self, dpu_error_t code, str function, str detail=*) except -1
    # DpuError if the library, being a vendor's, lacks an extension of the soft twin.
    cdef int need(self, const void *function, str what) except -1


# `invalid action for this dpu set`, found out before the library was asked.
cdef int fail_set(str function, str detail) except -1
# None for the one that the process uses by default, a Library, or what loader.choose() takes.
cdef Library get_library(object which)
