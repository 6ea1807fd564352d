# SPDX-License-Identifier: BSD-3-Clause
"""An allocated set of the C library, and views of it: the whole, a rank, a DPU."""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from cpython.object cimport PyObject
from offchip cimport native
from offchip.request cimport timeout_ns
from offchip.waiting cimport SLICE_NS, now_ns, pause_ns
from dpu._native cimport Library, fail_set
from dpu.libdpu cimport (
    DPU_OK,
    bool as c_bool,
    dpu_error_t,
    dpu_set_t,
    dpu_table,
    dpusoft_table,
)

import atexit
import weakref
from _thread import start_new_thread
from threading import get_ident

from dpu.errors import DpuTimeoutError

__all__ = ["SetView"]

ctypedef dpu_error_t (*_wait_t)(dpu_set_t, int64_t, c_bool *) noexcept nogil

# Between two looks at a vendor's library, which cannot wait for a limited time.
cdef enum:
    POLL_NS = 200_000

# A sequence number that no mark reaches: the operation is not submitted yet.
cdef unsigned long _NEVER = <unsigned long>-1

cdef extern from "dpu/lib/core/silence.h":
    const long long DPU_SILENCE_NS

cdef extern from "Python.h":
    void PyObject_GC_UnTrack(PyObject *)

# Threads that are in a callback of whatever set: how deeply.
cdef dict _callbacks = {}

_live = weakref.WeakSet()


def _end_all():
    cdef SetHandle handle
    for handle in list(_live):
        handle.end()


atexit.register(_end_all)


def register(handle):
    """Have a handle ended at the exit of the interpreter."""
    _live.add(handle)


cdef int begin_callback() except -1:
    thread = get_ident()
    _callbacks[thread] = _callbacks.get(thread, 0) + 1
    return 0


cdef int end_callback() except -1:
    thread = get_ident()
    _callbacks[thread] -= 1
    if _callbacks[thread] == 0:
        del _callbacks[thread]
    return 0


@cython.final
cdef class _Orphan:
    """A C set whose last user went in a callback, which cannot free it."""

    cdef Library library
    cdef const dpu_table *table
    cdef const dpusoft_table *soft
    cdef dpu_set_t whole

    def free(self):
        free_set(self.table, self.soft, self.whole)


cdef void free_set(const dpu_table *table, const dpusoft_table *soft, dpu_set_t whole) noexcept:
    with nogil:
        if soft.dpusoft_interrupt is not NULL:
            soft.dpusoft_interrupt(whole)
        table.dpu_sync(whole)
        table.dpu_free(whole)


@cython.final
@cython.no_gc_clear
cdef class SetHandle:

    def __cinit__(self):
        self.rank_sets = NULL
        self.dpu_sets = NULL
        self.first_dpu = NULL
        self.forks = native.fork_count
        self.programs = []
        self.keep_only([])
        self.raised = []
        self.callback_threads = {}

    def __dealloc__(self):
        self.end()
        free(self.rank_sets)
        free(self.dpu_sets)
        free(self.first_dpu)

    cdef int enter(self, str function) except -1:
        if self.forks != native.fork_count:
            fail_set(function, "this process was forked: the set belongs to the parent; "
                               "allocate one here")
        if not self.live:
            fail_set(function, "the set was freed")
        if self.closing and not self.in_callback():
            fail_set(function, "the set is being freed by another thread")
        self.users += 1
        return 0

    cdef bint in_callback(self) except -1:
        return bool(self.callback_threads) and get_ident() in self.callback_threads

    cdef void end(self) noexcept:
        cdef dpu_set_t whole = self.whole
        if not self.live or self.forks != native.fork_count or self.users > 0:
            if self.live and self.forks == native.fork_count:
                # Another thread is in the library for it: what it waits for ends soon.
                if self.soft.dpusoft_interrupt is not NULL:
                    with nogil:
                        self.soft.dpusoft_interrupt(whole)
            return
        self.live = False
        if _callbacks and get_ident() in _callbacks:
            self.orphan()
        else:
            free_set(self.table, self.soft, whole)

    cdef int orphan(self) except -1:
        cdef _Orphan orphan = _Orphan.__new__(_Orphan)
        orphan.library = self.library
        orphan.table, orphan.soft, orphan.whole = self.table, self.soft, self.whole
        start_new_thread(orphan.free, ())
        return 0

    cdef int keep_only(self, list entries) except -1:
        PyObject_GC_UnTrack(<PyObject *>entries)
        self.kept = entries
        return 0

    cdef int forget(self, object what) except -1:
        cdef list entry
        self.keep_only([entry for entry in self.kept if entry[2] is not what])
        return 0


