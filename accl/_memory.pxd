# SPDX-License-Identifier: BSD-3-Clause
"""A block of device memory."""

from libc.stdint cimport uint64_t
from accl._native cimport Library
from accl.libaccl cimport accl_buffer


cdef class Block:
    cdef Library library
    cdef accl_buffer *c
    cdef char *host
    cdef readonly uint64_t address
    cdef readonly Py_ssize_t nbytes
    # Identifies its device, which the block does not keep open.
    cdef object owner
    # Calls reject it; the memory is released with the last array that uses it.
    cdef readonly bint freed
    # Host view and device memory are the same pages.
    cdef readonly bint shared

    # Copies a range between host and device pages, if they are not the same.
    cdef int sync(self, Py_ssize_t offset, Py_ssize_t nbytes, bint to_device) except -1
