# SPDX-License-Identifier: BSD-3-Clause
"""Requests: the results of calls and asynchronous transfers."""

from cpython.object cimport PyObject
from libc.stdint cimport uint64_t
from offchip.request cimport Request
from veo._context_handle cimport CtxHandle
from veo.request_set cimport veopkg_request


cdef class VeoRequest(Request):
    cdef veopkg_request node
    cdef CtxHandle handle
    cdef readonly object ctx
    # Name of the function, for messages.
    cdef str what
    # Letter of the result's type.
    cdef char ret

    cdef object _value(self, str operation)
    # It was submitted; `keep` (or None) lives until it is done. Runs no Python code.
    cdef void start(self, uint64_t id, object keep) noexcept


cdef class VeoMemRequest(VeoRequest):
    pass


# A request that is about to be submitted to `handle`.
cdef VeoRequest new_request(type kind, CtxHandle handle, object ctx, char ret, str what)