cdef class SetView:

    cdef int enter(self, str function) except -1:
        if self.handle is None:
            fail_set(function, "the set was never allocated")
        return self.handle.enter(function)

    cdef void leave(self) noexcept:
        self.handle.users -= 1

    cdef object mask(self):
        return ((1 << (self.rank1 - self.rank0)) - 1) << self.rank0

    cdef int check(self, dpu_error_t code, str function) except -1:
        if code != DPU_OK:
            self.handle.library.fail(code, function)
        return 0

    cdef int wait_idle(self, str function, object timeout=None) except -1:
        cdef c_bool done = False
        cdef dpu_set_t c = self.c
        cdef dpu_error_t rc
        cdef SetHandle handle = self.handle
        if timeout is None:
            timeout = handle.wait_limit
        if timeout is not None:
            timeout_ns(timeout)
            handle.library.need(<const void *>handle.soft.dpusoft_wait, "limits of waits")
        if handle.soft.dpusoft_wait is NULL or handle.in_callback():
            return 0
        with nogil:
            rc = handle.soft.dpusoft_wait(c, 0, &done)
        # Errors of the set are raised by the operation that follows.
        if rc == DPU_OK and not done:
            _wait_long(self, function, "", timeout, handle.soft.dpusoft_wait)
        return 0

    cdef object wait_room(self, str function, object timeout=None):
        cdef c_bool room = False
        cdef long long began
        cdef dpu_set_t c = self.c
        cdef dpu_error_t rc
        cdef SetHandle handle = self.handle
        if handle.soft.dpusoft_wait_for_room is NULL or handle.in_callback():
            return timeout
        with nogil:
            rc = handle.soft.dpusoft_wait_for_room(c, 0, &room)
        if rc != DPU_OK or room:
            return timeout
        began = now_ns()
        _wait_long(
            self, function, " for room in a queue (nrJobsPerRank)",
            timeout if timeout is not None else handle.wait_limit,
            handle.soft.dpusoft_wait_for_room,
        )
        return None if timeout is None else max(timeout - (now_ns() - began) * 1e-9, 0.0)

    cdef str waits_for(self):
        cdef char text[512]
        cdef dpu_set_t c = self.c
        if self.handle.soft.dpusoft_waits_for is NULL:
            return ""
        if self.handle.soft.dpusoft_waits_for(c, text, sizeof(text)) != DPU_OK:
            return ""
        return (<bytes>text).decode("utf-8", "replace")

    cdef int wait_for(self, long long ns) except -1:
        cdef c_bool done = False
        cdef c_bool fault = False
        cdef dpu_set_t c = self.c
        cdef dpu_error_t rc
        cdef long long slept = 0
        if self.handle.soft.dpusoft_wait is not NULL:
            with nogil:
                rc = self.handle.soft.dpusoft_wait(c, ns, &done)
            return rc != DPU_OK or done
        with nogil:
            while True:
                rc = self.handle.table.dpu_status(c, &done, &fault)
                if rc != DPU_OK or done or fault or slept >= ns:
                    break
                pause_ns(POLL_NS)
                slept += POLL_NS
        return rc != DPU_OK or done or fault

    cdef list keep(self, object what):
        cdef list entry = [self.mask(), _NEVER, what]
        self.handle.kept.append(entry)
        return entry

    cdef void submitted(self, list entry) noexcept:
        self.handle.sequence += 1
        entry[1] = self.handle.sequence

    cdef int settle(self, unsigned long mark) except -1:
        cdef SetHandle handle = self.handle
        cdef list entry
        cdef list left = []
        cdef list ended = []
        # Operations of a callback are ahead of the queue, whose operations are not over then.
        if not handle.kept or handle.in_callback():
            return 0
        mask = ~self.mask()
        for entry in handle.kept:
            if entry[1] <= mark:
                entry[0] &= mask
            if entry[0]:
                left.append(entry)
            else:
                ended.append(entry)
        # Its destructors run when the list is already as it should be.
        handle.keep_only(left)
        del ended
        return 0

    cdef list take_raised(self):
        cdef list pair
        cdef list left = []
        cdef list taken = []
        if not self.handle.raised:
            return taken
        mask = self.mask()
        for pair in self.handle.raised:
            (taken if pair[0] & mask else left).append(pair)
        self.handle.raised = left
        return [pair[1] for pair in taken]


cdef int _wait_long(SetView view, str function, str goal, object timeout, _wait_t wait) except -1:
    """Wait by `wait`, with looks at signals, a limit, and a word if it takes long."""
    cdef c_bool done = False
    cdef dpu_set_t c = view.c
    cdef dpu_error_t rc = DPU_OK
    cdef SetHandle handle = view.handle
    cdef int64_t part
    cdef long long limit = timeout_ns(timeout)
    cdef long long began = now_ns()
    cdef long long passed = 0
    while True:
        part = SLICE_NS if limit < 0 else max(min(limit - passed, <long long>SLICE_NS), 0)
        with nogil:
            rc = wait(c, part, &done)
        PyErr_CheckSignals()
        if rc != DPU_OK or done:
            return 0
        passed = now_ns() - began
        if limit >= 0 and passed >= limit:
            raise DpuTimeoutError(
                f"{function} waited {limit * 1e-9:g} s{goal} in vain: "
                f"{view.waits_for() or 'busy DPUs'}"
                f"{'' if function == 'dpu_launch' else '. interrupt() ends launches'}",
                function=function,
            )
        if passed > DPU_SILENCE_NS and not handle.told:
            handle.told = True
            import logging

            logging.getLogger("dpu").warning(
                "%s has waited %d s%s: %s. wait_limit sets a limit for waits, and interrupt() ends "
                "launches (this is told once)", function, passed // 1_000_000_000, goal,
                view.waits_for(),
            )
