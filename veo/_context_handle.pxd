# SPDX-License-Identifier: BSD-3-Clause
"""The C handle of a context: opening, use and closing.

The locking rule is that of `_process_handle`.
"""

from veo._pending cimport PendingRequests
from veo._process_handle cimport ProcHandle
from veo.libveo cimport veo_thr_ctxt


cdef class CtxHandle(PendingRequests):
    cdef bint closing
    # No object of the user's can be reached from the context but what its process writes output to.
    cdef bint is_plain

    # Usable for submissions, or VeoClosedError.
    cdef veo_thr_ctxt *usable(self) except NULL
    cdef int refuse(self) except -1
    # Waits until everything queued is executed; VeoTimeoutError at the limit (negative: none).
    cdef int drain(self, long long ns) except -1
    cdef int fail_late(self, long long ns) except -1
    # Settles all requests, then ends the context.
    cdef int close(self, long long ns) except -1


# Opens a context of a process.
cdef CtxHandle open_context(ProcHandle proc, object timeout)
