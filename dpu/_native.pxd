# SPDX-License-Identifier: BSD-3-Clause
"""A loaded libdpu, errors about it, and the count of forks."""

from dpu.libdpu cimport dpu_error_t, dpu_table, dpusoft_table

# How often this process and its ancestors forked since the package was imported in the first of
# them. A handle keeps the number of its birth: where they differ it belongs to the parent.
cdef unsigned int fork_count

# Longest stay in C without a look at signals.
cdef enum:
    SLICE_NS = 100_000_000


cdef class Library:
    # Neither is ever freed: functions of the library may run until the end of the process.
    cdef const dpu_table *table
    cdef const dpusoft_table *soft
    cdef readonly str path
    cdef readonly str kind
    cdef readonly str found_via
    cdef readonly object version
    cdef readonly object api_version
    cdef readonly tuple missing
    cdef readonly tuple refused

    # DpuError with the library's text for `code`. To be called in the thread that got the code,
    # and next: the explanation belongs to the last call.
    cdef int fail(self, dpu_error_t code, str function, str detail=*) except -1
    # DpuError if the library, being a vendor's, lacks an extension of the soft twin.
    cdef int need(self, const void *function, str what) except -1


# `invalid action for this dpu set`, found out before the library was asked.
cdef int fail_set(str function, str detail) except -1
# None for the one that the process uses by default, a Library, or what loader.choose() takes.
cdef Library get_library(object which)
