# SPDX-License-Identifier: BSD-3-Clause
"""The C handle of a context: opening, use and closing."""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.signal cimport SIGINT
from offchip cimport native
from veo._main_wait cimport GIVEN_UP_NS
from veo._pending cimport PendingRequests
from veo._process_handle cimport ProcHandle, in_a_hurry, patience_ends
from veo.context_set cimport veopkg_context_add, veopkg_context_remove
from veo.libveo cimport veo_proc_handle, veo_thr_ctxt
from offchip.waiting cimport SLICE_NS, first_slice, now_ns, pause_ns

from veo.errors import VeoClosedError, VeoTimeoutError

__all__ = []


cdef extern from "Python.h":
    int PyErr_SetInterruptEx(int signum)


@cython.final
@cython.no_gc
cdef class CtxHandle(PendingRequests):

    def __dealloc__(self):
        cdef veo_thr_ctxt *handle = self.handle
        cdef long long deadline
        if self.proc is None:
            return
        # Before the GIL is released, this object must not be reachable any more.
        veopkg_context_remove(&self.proc.open_contexts, &self.context)
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

    cdef int drain(self, long long ns) except -1:
        cdef veo_thr_ctxt *handle = self.usable()
        cdef long long deadline = now_ns() + ns if ns >= 0 else 0
        cdef long long left = first_slice(ns)
        cdef int rc = 1
        if self.soft.veosoft_context_drain is NULL:
            if self.finish(ns):
                self.fail_late(ns)
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
                rc = self.soft.veosoft_context_drain(handle, left)
            self.leave()
            PyErr_CheckSignals()
            if rc == 1 and (self.handle is NULL or self.proc.leaving):
                self.refuse()
            if rc == 1 and ns >= 0:
                left = min(deadline - now_ns(), <long long>SLICE_NS)
                if left <= 0:
                    self.fail_late(ns)
        self.reap(<size_t>-1)
        return 0

    cdef int fail_late(self, long long ns) except -1:
        raise VeoTimeoutError(
            f"the context was not done within {ns * 1e-9:g} s: it still has {self.oldest()}",
            function="veo_context_sync",
        )

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


cdef CtxHandle open_context(ProcHandle proc, object timeout):
    cdef CtxHandle ctx = CtxHandle.__new__(CtxHandle)
    cdef veo_proc_handle *process = proc.enter()
    cdef veo_thr_ctxt *handle
    try:
        proc.begin(timeout, "veo_context_open")
        with nogil:
            handle = proc.table.veo_context_open(process)
        if handle is NULL:
            proc.library.fail("veo_context_open failed", "veo_context_open", process)
    finally:
        proc.leave()
    ctx.attach(proc, handle)
    veopkg_context_add(&proc.open_contexts, &ctx.context, <void *>ctx)
    return ctx
