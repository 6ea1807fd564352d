# SPDX-License-Identifier: BSD-3-Clause
"""The C handle of a context, and the requests that it owes answers to.

The locking rule is that of `_process_handle`.
"""

from cpython.object cimport PyObject
from libc.stdint cimport uint64_t
from veo._process_handle cimport ContextBase, ProcHandle
from veo.libveo cimport veo_table, veo_thr_ctxt, veosoft_table

# What `Pending.rc` may be besides the states that libveo gives.
cdef enum:
    RC_CLOSED = -1000
    RC_FORKED = -1001


# A request: embedded in a VeoRequest, and in its context's list until it is settled.
cdef struct Pending:
    Pending *prev
    Pending *next
    PyObject *request   # the VeoRequest, borrowed
    PyObject *keep      # what must live until it is settled, or NULL
    PyObject *text      # the library's words about a failure, or NULL
    uint64_t id
    uint64_t value
    int rc
    bint settled
    bint asking         # a thread is in C with this id


# The id of a dropped request, and what must live until it is done.
cdef struct Orphan:
    uint64_t id
    PyObject *keep


cdef class CtxHandle(ContextBase):
    cdef ProcHandle proc
    cdef const veo_table *table
    cdef const veosoft_table *soft
    cdef veo_thr_ctxt *handle          # NULL when closed
    cdef Pending *head                 # requests whose outcome is not known, oldest first
    cdef Pending *tail
    cdef Orphan *orphans               # a ring
    cdef size_t orphan_first
    cdef size_t orphan_count
    cdef size_t orphan_capacity
    cdef int users
    cdef bint closing
    cdef bint gave_up                  # a wait with a limit reached it; the newest such request:
    cdef uint64_t given_up

    # Usable for submissions, or VeoClosedError.
    cdef veo_thr_ctxt *usable(self) except NULL
    cdef int refuse(self) except -1
    # Around a call without the GIL.
    cdef void enter(self) noexcept
    cdef void leave(self) noexcept
    cdef void link(self, Pending *p) noexcept
    cdef void unlink(self, Pending *p) noexcept
    # 1 when `p` is settled, without waiting.
    cdef int ask(self, Pending *p) noexcept
    # The same, waiting at most that long.
    cdef int wait(self, Pending *p, long long ns) noexcept
    cdef void settle(self, Pending *p, int rc, uint64_t value) noexcept
    # A wait for `p` reached its limit.
    cdef void note_given_up(self, Pending *p) noexcept
    # `p` is going away.
    cdef void abandon(self, Pending *p) noexcept
    # Frees what at most `limit` orphans kept, as far as they are done.
    cdef void reap(self, size_t limit) noexcept
    # Waits for the oldest request or orphan: 1 when none is left, 2 after progress, else 0.
    cdef int settle_oldest(self, long long ns) noexcept
    # Waits until everything queued is executed.
    cdef int drain(self) except -1
    # Settles all requests, then ends the context.
    cdef int close(self, long long ns) except -1
    cdef void _to_grave(self, PyObject *keep) noexcept
    cdef void _forget(self) noexcept


# Opens a context of a process.
cdef CtxHandle open_context(ProcHandle proc)
