# SPDX-License-Identifier: BSD-3-Clause
"""The C handles of a process and its contexts, and the requests that they owe answers to.

A handle holds what it depends on, so a context always goes before its process. All fields are
changed with the GIL held only; `users` counts the calls that have let go of it meanwhile, and
nothing is freed under them.
"""

from cpython.object cimport PyObject
from libc.stdint cimport uint64_t
from veo._native cimport Library
from veo.libveo cimport veo_proc_handle, veo_table, veo_thr_ctxt, veosoft_table

# Longest stay in C without a look at signals.
cdef enum:
    SLICE_NS = 100_000_000

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


cdef class ProcHandle:
    cdef Library library
    cdef const veo_table *table
    cdef const veosoft_table *soft
    cdef veo_proc_handle *handle       # NULL when closed
    cdef veo_thr_ctxt *main            # NULL where the library does not say
    cdef PyObject *main_opened         # the CtxHandle of the main context, borrowed, or NULL
    cdef PyObject *first               # list of CtxHandles, borrowed
    cdef bint unfinished               # requests were given up
    cdef list grave                    # kept until the process is gone
    cdef unsigned int forks
    cdef int nodeid
    cdef int users
    cdef bint closing
    cdef bint leaving                  # waiters are to come back
    cdef bint opened                   # a context was opened, the main one being the first

    # Usable, or VeoClosedError. Between the two calls the handle stays valid without the GIL.
    cdef veo_proc_handle *enter(self) except NULL
    cdef void leave(self) noexcept
    cdef bint is_open(self) noexcept
    # Waits, with an eye on signals, until the main context's queue is empty. Inside enter/leave.
    cdef int settle_main(self) except -1
    cdef int refuse(self) except -1
    # Settles requests for at most `ns` nanoseconds (negative: no limit), then ends the process.
    # The result of veo_proc_destroy(); 0 when it is closed already.
    cdef int close(self, long long ns) except? -1
    # Ends the worker, where the library says which process it is: its kernels may never end.
    cdef void give_up(self) noexcept
    cdef list contexts(self)
    cdef int wait_for_users(self) except -1


cdef class CtxHandle:
    cdef ProcHandle proc
    cdef const veo_table *table
    cdef const veosoft_table *soft
    cdef veo_thr_ctxt *handle          # NULL when closed
    cdef PyObject *prev_ctx
    cdef PyObject *next_ctx
    cdef Pending *head                 # requests whose outcome is not known, oldest first
    cdef Pending *tail
    cdef Orphan *orphans               # a ring
    cdef size_t orphan_first
    cdef size_t orphan_count
    cdef size_t orphan_capacity
    cdef int users
    cdef bint closing

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
    # `p` is going away.
    cdef void abandon(self, Pending *p) noexcept
    # Frees what at most `limit` orphans kept, as far as they are done.
    cdef void reap(self, size_t limit) noexcept
    # Settles all requests; 0 when done, 1 at the limit.
    cdef int finish(self, long long ns) except -1
    # Waits for the oldest request or orphan: 1 when none is left, 2 after progress, else 0.
    cdef int settle_oldest(self, long long ns) noexcept
    # Waits until everything queued is executed.
    cdef int drain(self) except -1
    # Settles all requests, then ends the context.
    cdef int close(self, long long ns) except -1
    cdef void bury(self) noexcept
    cdef void _to_grave(self, PyObject *keep) noexcept
    cdef void _forget(self) noexcept


# Starts a process; VeoError if it cannot be.
cdef ProcHandle open_process(Library library, int nodeid, bytes veorun)
# Opens a context of a process.
cdef CtxHandle open_context(ProcHandle proc)


# What a Python object that has a process is, to those who are defined before VeoProc.
cdef class ProcessOwner:
    cdef ProcHandle handle
