# SPDX-License-Identifier: BSD-3-Clause
"""Functions of a library in a VE process."""

from cpython.object cimport PyObject
from libc.stdint cimport uint64_t
from veo._process_handle cimport ProcHandle
from veo.libveo cimport veo_args


cdef extern from "Python.h":
    ctypedef PyObject *(*vectorcallfunc)(PyObject *, PyObject **, size_t, PyObject *)


# The part of a VeoLibrary that its functions use.
cdef class LibraryOwner:
    cdef readonly object proc
    cdef bint unloaded


cdef class VeoFunction:
    cdef object __weakref__
    cdef vectorcallfunc entry
    cdef readonly LibraryOwner lib
    cdef readonly str name
    cdef readonly object _args_type
    cdef readonly object _ret_type
    cdef ProcHandle proc
    cdef uint64_t address
    # From debug info: a DebugInfo or None.
    cdef object info
    # Letters of the arguments' types and of the result's: as stated, else from debug info; NULL
    # if neither has them.
    cdef char *codes
    cdef Py_ssize_t count
    cdef char ret
    # For each argument the letter of what a pointer refers to, or 0.
    cdef bytes pointees
    # An argument list for the next call, NULL while a thread uses it.
    cdef veo_args *spare
    # Changes with the types, so that a list made for others is not put back.
    cdef unsigned int generation

    cdef int _read_debug_info(self) except -1
    cdef tuple _types(self)
    cdef veo_args *_take_args(self) except NULL
    cdef void _put_args(self, veo_args *args, unsigned int generation) noexcept
    cdef int _forget_args(self) except -1
    # The errors of a call with n arguments behind the context.
    cdef int check_call(self, object context, Py_ssize_t n) except -1
    cdef int _reject(self, object context, Py_ssize_t n) except -1
    # Queues a call: the context, and n arguments.
    cdef object _queue(self, PyObject **args, Py_ssize_t n)
    cdef int _convert(self, PyObject **args, Py_ssize_t first, Py_ssize_t n,
                      veo_args *list_) except -1
    cdef int _check_owner(self, object pointer) except -1
