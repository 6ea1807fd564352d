# SPDX-License-Identifier: BSD-3-Clause
"""The C handle of a context, and waiting for its requests."""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.signal cimport SIGINT
from libc.stdint cimport uint64_t
from offchip cimport native
from veo._native cimport death_report
from veo._process_handle cimport (
    GIVEN_UP_NS,
    ContextBase,
    ProcHandle,
    in_a_hurry,
    patience_ends,
)
from veo.libveo cimport VEO_COMMAND_UNFINISHED, veo_proc_handle, veo_thr_ctxt
from veo.request_set cimport (
    VEOPKG_FORKED,
    veopkg_request,
    veopkg_request_add,
    veopkg_request_drop,
    veopkg_request_note_given_up,
    veopkg_request_ops,
    veopkg_request_poll,
    veopkg_request_settle,
    veopkg_requests_are_done,
    veopkg_requests_close,
    veopkg_requests_free,
    veopkg_requests_have_given_up,
    veopkg_requests_init,
    veopkg_requests_oldest,
    veopkg_requests_oldest_orphan,
    veopkg_requests_reap,
)
from veo.waiting cimport SLICE_NS, now_ns, pause_ns, wait_by_peeking

from veo.errors import VeoClosedError

__all__ = []


cdef extern from "Python.h":
    int PyErr_SetInterruptEx(int signum)


# What the request set calls; `context` is the CtxHandle, borrowed.


cdef void _failed(void *context, veopkg_request *request) noexcept:
    cdef CtxHandle handle = <CtxHandle>context
    try:
        text = death_report(handle.soft, handle.proc.handle)
        if text:
            Py_INCREF(text)
            request.text = <void *>text
    except MemoryError:
        pass


cdef void _release(void *keep) noexcept:
    Py_XDECREF(<PyObject *>keep)


cdef void _entomb(void *context, void *keep) noexcept:
    try:
        (<CtxHandle>context).proc.grave.append(<object>keep)
    except MemoryError:
        # The library may still write to it: it is leaked rather than freed.
        return
    Py_XDECREF(<PyObject *>keep)


