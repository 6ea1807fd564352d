# SPDX-License-Identifier: BSD-3-Clause
"""Memory that is passed to kernels: stack arguments and argument lists."""

from offchip.buffer cimport Buffer
from veo._native cimport Library
from veo.libveo cimport veo_args, veo_args_intent


cdef class OnStack:
    cdef object __weakref__
    cdef Buffer buffer
    cdef Py_ssize_t nbytes
    cdef veo_args_intent intent

    # TypeError unless its elements are of the type that a kernel reads, by its letter.
    cdef int check_elements(self, char letter) except -1
    # Makes this argument `argnum` of a list.
    cdef int put(self, Library library, veo_args *args, int argnum) except -1


cdef class VeoArgs:
    cdef object __weakref__
    cdef Library library
    cdef veo_args *args
    cdef unsigned int forks
    cdef dict _stacks

    cdef int check(self, int argnum, int rc) except -1
    cdef int _check_number(self, int argnum) except -1
