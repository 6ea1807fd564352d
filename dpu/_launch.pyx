# SPDX-License-Identifier: BSD-3-Clause
"""Launches: starting them, waiting for them, requests, and reports."""

from libc.stdint cimport uint32_t
from libc.string cimport memset
from dpu._callback cimport raise_collected
from dpu._chip cimport DPU_MACHINE_THREADS, DPU_MACHINE_THREADS_ROOM
from dpu._handle cimport SetHandle, SetView
from dpu.libdpu cimport (
    DPU_ASYNCHRONOUS,
    DPU_OK,
    DPU_SYNCHRONOUS,
    bool as c_bool,
    dpu_error_t,
    dpu_set_t,
    dpusoft_report,
)
from offchip.request cimport Request, limit_text

import warnings
from threading import RLock

from dpu.errors import DpuError, DpuTimeoutError, DpuWarning
from dpu.reports import make_report

__all__ = ["DpuRequest"]

# Launches that were interrupted end sooner; a callback before them may not.
cdef long long _STOP_NS = 2_000_000_000


cdef int launch(SetView view, bint asynchronous, object timeout=None) except -1:
    cdef dpu_set_t c = view.c
    cdef SetHandle handle
    cdef dpu_error_t rc
    cdef unsigned long mark
    cdef bint queued
    view.enter("dpu_launch")
    handle = view.handle
    try:
        # Queued launches are waited for with checks for signals; a callback does not wait.
        queued = asynchronous or (
            handle.soft.dpusoft_wait is not NULL and not handle.in_callback()
        )
        if queued:
            timeout = view.wait_room("dpu_launch", timeout)
        mark = handle.sequence
        with nogil:
            rc = handle.table.dpu_launch(c, DPU_ASYNCHRONOUS if queued else DPU_SYNCHRONOUS)
        view.check(rc, "dpu_launch")
        if asynchronous:
            return 0
        if queued:
            try:
                view.wait_idle("dpu_launch", timeout)
            except BaseException as error:
                # A launch that is interrupted, or has a limit, is not to continue.
                _stop(view, error)
                raise
            with nogil:
                rc = handle.table.dpu_sync(c)
        view.settle(mark)
        _pass_warnings(view)
        view.check(rc, "dpu_launch")
        raise_collected(view.take_raised())
    finally:
        view.leave()
    return 0


cdef int _stop(SetView view, object error) except -1:
    """End running launches. The exception gets a note with their position."""
    cdef dpu_set_t c = view.c
    cdef SetHandle handle = view.handle
    cdef dpu_error_t rc = DPU_OK
    cdef c_bool done = True
    with nogil:
        if handle.soft.dpusoft_interrupt is not NULL:
            handle.soft.dpusoft_interrupt(c)
        if handle.soft.dpusoft_wait is not NULL:
            handle.soft.dpusoft_wait(c, _STOP_NS, &done)
        if done:
            rc = handle.table.dpu_sync(c)
    if not done:
        error.add_note(f"the launch ends when it begins; before it, {view.waits_for()}")
    if rc != DPU_OK and handle.soft.dpusoft_last_error_detail is not NULL:
        detail = handle.soft.dpusoft_last_error_detail().decode("utf-8", "replace")
        if detail:
            error.add_note(detail)
    return 0


cdef int _pass_warnings(SetView view) except -1:
    """Issue the warnings of launches that succeeded."""
    cdef SetHandle handle = view.handle
    cdef dpu_set_t c = view.c
    cdef char text[2048]
    cdef uint32_t count = 0
    if handle.soft.dpusoft_take_warning is NULL:
        return 0
    with nogil:
        handle.soft.dpusoft_take_warning(c, text, sizeof(text), &count)
    if count == 0:
        return 0
    message = (<bytes>text).decode("utf-8", "replace")
    if count > 1:
        message += f"; {count - 1} more DPUs have such a warning"
    warnings.warn(message, DpuWarning, stacklevel=1)
    return 0


cdef int interrupt(SetView view) except -1:
    cdef dpu_set_t c = view.c
    cdef SetHandle handle
    cdef dpu_error_t rc
    view.enter("dpusoft_interrupt")
    handle = view.handle
    try:
        handle.library.need(<const void *>handle.soft.dpusoft_interrupt, "interrupting a launch")
        with nogil:
            rc = handle.soft.dpusoft_interrupt(c)
        view.check(rc, "dpusoft_interrupt")
    finally:
        view.leave()
    return 0