@cython.final
@cython.no_gc
cdef class CtxHandle(ContextBase):

    def __cinit__(self):
        self.handle = NULL

    def __dealloc__(self):
        cdef veo_thr_ctxt *handle = self.handle
        cdef long long deadline
        if self.proc is None:
            return
        # Before the GIL is released, this object must not be reachable any more.
        self._forget()
        # Every pending request holds this object: only orphans are left.
        if handle is not NULL and self.proc.forks == native.fork_count:
            self.proc.users += 1
            deadline = patience_ends(self.has_given_up())
            while self.requests.norphans and not self.proc.leaving and not in_a_hurry():
                if now_ns() >= deadline:
                    break
                self.settle_oldest(SLICE_NS)
                try:
                    PyErr_CheckSignals()
                except BaseException:
                    # The process handles the rest; the signal is for the main program.
                    PyErr_SetInterruptEx(SIGINT)
                    break
            self.handle = NULL
            if self.requests.norphans:
                self.bury()
            elif not self.proc.leaving:
                with nogil:
                    self.table.veo_context_close(handle)
            self.proc.users -= 1
        else:
            self.bury()
        veopkg_requests_free(&self.requests)

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
                or self.proc.forks != native.fork_count):
            self.refuse()
        return self.handle

    cdef void enter(self) noexcept:
        self.users += 1
        self.proc.users += 1

    cdef void leave(self) noexcept:
        self.users -= 1
        self.proc.users -= 1

    # --- requests ----------------------------------------------------------------------------

    cdef void add(self, veopkg_request *request, object owner, uint64_t id,
                  object keep) noexcept:
        if keep is not None:
            Py_INCREF(keep)
        veopkg_request_add(&self.requests, request, <void *>owner, id,
                           NULL if keep is None else <void *>keep)

    cdef int ask(self, veopkg_request *request) noexcept:
        if not request.settled and self.proc.forks != native.fork_count:
            veopkg_request_settle(&self.requests, request, VEOPKG_FORKED, 0)
        # bury() has settled those of a context that is closed.
        return veopkg_request_poll(&self.requests, self.handle, request)

    cdef int wait(self, veopkg_request *request, long long ns) noexcept:
        cdef veo_thr_ctxt *handle
        cdef uint64_t id
        cdef uint64_t value = 0
        cdef int rc
        if self.ask(request):
            return 1
        if ns <= 0:
            return 0
        if request.waiting or self.proc.leaving:
            # Another thread will settle it.
            with nogil:
                pause_ns(min(ns, 200_000))
            return request.settled
        handle = self.handle
        id = request.id
        request.waiting = True
        self.enter()
        with nogil:
            if self.soft.veosoft_call_wait_timed is not NULL:
                rc = self.soft.veosoft_call_wait_timed(handle, id, &value, ns)
            else:
                rc = wait_by_peeking(self.table, handle, id, &value, ns)
        self.leave()
        request.waiting = False
        if rc == VEO_COMMAND_UNFINISHED:
            return 0
        veopkg_request_settle(&self.requests, request, rc, value)
        return 1

    cdef void note_given_up(self, const veopkg_request *request) noexcept:
        veopkg_request_note_given_up(&self.requests, request)

    cdef bint has_given_up(self) noexcept:
        if self.handle is NULL or self.proc.forks != native.fork_count:
            return False
        return veopkg_requests_have_given_up(&self.requests, self.handle)

    cdef void drop(self, veopkg_request *request) noexcept:
        veopkg_request_drop(
            &self.requests, request,
            self.handle is not NULL and self.proc.forks == native.fork_count,
        )

    cdef void reap(self, size_t limit) noexcept:
        if self.handle is not NULL:
            veopkg_requests_reap(&self.requests, self.handle, limit)

    cdef int settle_oldest(self, long long ns) noexcept:
        cdef veopkg_request *oldest = veopkg_requests_oldest(&self.requests)
        cdef veo_thr_ctxt *handle = self.handle
        cdef object _owner
        cdef uint64_t id
        cdef uint64_t value = 0
        cdef size_t orphans = self.requests.norphans
        if handle is NULL:
            return 1
        self.reap(<size_t>-1)
        if oldest is not NULL:
            # It must stay alive while this thread does not hold the GIL.
            _owner = <object>oldest.owner
            if self.wait(oldest, ns):
                return 2
        elif self.requests.norphans:
            id = veopkg_requests_oldest_orphan(&self.requests)
            self.enter()
            with nogil:
                # This consumes the result: the library then reports the request as unknown, which
                # reap() treats as done.
                if self.soft.veosoft_call_wait_timed is not NULL:
                    self.soft.veosoft_call_wait_timed(handle, id, &value, ns)
                else:
                    pause_ns(min(ns, 200_000))
            self.leave()
            self.reap(<size_t>-1)
        if veopkg_requests_are_done(&self.requests):
            return 1
        return 2 if self.requests.norphans < orphans else 0

    cdef int finish(self, long long ns) except -1:
        cdef long long deadline = now_ns() + ns if ns >= 0 else 0
        cdef long long left = SLICE_NS if ns < 0 else min(ns, <long long>SLICE_NS)
        cdef int state
        if self.proc.forks != native.fork_count:
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
        if self.proc.forks != native.fork_count:
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
        self.handle = NULL
        if not veopkg_requests_are_done(&self.requests):
            self.proc.unfinished = True
        veopkg_requests_close(&self.requests)


cdef CtxHandle open_context(ProcHandle proc):
    cdef CtxHandle ctx = CtxHandle.__new__(CtxHandle)
    cdef veo_proc_handle *process = proc.enter()
    cdef veo_thr_ctxt *handle
    cdef veopkg_request_ops ops
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
    ops.peek = proc.table.veo_call_peek_result
    ops.failed = _failed
    ops.release = _release
    ops.entomb = _entomb
    veopkg_requests_init(&ctx.requests, ops, <void *>ctx)
    ctx.next_ctx = proc.first
    if proc.first is not NULL:
        (<ContextBase>proc.first).prev_ctx = <PyObject *>ctx
    proc.first = <PyObject *>ctx
    # The first that is opened is the main one.
    if not proc.opened:
        proc.opened = True
        proc.main_opened = <PyObject *>ctx
    return ctx
