# SPDX-License-Identifier: BSD-3-Clause
"""Contexts: queues of a VE process."""

from offchip.buffer cimport Buffer
from veo._context_handle cimport CtxHandle
from veo._request cimport VeoRequest


# The memory of an object that receives bytes; with a DeprecationWarning if it is read-only.
cdef Buffer destination(object memory)


cdef class VeoCtxt:
    cdef object __weakref__
    cdef CtxHandle handle
    cdef readonly object proc

    cdef CtxHandle get(self)
    cdef VeoRequest _transfer(self, object memory, object where, object size, bint reading)
