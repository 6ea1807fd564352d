# SPDX-License-Identifier: BSD-3-Clause
"""Requests: the results of calls and asynchronous transfers.

A request is in its context's set (csrc/veo/package/requests.h) until its outcome is known. If the
user drops it before, the set keeps its id and what it kept.
"""

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF
from libc.stdint cimport uint64_t
from offchip.request cimport Request, limit_text, timeout_ns
from veo._convert cimport from_bits
from veo._context_handle cimport CtxHandle
from veo._log cimport log_info, log_on
from veo._native cimport without_trace
from veo.libveo cimport VEO_COMMAND_ERROR, VEO_COMMAND_EXCEPTION, VEO_COMMAND_OK
from veo.request_set cimport VEOPKG_CANCELLED, VEOPKG_CLOSED, VEOPKG_FORKED

from veo.errors import (
    VeoClosedError,
    VeoError,
    VeoKernelException,
    VeoTimeoutError,
    VeoUnfinished,
)
from veo.memptr import VEMemPtr

__all__ = ["VeoMemRequest", "VeoRequest"]

cdef extern from "Python.h":
    void PyObject_GC_UnTrack(PyObject *object) noexcept


def _signal_name(number):
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@cython.no_gc_clear
cdef class VeoRequest(Request):
    """A call that was queued in a context.

    It also has the methods of every request: `done()`, `wait()`, `result()`, `exception()`,
    `add_done_callback()`, and it can be awaited. The outcome is kept: it can be retrieved any
    number of times, even after the context was closed.

    Attributes
    ----------
    req : int
        Its number in the context.
    ctx : VeoCtxt
        The context.
    """

    def __cinit__(self):
        self.node.keep = NULL
        self.node.text = NULL
        # Until new_request() has filled it in.
        self.node.settled = True
        self.node.state = VEOPKG_CLOSED

    def __init__(self):
        raise TypeError(f"a {type(self).__name__} comes from a call or an asynchronous transfer")

    def __dealloc__(self):
        if self.handle is not None:
            self.handle.drop(&self.node)
        Py_XDECREF(<PyObject *>self.node.text)

    def __reduce_ex__(self, protocol):
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled: it belongs to a VE process that only "
            "this process can talk to; pickle its result"
        )

    # --- hooks of Request --------------------------------------------------------------------

    cdef int _poll(self) except -1:
        return self.node.settled or self.handle.ask(&self.node)

    cdef int _wait_ns(self, long long ns) except -1:
        return self.node.settled or self.handle.wait(&self.node, ns)

    cdef int _wait_limited(self, long long ns) except -1:
        if Request._wait_limited(self, ns):
            return 1
        if ns > 0 and not self.node.settled:
            self.handle.note_given_up(&self.node)
        return 0

    cdef object _outcome(self):
        return self._value("wait_result")

    def _timeout_error(self, timeout):
        what = f" ({self.what})" if self.what else ""
        # The object may never have been initialised.
        oldest = self.handle.oldest() if self.handle is not None else "no request"
        return VeoTimeoutError(
            f"request {self.node.id}{what} did not finish within {limit_text(timeout)}; it "
            f"continues, and may be waited for again. Its context still has {oldest}",
            function="veo_call_wait_result",
        )

    cdef void start(self, uint64_t id, object keep) noexcept:
        self.handle.add(&self.node, self, id, keep)

    cdef object _value(self, str operation):
        cdef int rc = self.node.state
        if self.handle is not None and self.handle.proc.output is not None:
            # The output of the kernel is written before its result is known.
            self.handle.proc.output.drain()
        if rc == VEO_COMMAND_OK:
            if self.ret == c"p":
                return VEMemPtr(self.ctx.proc, self.node.value)
            return from_bits(self.ret, self.node.value)
        function = f"veo_call_{operation}"
        text = <object>self.node.text if self.node.text is not NULL else ""
        if rc != VEO_COMMAND_EXCEPTION:
            text = without_trace(text)
        more = f": {text}" if text else ""
        subject = f" ({self.what})" if self.what else ""
        if rc == VEO_COMMAND_EXCEPTION:
            number = <int>self.node.value
            name = _signal_name(number)
            raise VeoKernelException(
                f"{operation} command exception on VE{subject}: ended by {name}{more}",
                code=number, name=name, function=function,
            )
        if rc == VEOPKG_CLOSED:
            raise VeoClosedError(
                f"the VE process or context was closed before request {self.node.id}{subject} "
                "was done"
            )
        if rc == VEOPKG_FORKED:
            raise VeoClosedError(
                f"this process was forked: request {self.node.id}{subject} belongs to the parent"
            )
        if rc == VEOPKG_CANCELLED:
            from concurrent.futures import CancelledError

            raise CancelledError(f"request {self.node.id}{subject} was cancelled before it began")
        if rc == VEO_COMMAND_ERROR:
            said = "handling error" if operation == "wait_result" else "error on VE"
            name = "VEO_COMMAND_ERROR"
        else:
            said = "exception on VH"
            name = None
        raise VeoError(
            f"{operation} command {said}{subject}{more}", code=rc, name=name, function=function
        )

    def cancel(self):
        """Take back a call that has not begun.

        The kernel is then not executed, `OnStack` arguments are not written back, and the result is
        a `concurrent.futures.CancelledError`. Other calls in the queue are not affected.

        Returns
        -------
        bool
            True if the call was taken back, now or earlier. False if it may have begun or is done,
            if it is a transfer, and always with NEC's library, whose queue cannot be changed.
        """
        if not self.node.settled:
            self.handle.cancel(&self.node)
        return self.cancelled()

    def cancelled(self):
        """True if the call was cancelled."""
        return bool(self.node.settled) and self.node.state == VEOPKG_CANCELLED

    # --- the API of py-veo -------------------------------------------------------------------

    @property
    def req(self):
        """Number of the request in its context."""
        return self.node.id

    def wait_result(self, timeout=None):
        """Wait until the request is done and return its result.

        Parameters
        ----------
        timeout : float, optional
            Timeout in seconds; None waits without limit.

        Returns
        -------
        int, float, VEMemPtr or None
            As `VeoFunction.ret_type()` says; 0 for a transfer.

        Raises
        ------
        VeoKernelException
            A signal ended the kernel. It is an ArithmeticError.
        VeoError
            The request could not be executed. It is a RuntimeError.
        VeoTimeoutError
            The wait timed out; the request continues. It is a TimeoutError.
        """
        # If the outcome is already known, the GIL is not released.
        if not (self.node.settled or self.handle.ask(&self.node)):
            if not self._wait_limited(-1 if timeout is None else timeout_ns(timeout)):
                raise self._timeout_error(timeout)
        self._finished = True
        if log_on() and self.handle is not None:
            log_info(f"wait_result nodeid={self.handle.proc.nodeid} reqid={self.node.id}")
        return self._value("wait_result")

    def peek_result(self):
        """Return the result if the request is done.

        Raises
        ------
        VeoUnfinished
            It is not done. It is a NameError.
        VeoKernelException, VeoError
            As for `wait_result()`.
        """
        if not (self.node.settled or self.handle.ask(&self.node)):
            raise VeoUnfinished(
                f"peek_result command unfinished: request {self.node.id} is queued or running",
                function="veo_call_peek_result",
            )
        self._finished = True
        return self._value("peek_result")

    def __repr__(self):
        state = "unfinished"
        if self.node.settled:
            state = "done" if self.node.state == VEO_COMMAND_OK else "failed"
        if self.cancelled():
            state = "cancelled"
        return f"<{type(self).__name__} object req {self.node.id} in context {self.ctx!r}, {state}>"


cdef class VeoMemRequest(VeoRequest):
    """An asynchronous transfer that was queued in a context.

    It holds the buffer until the transfer is done, whether or not it is waited for.
    """


cdef VeoRequest new_request(type kind, CtxHandle handle, object ctx, char ret, str what):
    cdef VeoRequest request
    if kind is VeoRequest:
        request = VeoRequest.__new__(VeoRequest)
    else:
        request = VeoMemRequest.__new__(VeoMemRequest)
    request.handle = handle
    request.ctx = ctx
    request.ret = ret
    request.what = what
    # Without objects of the user's, it is in no cycle, and need not be looked at for one: that
    # takes a tenth of the time of a queued call.
    if handle.is_plain and handle.proc.output is None:
        PyObject_GC_UnTrack(<PyObject *>request)
    return request