cdef int synchronise(SetView view, object timeout=None) except -1:
    cdef dpu_set_t c = view.c
    cdef SetHandle handle
    cdef dpu_error_t rc
    cdef unsigned long mark
    view.enter("dpu_sync")
    handle = view.handle
    try:
        mark = handle.sequence
        view.wait_idle("dpu_sync", timeout)
        with nogil:
            rc = handle.table.dpu_sync(c)
        view.settle(mark)
        _pass_warnings(view)
        raised = view.take_raised()
        if rc == DPU_OK:
            raise_collected(raised)
        try:
            view.check(rc, "dpu_sync")
        except DpuError as error:
            for exception in raised:
                error.add_note(f"a callback failed too: {type(exception).__name__}: {exception}")
            raise
    finally:
        view.leave()
    return 0


cdef object report_of(const dpusoft_report *report):
    cdef uint32_t i, threads = min(report.nr_threads, <uint32_t>DPU_MACHINE_THREADS_ROOM)
    return make_report(
        report.status, report.cycles, report.instructions, report.dma_read_bytes,
        report.dma_write_bytes, report.seconds,
        tuple([
            report.thread_instructions[i] if i < DPU_MACHINE_THREADS
            else report.more_thread_instructions[i - DPU_MACHINE_THREADS]
            for i in range(threads)
        ]),
        report.fault, report.fault_thread, report.fault_pc, report.breakpoint,
        report.fault_address, report.engine, report.runtime,
        report.joules if report.joules != 0 or report.instructions == 0 else None,
        report.cache_hits, report.cache_misses, report.cache_write_backs, report.cache_fill_bytes,
    )


cdef object get_reports(SetView view):
    cdef dpusoft_report report
    cdef dpu_set_t c
    cdef SetHandle handle
    cdef dpu_error_t rc
    cdef uint32_t i
    view.enter("dpusoft_get_report")
    handle = view.handle
    reports = []
    try:
        handle.library.need(<const void *>handle.soft.dpusoft_get_report, "reports of launches")
        view.wait_idle("dpusoft_get_report")
        for i in range(view.dpu0, view.dpu1):
            c = handle.dpu_sets[i]
            memset(&report, 0, sizeof(report))
            report.size = sizeof(report)
            with nogil:
                rc = handle.soft.dpusoft_get_report(c, &report)
            view.check(rc, "dpusoft_get_report")
            reports.append(report_of(&report))
    finally:
        view.leave()
    return reports


cdef class DpuRequest(Request):
    """All operations queued on a set, from `DpuSet.exec_async()`.

    It is done when these DPUs are idle, later operations included. Its result is that of
    `DpuSet.sync()`: errors of the set that were not fetched before.

    Attributes
    ----------
    dpu_set : DpuSet
        The set.
    """

    cdef readonly object dpu_set
    # One of the threads that ask fetches the errors of the set; the others wait for it. A signal
    # handler may ask while its thread does.
    cdef object _lock
    cdef object _error
    cdef bint _synchronised

    def __init__(self, dpu_set):
        if not isinstance(dpu_set, SetView):
            raise TypeError(f"a DpuSet is required, not {type(dpu_set).__name__}")
        self.dpu_set = dpu_set
        self._lock = RLock()

    def __reduce_ex__(self, protocol):
        raise TypeError("a DpuRequest cannot be pickled: it belongs to DPUs of this process")

    cdef int _poll(self) except -1:
        return self._wait_ns(0)

    cdef int _wait_ns(self, long long ns) except -1:
        cdef SetView view = <SetView>self.dpu_set
        if self._synchronised:
            return 1
        try:
            view.enter("dpu_status")
            try:
                if not view.wait_for(ns):
                    return 0
            finally:
                view.leave()
        except DpuError as error:
            self._end(error)
        return 1

    cdef int _end(self, object error) except -1:
        if not self._synchronised:
            self._error = error
            self._synchronised = True
        return 0

    cdef object _outcome(self):
        cdef SetView view = <SetView>self.dpu_set
        if not self._synchronised:
            if view.handle.in_callback():
                # The thread that has the lock may wait for this callback.
                synchronise(view)
                return None
            with self._lock:
                self._fetch()
        if self._error is not None:
            raise self._error
        return None

    cdef int _fetch(self) except -1:
        if self._synchronised:
            return 0
        try:
            synchronise(<SetView>self.dpu_set)
        except DpuTimeoutError:
            raise
        except Exception as error:
            self._end(error)
        else:
            self._end(None)
        return 0

    def _timeout_error(self, timeout):
        cdef str text = (<SetView>self.dpu_set).waits_for()
        return DpuTimeoutError(
            f"the DPUs did not finish within {limit_text(timeout)}"
            f"{': ' if text else ''}{text}. They continue, and may be waited for again",
            function="dpu_sync",
        )
