# SPDX-License-Identifier: BSD-3-Clause
"""The requests of a context whose outcome is not known, and waiting for them."""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.stdint cimport uint64_t
from offchip cimport native
from veo._main_wait cimport oldest_of
from veo._native cimport death_report
from veo._process_handle cimport ContextBase, ProcHandle
from veo.libveo cimport VEO_COMMAND_UNFINISHED, VEO_REQUEST_ID_INVALID, veo_thr_ctxt
from veo.request_set cimport (
    VEOPKG_CANCELLED,
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
from veo.waiting cimport wait_by_peeking
from offchip.waiting cimport SLICE_NS, first_slice, now_ns, pause_ns

__all__ = []


# Functions that the request set calls; `context` is the PendingRequests, borrowed.


cdef void _failed(void *context, veopkg_request *request) noexcept:
    cdef PendingRequests handle = <PendingRequests>context
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
        (<PendingRequests>context).proc.grave.append(<object>keep)
    except MemoryError:
        # The library may still write to it: it is leaked rather than freed.
        return
    Py_XDECREF(<PyObject *>keep)


@cython.no_gc
cdef class PendingRequests(ContextBase):

    def __cinit__(self):
        self.handle = NULL

    def __dealloc__(self):
        veopkg_requests_free(&self.requests)

    cdef void attach(self, ProcHandle proc, veo_thr_ctxt *handle) noexcept:
        cdef veopkg_request_ops ops
        self.proc = proc
        self.table = proc.table
        self.soft = proc.soft
        self.handle = handle

        ops.peek = proc.table.veo_call_peek_result
        ops.failed = _failed
        ops.release = _release
        ops.entomb = _entomb
        veopkg_requests_init(&self.requests, ops, <void *>self)

    cdef void enter(self) noexcept:
        self.users += 1
        self.proc.users += 1

    cdef void leave(self) noexcept:
        self.users -= 1
        self.proc.users -= 1

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
        if request.settled:
            # It was cancelled meanwhile.
            return 1
        if rc == VEO_COMMAND_UNFINISHED:
            return 0
        veopkg_request_settle(&self.requests, request, rc, value)
        return 1

    cdef void cancel(self, veopkg_request *request) noexcept:
        if self.ask(request) or self.soft.veosoft_call_cancel is NULL:
            return
        if self.soft.veosoft_call_cancel(self.handle, request.id) == 1:
            veopkg_request_settle(&self.requests, request, VEOPKG_CANCELLED, 0)

    cdef void note_given_up(self, const veopkg_request *request) noexcept:
        veopkg_request_note_given_up(&self.requests, request)

    cdef bint has_given_up(self) noexcept:
        if self.handle is NULL or self.proc.forks != native.fork_count:
            return False
        return veopkg_requests_have_given_up(&self.requests, self.handle)

    cdef bint free_later(self, uint64_t address) noexcept:
        cdef veopkg_request request
        cdef uint64_t id
        if self.handle is NULL or self.table.veo_free_mem_async is NULL:
            return False
        id = self.table.veo_free_mem_async(self.handle, address)
        if id == VEO_REQUEST_ID_INVALID:
            return False
        # Nobody asks for its result.
        veopkg_request_add(&self.requests, &request, NULL, id, NULL)
        veopkg_request_drop(&self.requests, &request, True)
        return True

    cdef str oldest(self):
        cdef veopkg_request *oldest = veopkg_requests_oldest(&self.requests)
        text = oldest_of(self.soft, self.handle)
        if text or oldest is NULL:
            return text or "a request"
        return f"request {oldest.id}"

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
        cdef long long left = first_slice(ns)
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

    cdef void bury(self) noexcept:
        self.handle = NULL
        if not veopkg_requests_are_done(&self.requests):
            self.proc.unfinished = True
        veopkg_requests_close(&self.requests)
