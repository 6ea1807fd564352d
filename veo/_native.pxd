# SPDX-License-Identifier: BSD-3-Clause
"""A loaded libveo, errors about it, and the count of forks."""

from veo.libveo cimport offchip_library, veo_proc_handle, veo_table, veosoft_table

# How often this process and its ancestors forked since the package was imported in the first of
# them. A handle keeps the number of its birth: where they differ it belongs to the parent.
cdef unsigned int fork_count


cdef class Library:
    # Neither is ever freed: functions of the library may run until the end of the process.
    cdef const veo_table *table
    cdef const veosoft_table *soft
    cdef readonly str path
    cdef readonly str kind
    cdef readonly str found_via
    cdef readonly str version
    cdef readonly int api_version
    cdef readonly tuple missing
    cdef readonly tuple refused

    # Raises VeoError: `what` failed, with the library's own words where it has some.
    cdef int fail(self, str what, str function, veo_proc_handle *proc=*, int code=*,
                  object cls=*) except -1
    # VeoError if the library lacks a function that not all have.
    cdef int need(self, const void *function, str name) except -1

# The report without its trace, for errors other than that of the kernel that crashed.
cdef str without_trace(str report)
# The text of the last failure in this thread and how the process died, where there are any.
cdef str explain(const veosoft_table *soft, veo_proc_handle *proc)
# How the process died, "" if it lives or the library does not say.
cdef str death_report(const veosoft_table *soft, veo_proc_handle *proc)
# None for the one that the process uses by default, a Library, or what loader.choose() takes.
cdef Library get_library(object which)
