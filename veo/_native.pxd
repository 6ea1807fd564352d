# SPDX-License-Identifier: BSD-3-Clause
"""A loaded libveo, and errors about it."""

from offchip.native cimport LoadedLibrary
from veo.libveo cimport veo_proc_handle, veo_table, veosoft_table


cdef class Library(LoadedLibrary):
    # Neither is ever freed: functions of the library may run until the end of the process.
    cdef const veo_table *table
    cdef const veosoft_table *soft

    # Raises VeoError: `what` failed, with the library's error text if there is one.
    cdef int fail(self, str what, str function, veo_proc_handle *proc=*, int code=*,
                  object cls=*) except -1
    # VeoError if the library does not have an optional function.
    cdef int need(self, const void *function, str name) except -1

# The report without its trace, for errors other than that of the kernel that crashed.
cdef str without_trace(str report)
# The text of the last failure in this thread, and how the process died, if known.
cdef str explain(const veosoft_table *soft, veo_proc_handle *proc)
# How the process died, "" if it is alive or the library does not report it.
cdef str death_report(const veosoft_table *soft, veo_proc_handle *proc)
# None for the default library, a Library, or an argument of loader.choose().
cdef Library get_library(object which)
