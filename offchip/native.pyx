# SPDX-License-Identifier: BSD-3-Clause
"""The base class of loaded C libraries, and the count of forks."""

from libc.stdlib cimport calloc, free
from offchip.libloader cimport (
    offchip_library,
    offchip_library_close,
    offchip_library_missing,
)

__all__ = ["LoadedLibrary"]


cdef extern from "pthread.h" nogil:
    int pthread_atfork(void (*prepare)() noexcept, void (*parent)() noexcept,
                       void (*child)() noexcept)


cdef void _count_fork() noexcept nogil:
    global fork_count
    fork_count += 1


fork_count = 0
if pthread_atfork(NULL, NULL, _count_fork) != 0:
    raise MemoryError("pthread_atfork")


cdef str text_of(const char *text):
    return text.decode("utf-8", "replace") if text is not NULL else ""


cdef offchip_library *new_library() except NULL:
    return <offchip_library *>new_table(sizeof(offchip_library))


cdef void *new_table(size_t size) except NULL:
    cdef void *table = calloc(1, size)
    if table is NULL:
        raise MemoryError()
    return table


cdef void discard(offchip_library *lib, void *table, void *soft) noexcept:
    if lib is not NULL:
        offchip_library_close(lib)
    free(lib)
    free(table)
    free(soft)


cdef list missing_names(const offchip_library *lib):
    cdef size_t i
    return [text_of(offchip_library_missing(lib, i)) for i in range(lib.missing_count)]


cdef class LoadedLibrary:
    """A loaded C library. Each package has a subclass; `use_library()` returns its objects.

    Attributes
    ----------
    path : str
        The file that was loaded.
    kind : {"soft", "vendor", "path"}
        The package's soft twin, the vendor's library, or another one given by path.
    found_via : str
        How it was found.
    version, api_version : object
        What it reports about itself; see the subclass.
    missing : tuple of str
        Functions of the API that it does not have.
    refused : tuple
        The rejected candidates before it, with reasons.
    """

    def __init__(self):
        package = type(self).__module__.partition(".")[0]
        raise TypeError(f"a {type(self).__name__} comes from {package}.use_library()")

    def __reduce_ex__(self, protocol):
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled: it is loaded into this process only"
        )

    cdef int note(self, object choice, const offchip_library *lib) except -1:
        self.path = text_of(lib.path) or choice.path
        self.kind = choice.kind
        self.found_via = choice.found_via
        self.missing = tuple(missing_names(lib))
        self.refused = tuple(choice.refused)
        return 0

    def __repr__(self):
        package = type(self).__module__.partition(".")[0]
        name = type(self).__name__
        return f"<{package}.{name} {self.kind} {self.path} version {self.version}>"
