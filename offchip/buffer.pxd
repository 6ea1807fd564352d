# SPDX-License-Identifier: BSD-3-Clause
"""A held buffer: memory of a Python object that C may use until it is released."""

from cpython.buffer cimport Py_buffer


cdef class Buffer:
    cdef Py_buffer _view
    cdef bint _held
    # NULL and 0 while nothing is held.
    cdef void *ptr
    cdef Py_ssize_t nbytes

    # Takes the memory of `obj`, releasing what was held before. TypeError, ValueError or
    # BufferError with a sentence for the user.
    cdef int acquire(self, object obj, bint writable) except -1
    # Lets go; harmless when nothing is held.
    cpdef int release(self) except -1


# True if an object shares its memory as an array, by DLPack or __array_interface__.
cdef inline bint has_array(object given):
    return hasattr(given, "__dlpack__") or hasattr(given, "__array_interface__")


# The NumPy array of such an object, which shares its memory; BufferError, beginning with WHAT it is
# called, if it is not in this machine's memory or has to be copied first.
cdef object shared_array(object given, bint writes, str what)


# A new Buffer that holds the memory of `obj`.
cdef Buffer get_buffer(object obj, bint writable)
