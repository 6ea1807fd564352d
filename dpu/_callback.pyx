# SPDX-License-Identifier: BSD-3-Clause
"""Python functions in the queue of a set, called by the library.

They run in threads of the library. `DpuSet.call()` raises their exceptions, or the next `sync()`
for asynchronous calls.
"""

from libc.stdint cimport uint32_t
from dpu._handle cimport SetHandle, SetView, begin_callback, end_callback
from dpu.libdpu cimport (
    DPU_CALLBACK_ASYNC,
    DPU_CALLBACK_DEFAULT,
    DPU_CALLBACK_NONBLOCKING,
    DPU_CALLBACK_SINGLE_CALL,
    DPU_OK,
    dpu_error_t,
    dpu_set_t,
)

from threading import get_ident

from dpu.error_codes import ErrorCode
from dpu.errors import DpuError

__all__ = []


cdef class _Job:
    """A function to be called, once or once per rank."""

    cdef object fn
    cdef object arg
    cdef SetView view
    cdef list views
    # Receives exceptions: a list of this call, or None for that of the handle.
    cdef list errors
    # The number of remaining calls.
    cdef int left


cdef dpu_error_t _run(dpu_set_t c, uint32_t number, void *pointer) noexcept nogil:
    with gil:
        begin_callback()
        _call(pointer, number)
        end_callback()
    # The set's queue continues; the thread that waits for it gets the exception.
    return DPU_OK


cdef int _call(void *pointer, uint32_t number) noexcept:
    # Keeps a reference: the last call drops the last other one.
    cdef _Job job = <_Job>pointer
    cdef SetHandle handle = job.view.handle
    cdef dict threads = handle.callback_threads
    thread = get_ident()
    threads[thread] = threads.get(thread, 0) + 1
    try:
        job.fn(job.views[number] if number < len(job.views) else job.views[0], number, job.arg)
    except BaseException as error:
        (job.errors if job.errors is not None else handle.raised).append([job.view.mask(), error])
    finally:
        threads[thread] -= 1
        if threads[thread] == 0:
            del threads[thread]
        job.left -= 1
        if job.left == 0:
            handle.forget(job)
    return 0


cdef int raise_collected(list errors) except -1:
    cdef int more = len(errors) - 1
    if more < 0:
        return 0
    if more > 0:
        errors[0].add_note(
            f"{more} more callback(s) failed, among them: {type(errors[1]).__name__}: {errors[1]}"
        )
    raise errors[0]


cdef int call_back(SetView view, list views, object fn, object arg, bint asynchronous,
                   bint is_blocking, bint single_call) except -1:
    cdef _Job job
    cdef SetHandle handle
    cdef list entry
    cdef dpu_set_t c = view.c
    cdef dpu_error_t rc
    cdef unsigned long mark
    cdef bint queued
    cdef int flags = DPU_CALLBACK_DEFAULT
    if not callable(fn):
        raise TypeError(f"a callable is required, not {type(fn).__name__}")
    if not asynchronous and not is_blocking:
        raise DpuError(
            "nonblocking and synchronous callback is invalid",
            code=ErrorCode.DPU_ERR_NONBLOCKING_SYNC_CALLBACK.value,
            name="DPU_ERR_NONBLOCKING_SYNC_CALLBACK",
            function="dpu_callback",
        )
    view.enter("dpu_callback")
    handle = view.handle
    try:
        job = _Job.__new__(_Job)
        job.fn, job.arg, job.view, job.views = fn, arg, view, views
        job.errors = None if asynchronous else []
        job.left = len(views)
        # Queued calls are waited for with checks for signals; a callback does not wait.
        queued = asynchronous or (
            handle.soft.dpusoft_wait is not NULL and not handle.in_callback()
        )
        if queued:
            flags |= DPU_CALLBACK_ASYNC
        if not is_blocking:
            flags |= DPU_CALLBACK_NONBLOCKING
        if single_call:
            flags |= DPU_CALLBACK_SINGLE_CALL
        if queued:
            view.wait_room("dpu_callback")
        entry = view.keep(job)
        with nogil:
            rc = handle.table.dpu_callback(c, _run, <void *>job, flags)
        view.submitted(entry)
        if rc != DPU_OK:
            handle.forget(job)
        view.check(rc, "dpu_callback")
        if asynchronous:
            return 0
        mark = handle.sequence
        if queued:
            view.wait_idle("dpu_callback")
            with nogil:
                rc = handle.table.dpu_sync(c)
        view.settle(mark)
        raise_collected([pair[1] for pair in job.errors])
        if queued:
            view.check(rc, "dpu_sync")
    finally:
        view.leave()
    return 0
