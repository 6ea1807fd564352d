# SPDX-License-Identifier: BSD-3-Clause
"""Base of the packages' classes of loaded C libraries, and the count of forks."""

from offchip.libloader cimport offchip_library

# Number of forks of this process and its ancestors since the package was imported in the first of
# them. A handle keeps the number of its birth: where they differ it belongs to the parent.
cdef unsigned int fork_count


# Base of a package's Library. Subclasses add the tables of functions, which are never freed:
# functions of the library may run until the end of the process.
cdef class LoadedLibrary:
    cdef readonly str path
    cdef readonly str kind
    cdef readonly str found_via
    cdef readonly object version
    cdef readonly object api_version
    cdef readonly tuple missing
    cdef readonly tuple refused

    # Notes what was loaded, after the loader's choice.
    cdef int note(self, object choice, const offchip_library *lib) except -1


# Decodes a text of a library; "" for NULL.
cdef str text_of(const char *text)
# Zeroed memory, to be freed by discard().
cdef offchip_library *new_library() except NULL
cdef void *new_table(size_t size) except NULL
# Undoes an opening that failed; each may be NULL.
cdef void discard(offchip_library *lib, void *table, void *soft) noexcept
# Names of the functions that the library lacks.
cdef list missing_names(const offchip_library *lib)
