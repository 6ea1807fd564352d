# SPDX-License-Identifier: BSD-3-Clause
"""Libraries that are loaded into a VE process."""

from libc.stdint cimport uint64_t
from veo._function cimport LibraryOwner


cdef class VeoLibrary(LibraryOwner):
    cdef object __weakref__
    cdef readonly str name
    cdef readonly object func
    cdef readonly object symbol
    cdef uint64_t library_handle

    cdef uint64_t _lookup(self, object name, object timeout) except 0
