# SPDX-License-Identifier: BSD-3-Clause
"""The requests of a context whose outcome is not known, and waiting for them.

The locking rule is that of `_process_handle`.
"""

from libc.stdint cimport uint64_t
from veo._process_handle cimport ContextBase, ProcHandle
from veo.libveo cimport veo_table, veo_thr_ctxt, veosoft_table
from veo.request_set cimport veopkg_request, veopkg_requests


cdef class PendingRequests(ContextBase):
    cdef ProcHandle proc
    cdef const veo_table *table
    cdef const veosoft_table *soft
    cdef veo_thr_ctxt *handle          # NULL when closed
    cdef veopkg_requests requests
    cdef int users

    # Called once, before all others.
    cdef void attach(self, ProcHandle proc, veo_thr_ctxt *handle) noexcept
    # Around a call without the GIL.
    cdef void enter(self) noexcept
    cdef void leave(self) noexcept
    # A request of `owner` was submitted; `keep` (or None) lives until the library is done with it.
    cdef void add(self, veopkg_request *request, object owner, uint64_t id,
                  object keep) noexcept
    # 1 when it is settled, without waiting.
    cdef int ask(self, veopkg_request *request) noexcept
    # The same, waiting at most that long.
    cdef int wait(self, veopkg_request *request, long long ns) noexcept
    # Takes it back if the library can.
    cdef void cancel(self, veopkg_request *request) noexcept
    # A wait for it timed out.
    cdef void note_given_up(self, const veopkg_request *request) noexcept
    # Its owner is being destroyed.
    cdef void drop(self, veopkg_request *request) noexcept
    # Frees what the finished ones of at most `limit` orphans kept.
    cdef void reap(self, size_t limit) noexcept
    # Waits for the oldest request or orphan: 1 if none is left, 2 after progress, otherwise 0.
    cdef int settle_oldest(self, long long ns) noexcept
