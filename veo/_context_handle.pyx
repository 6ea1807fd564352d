# SPDX-License-Identifier: BSD-3-Clause
"""The C handle of a context, and the requests that it owes answers to."""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.signal cimport SIGINT
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, realloc
from veo cimport _native
from veo._native cimport death_report
from veo._process_handle cimport (
    GIVEN_UP_NS,
    ContextBase,
    ProcHandle,
    in_a_hurry,
    patience_ends,
)
from veo.libveo cimport (
    VEO_COMMAND_OK,
    VEO_COMMAND_UNFINISHED,
    veo_proc_handle,
    veo_thr_ctxt,
)
from veo.waiting cimport SLICE_NS, now_ns, pause_ns, wait_by_peeking

from veo.errors import VeoClosedError

__all__ = []


cdef extern from "Python.h":
    int PyErr_SetInterruptEx(int signum)


@cython.final
@cython.no_gc
cdef class CtxHandle(ContextBase):

    def __cinit__(self):
        self.handle = NULL
        self.head = self.tail = NULL
        self.orphans = NULL

    def __dealloc__(self):
        cdef veo_thr_ctxt *handle = self.handle
        cdef long long deadline
        if self.proc is None:
            return
        # Before the GIL is released nobody may be able to find this object any more.
        self._forget()
        # Every request holds this object: what is left are orphans.
        if handle is not NULL and self.proc.forks == _native.fork_count:
            self.proc.users += 1
            deadline = patience_ends(self.has_given_up())
            while self.orphan_count and not self.proc.leaving and not in_a_hurry():
                if now_ns() >= deadline:
                    break
                self.settle_oldest(SLICE_NS)
                try:
                    PyErr_CheckSignals()
                except BaseException:
                    # The process will see to it; the signal is for the main program.
                    PyErr_SetInterruptEx(SIGINT)
                    break
            self.handle = NULL
            if self.orphan_count:
                self.bury()
            elif not self.proc.leaving:
                with nogil:
                    self.table.veo_context_close(handle)
            self.proc.users -= 1
        else:
            self.bury()
        free(self.orphans)

    cdef void _forget(self) noexcept:
        """Take this context out of the list of its process."""
        if self.proc.main_opened is <PyObject *>self:
            self.proc.main_opened = NULL
        if self.prev_ctx is not NULL:
            (<ContextBase>self.prev_ctx).next_ctx = self.next_ctx
        elif self.proc.first is <PyObject *>self:
            self.proc.first = self.next_ctx
        if self.next_ctx is not NULL:
            (<ContextBase>self.next_ctx).prev_ctx = self.prev_ctx
        self.prev_ctx = self.next_ctx = NULL

    cdef int refuse(self) except -1:
        if self.proc.handle is NULL or self.proc.closing or not self.proc.is_open():
            self.proc.refuse()
        if self.handle is NULL:
            raise VeoClosedError("the VeoCtxt is closed")
        raise VeoClosedError("the VeoCtxt is being closed by another thread")

    cdef veo_thr_ctxt *usable(self) except NULL:
        if (self.handle is NULL or self.closing or self.proc.closing
                or self.proc.forks != _native.fork_count):
            self.refuse()
        return self.handle

    cdef void enter(self) noexcept:
        self.users += 1
        self.proc.users += 1

    cdef void leave(self) noexcept:
        self.users -= 1
        self.proc.users -= 1

    # --- requests ----------------------------------------------------------------------------

    cdef void link(self, Pending *p) noexcept:
        p.prev = self.tail
        p.next = NULL
        if self.tail is not NULL:
            self.tail.next = p
        else:
            self.head = p
        self.tail = p

    cdef void unlink(self, Pending *p) noexcept:
        if p.prev is not NULL:
            p.prev.next = p.next
        else:
            self.head = p.next
        if p.next is not NULL:
            p.next.prev = p.prev
        else:
            self.tail = p.prev
        p.prev = p.next = NULL

    cdef void settle(self, Pending *p, int rc, uint64_t value) noexcept:
        cdef PyObject *keep = p.keep
        p.rc = rc
        p.value = value
        p.settled = True
        p.keep = NULL
        self.unlink(p)
        if rc != VEO_COMMAND_OK and rc > RC_CLOSED:
            try:
                text = death_report(self.soft, self.proc.handle)
                if text:
                    Py_INCREF(text)
                    p.text = <PyObject *>text
            except MemoryError:
                pass
        # May run anything.
        Py_XDECREF(keep)

    cdef int ask(self, Pending *p) noexcept:
        cdef uint64_t value = 0
        cdef int rc
        if p.settled:
            return 1
        if p.asking:
            return 0
        if self.proc.forks != _native.fork_count:
            self.settle(p, RC_FORKED, 0)
            return 1
        # bury() has settled those of a context that is closed.
        rc = self.table.veo_call_peek_result(self.handle, p.id, &value)
        if rc == VEO_COMMAND_UNFINISHED:
            return 0
        self.settle(p, rc, value)
        return 1

    cdef int wait(self, Pending *p, long long ns) noexcept:
        cdef veo_thr_ctxt *handle
        cdef uint64_t id
        cdef uint64_t value = 0
        cdef int rc
        if self.ask(p):
            return 1
        if ns <= 0:
            return 0
        if p.asking or self.proc.leaving:
            # Another thread will settle it.
            with nogil:
                pause_ns(min(ns, 200_000))
            return p.settled
        handle = self.handle
        id = p.id
        p.asking = True
        self.enter()
        with nogil:
            if self.soft.veosoft_call_wait_timed is not NULL:
                rc = self.soft.veosoft_call_wait_timed(handle, id, &value, ns)
            else:
                rc = wait_by_peeking(self.table, handle, id, &value, ns)
        self.leave()
        p.asking = False
        if rc == VEO_COMMAND_UNFINISHED:
            return 0
        self.settle(p, rc, value)
        return 1

    cdef void note_given_up(self, Pending *p) noexcept:
        if not self.gave_up or p.id > self.given_up:
            self.gave_up = True
            self.given_up = p.id

    cdef bint has_given_up(self) noexcept:
        cdef Pending *p = self.head
        if not self.gave_up or self.handle is NULL or self.proc.forks != _native.fork_count:
            return False
        # In the order of ids; what is done leaves the lists.
        while p is not NULL and p.id <= self.given_up:
            if not self.ask(p):
                return True
            p = self.head
        self.reap(<size_t>-1)
        return (self.orphan_count != 0
                and self.orphans[self.orphan_first].id <= self.given_up)

    cdef void abandon(self, Pending *p) noexcept:
        cdef PyObject *keep = p.keep
        cdef Orphan *grown
        cdef size_t capacity, i
        p.keep = NULL
        if p.settled:
            return
        p.settled = True
        self.unlink(p)
        if self.handle is NULL or self.proc.forks != _native.fork_count:
            Py_XDECREF(keep)
            return
        if self.orphan_count == self.orphan_capacity:
            capacity = max(2 * self.orphan_capacity, <size_t>16)
            grown = <Orphan *>realloc(self.orphans, capacity * sizeof(Orphan))
            if grown is NULL:
                # The memory may still be written to: it is lost rather than freed.
                return
            # The part that was wrapped round goes behind the rest.
            for i in range(self.orphan_first):
                grown[self.orphan_capacity + i] = grown[i]
            self.orphans = grown
            self.orphan_capacity = capacity
        i = (self.orphan_first + self.orphan_count) % self.orphan_capacity
        self.orphans[i].id = p.id
        self.orphans[i].keep = keep
        self.orphan_count += 1

    cdef void reap(self, size_t limit) noexcept:
        cdef uint64_t value
        cdef PyObject *keep
        cdef Orphan *oldest
        while limit and self.orphan_count and self.handle is not NULL:
            oldest = &self.orphans[self.orphan_first]
            if self.table.veo_call_peek_result(self.handle, oldest.id,
                                               &value) == VEO_COMMAND_UNFINISHED:
                return
            keep = oldest.keep
            self.orphan_first = (self.orphan_first + 1) % self.orphan_capacity
            self.orphan_count -= 1
            limit -= 1
            Py_XDECREF(keep)

    cdef int settle_oldest(self, long long ns) noexcept:
        cdef Pending *p = self.head
        cdef veo_thr_ctxt *handle = self.handle
        cdef object _request
        cdef uint64_t id
        cdef uint64_t value = 0
        cdef size_t orphans = self.orphan_count
        if handle is NULL:
            return 1
        self.reap(<size_t>-1)
        if p is not NULL:
            # It must not go away while this thread is without the GIL.
            _request = <object>p.request
            if self.wait(p, ns):
                return 2
        elif self.orphan_count:
            id = self.orphans[self.orphan_first].id
            self.enter()
            with nogil:
                # This takes the result away, which reap() then takes for done, as it is.
                if self.soft.veosoft_call_wait_timed is not NULL:
                    self.soft.veosoft_call_wait_timed(handle, id, &value, ns)
                else:
                    pause_ns(min(ns, 200_000))
            self.leave()
            self.reap(<size_t>-1)
        if self.head is NULL and self.orphan_count == 0:
            return 1
        return 2 if self.orphan_count < orphans else 0

    cdef int finish(self, long long ns) except -1:
        cdef long long deadline = now_ns() + ns if ns >= 0 else 0
        cdef long long left = SLICE_NS if ns < 0 else min(ns, <long long>SLICE_NS)
        cdef int state
        if self.proc.forks != _native.fork_count:
            return 0
        while True:
            state = self.settle_oldest(left)
            if state == 1:
                return 0
            PyErr_CheckSignals()
            if self.proc.leaving:
                self.proc.refuse()
            if state == 2:
                continue
            if ns >= 0:
                left = min(deadline - now_ns(), <long long>SLICE_NS)
                if left <= 0:
                    return 1

    cdef int drain(self) except -1:
        cdef veo_thr_ctxt *handle = self.usable()
        cdef int rc = 1
        if self.soft.veosoft_context_drain is NULL:
            self.finish(-1)
            if self.table.veo_context_sync is not NULL:
                handle = self.usable()
                self.enter()
                with nogil:
                    self.table.veo_context_sync(handle)
                self.leave()
            return 0
        while rc == 1:
            self.enter()
            with nogil:
                rc = self.soft.veosoft_context_drain(handle, SLICE_NS)
            self.leave()
            PyErr_CheckSignals()
            if rc == 1 and (self.handle is NULL or self.proc.leaving):
                self.refuse()
        self.reap(<size_t>-1)
        return 0

    cdef int close(self, long long ns) except -1:
        cdef veo_thr_ctxt *handle
        cdef int rc, unfinished
        if self.proc.forks != _native.fork_count:
            return 0
        while self.closing:
            with nogil:
                pause_ns(1_000_000)
            PyErr_CheckSignals()
        if self.handle is NULL:
            return 0
        self.closing = True
        unfinished = 0
        try:
            if ns < 0 and self.has_given_up():
                ns = GIVEN_UP_NS
            unfinished = self.finish(ns)
            while self.users > 0:
                with nogil:
                    pause_ns(50_000)
                PyErr_CheckSignals()
        except BaseException:
            self.closing = False
            raise
        if self.handle is NULL:
            # The process was closed meanwhile, and the context with it.
            self.closing = False
            return 0
        handle = self.handle
        self.bury()
        if unfinished:
            # Its kernel cannot be ended, but the process can.
            self.closing = False
            return 0
        self.proc.users += 1
        with nogil:
            rc = self.table.veo_context_close(handle)
        self.proc.users -= 1
        self.closing = False
        if rc != 0:
            self.proc.library.fail("veo_context_close failed", "veo_context_close", NULL, rc)
        return 0

    cdef void bury(self) noexcept:
        cdef Orphan *oldest
        cdef PyObject *keep
        self.handle = NULL
        if self.head is not NULL or self.orphan_count:
            self.proc.unfinished = True
        while self.head is not NULL:
            keep = self.head.keep
            self.head.keep = NULL
            self._to_grave(keep)
            self.settle(self.head, RC_CLOSED, 0)
        while self.orphan_count:
            oldest = &self.orphans[self.orphan_first]
            self.orphan_first = (self.orphan_first + 1) % self.orphan_capacity
            self.orphan_count -= 1
            self._to_grave(oldest.keep)

    cdef void _to_grave(self, PyObject *keep) noexcept:
        if keep is NULL:
            return
        try:
            self.proc.grave.append(<object>keep)
        except MemoryError:
            # C may still write to it: it is lost rather than freed.
            return
        Py_XDECREF(keep)


cdef CtxHandle open_context(ProcHandle proc):
    cdef CtxHandle ctx = CtxHandle.__new__(CtxHandle)
    cdef veo_proc_handle *process = proc.enter()
    cdef veo_thr_ctxt *handle
    try:
        # The library waits for the main context's queue.
        proc.settle_main()
        with nogil:
            handle = proc.table.veo_context_open(process)
        if handle is NULL:
            proc.library.fail("veo_context_open failed", "veo_context_open", process)
    finally:
        proc.leave()
    ctx.proc = proc
    ctx.table = proc.table
    ctx.soft = proc.soft
    ctx.handle = handle
    ctx.next_ctx = proc.first
    if proc.first is not NULL:
        (<ContextBase>proc.first).prev_ctx = <PyObject *>ctx
    proc.first = <PyObject *>ctx
    # The first that is opened is the main one.
    if not proc.opened:
        proc.opened = True
        proc.main_opened = <PyObject *>ctx
    return ctx
