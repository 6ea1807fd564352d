# SPDX-License-Identifier: BSD-3-Clause
"""Handles of asynchronous calls."""

cimport cython
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
from accl._device cimport Device
from accl._pending cimport Pending, prune
from accl._staging cimport Stage
from accl.libaccl cimport (
    ACCL_CALL_FAILED,
    ACCL_OK,
    ACCL_PENDING,
    accl_call,
    accl_request,
)
from offchip.request cimport Request, limit_text, timeout_ns

from threading import get_ident

from accl.constants import ErrorCode
from accl.errors import ACCLClosedError, ACCLUnfinishedError, ACCLUnsupportedError

__all__ = ["ACCLHandle"]

cdef unsigned int _INTERRUPTED = ErrorCode.INTERRUPTED_ERROR


@cython.final
@cython.no_gc_clear
cdef class ACCLHandle(Request):
    """An asynchronous call. Objects come from calls with ``run_async=True``.

    Several may be outstanding; those that do not depend on each other go on while others wait. The
    operands of a call stay allocated until it has finished, even if the handle is dropped. A handle
    keeps the device open.
    When the accl and all handles are dropped it is closed, which interrupts running calls.

    It also has `done()`, `result()`, `exception()`, `add_done_callback()` and ``await``.

    Attributes
    ----------
    operation : str
        The operation.
    """

    def __init__(self):
        raise TypeError("a handle comes from a call with run_async=True")

    def __reduce_ex__(self, protocol):
        raise TypeError("a handle cannot be pickled: the call runs in this process")

    def __repr__(self):
        state = "ended" if self.pending.ended() else "not ended"
        return f"<accl.ACCLHandle of {self.operation}, {state}>"

    cdef int _poll(self) except -1:
        # This thread carries messages, while it asks.
        if self.device.homebound and not self.pending.ended():
            self._wait_ns(0)
        return _end(self) if self.pending.ended() else 0

    cdef int _wait_ns(self, long long ns) except -1:
        cdef int status
        cdef accl_request *c = self.pending.c
        with nogil:
            status = self.device.table.accl_request_wait(c, ns)
        if status not in (ACCL_OK, ACCL_PENDING, ACCL_CALL_FAILED):
            self.device.fail(status, self.operation)

        ended = _end(self) if status != ACCL_PENDING else 0
        self.device.raise_interruption()
        return ended

    cdef int wait_for_end(self) except -1:
        self._wait_limited(-1)
        return 0

    cdef object _outcome(self):
        cdef object text
        cdef unsigned int retcode = self.device.table.accl_request_retcode(self.pending.c)
        if retcode == 0:
            return None

        text = self.device.table.accl_request_message(self.pending.c).decode("utf-8", "replace")
        if retcode & _INTERRUPTED:
            # Only deinit() interrupts these calls.
            raise ACCLClosedError(f"{self.operation}: {text}", retcode=retcode)

        raise self.device.lib.call_error(retcode, self.operation, text, self.device.rank)

    def _timeout_error(self, timeout):
        return ACCLUnfinishedError(
            f"{self.operation}: did not finish within {limit_text(timeout)}; the call continues, "
            "and may be waited for again"
        )

    def wait(self, timeout=None):
        """Wait for the call, and raise its error if it failed.

        Parameters
        ----------
        timeout : float, optional
            Timeout in seconds; None waits without limit.

        Returns
        -------
        bool
            True if the call has finished, False if the wait timed out.

        Raises
        ------
        ACCLError
            The call failed.
        """
        if not self._wait_limited(timeout_ns(timeout)):
            return False
        self._outcome()
        return True

    def test(self):
        """Return whether the call has finished, successfully or not."""
        return self.done()

    @property
    def retcode(self):
        """Error bits of the call, 0 after success or while it runs."""
        return self.device.table.accl_request_retcode(self.pending.c)

    @property
    def duration(self):
        """Duration of the execution in seconds, 0 while it runs."""
        return self.device.table.accl_request_duration(self.pending.c) * 1e-9


cdef int _end(ACCLHandle handle) except -1:
    # Kept until the copy is complete: another thread may wait for it meanwhile.
    cdef Stage stage = handle.stage
    if stage is not None:
        if handle.device.table.accl_request_retcode(handle.pending.c) == 0:
            stage.copy_back(handle.elements)
        handle.stage = None

    handle.pending.keep = None
    prune(handle.device.outstanding)
    return 1


cdef ACCLHandle _queue(Device device, accl_call *call, str name, tuple keep, object waitfor):
    """Queue a call."""
    cdef ACCLHandle handle = ACCLHandle.__new__(ACCLHandle)
    cdef accl_request **before = NULL
    cdef Py_ssize_t n = 0
    cdef int status
    if isinstance(waitfor, ACCLHandle):
        waitfor = (waitfor,)

    handles = [] if waitfor is None else [h for h in waitfor if h is not None]
    for h in handles:
        if not isinstance(h, ACCLHandle):
            raise TypeError(
                f"{name}: waitfor takes handles of calls with run_async=True, not "
                f"{type(h).__name__}"
            )
        if (<ACCLHandle>h).device.lib is not device.lib:
            raise ValueError(f"{name}: waitfor has a handle of another library")

    if handles:
        before = <accl_request **>malloc(len(handles) * sizeof(accl_request *))
        if before is NULL:
            raise MemoryError()
        for h in handles:
            before[n] = (<ACCLHandle>h).pending.c
            n += 1

    handle.device = device
    handle.operation = name
    handle.pending = Pending.__new__(Pending)
    handle.pending.lib = device.lib
    handle.pending.keep = keep
    status = device.table.accl_call_start(device.c, call, before, n, &handle.pending.c)
    free(before)
    if status != ACCL_OK:
        handle.pending.c = NULL
        device.fail(status, name)

    return handle


cdef ACCLHandle start_call(Device device, accl_call *call, str name, tuple keep, object waitfor):
    cdef ACCLHandle handle
    device.enter(name)
    try:
        handle = _queue(device, call, name, keep, waitfor)
    finally:
        device.leave()

    prune(device.outstanding)
    device.outstanding.append(handle.pending)
    return handle


cdef uint32_t run_call(Device device, accl_call *call, str name, bint raises,
                       tuple keep) except? 0xffffffff:
    if device.homebound and get_ident() != device.home:
        raise ACCLUnsupportedError(
            f"{name}: MPI was initialised below THREAD_MULTIPLE, so calls that may go to other "
            "hosts are made in the thread that initialised it"
        )

    return device.run(call, name, raises, keep)
