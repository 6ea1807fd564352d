# SPDX-License-Identifier: BSD-3-Clause
"""The interface of every asynchronous operation: poll, wait, result, callbacks, await."""

from cpython.exc cimport PyErr_CheckSignals
from offchip.waiting cimport deadline_after, first_slice, slice_until

__all__ = ["PythonRequest", "Request"]

# Timeouts longer than this (292 years) would overflow, and count as none.
cdef double LONGEST_S = 9.2e9


cdef long long timeout_ns(object timeout) except? -2:
    cdef double seconds
    if timeout is None:
        return -1
    if isinstance(timeout, (str, bytes, bytearray)):
        raise TypeError(
            f"timeout must be a number of seconds or None, not {type(timeout).__name__}"
        )
    try:
        seconds = timeout
    except TypeError:
        raise TypeError(
            f"timeout must be a number of seconds or None, not {type(timeout).__name__}"
        ) from None
    if seconds != seconds:
        raise ValueError("timeout must be a number of seconds or None, not NaN")
    if seconds <= 0.0:
        return 0
    if seconds >= LONGEST_S:
        return -1
    return <long long>(seconds * 1e9)


cdef str limit_text(object timeout):
    return f"{<double>timeout:g} s"


cdef class Request:
    """An operation that was started, and finishes on its own.

    Objects come from the calls that start operations. A request keeps what the operation needs
    (buffers, arguments, its parent) until it has finished, even if the user drops it.
    """

    cdef int _poll(self) except -1:
        raise NotImplementedError(f"{type(self).__name__} does not define _poll")

    cdef int _wait_ns(self, long long ns) except -1:
        raise NotImplementedError(f"{type(self).__name__} does not define _wait_ns")

    cdef object _outcome(self):
        raise NotImplementedError(f"{type(self).__name__} does not define _outcome")

    cdef int _check(self) except -1:
        if not self._finished and self._poll():
            self._finished = True
        return self._finished

    cdef int _wait_limited(self, long long ns) except -1:
        cdef long long deadline
        cdef long long part
        if self._finished:
            return 1
        if ns == 0:
            return self._check()
        deadline = deadline_after(ns)
        part = first_slice(ns)
        while True:
            if self._wait_ns(part):
                self._finished = True
                return 1
            PyErr_CheckSignals()
            if self._finished:
                return 1
            part = slice_until(deadline)
            if part == 0:
                return self._check()

    def _timeout_error(self, timeout):
        """Make the exception for a wait that timed out; subclasses override it."""
        from offchip.errors import RequestTimeoutError

        return RequestTimeoutError(
            f"the request did not finish within {limit_text(timeout)}; it continues, and may be "
            "waited for again"
        )

    def done(self):
        """Return whether the operation has finished, successfully or not."""
        return self._check() != 0

    def wait(self, timeout=None):
        """Wait for the operation.

        Parameters
        ----------
        timeout : float, optional
            Timeout in seconds; None waits without limit.

        Returns
        -------
        bool
            True if the operation has finished, False if the wait timed out.
        """
        return self._wait_limited(timeout_ns(timeout)) != 0

    def result(self, timeout=None):
        """Wait for the operation and return its result, or raise its error.

        Parameters
        ----------
        timeout : float, optional
            Timeout in seconds; None waits without limit.

        Raises
        ------
        TimeoutError
            The wait timed out. The operation continues.
        """
        if not self._finished and not self._wait_limited(timeout_ns(timeout)):
            raise self._timeout_error(timeout)
        return self._outcome()

    def exception(self, timeout=None):
        """Wait for the operation and return its error, or None.

        Parameters
        ----------
        timeout : float, optional
            Timeout in seconds; None waits without limit.

        Raises
        ------
        TimeoutError
            The wait timed out. The operation continues.
        CancelledError
            The operation was cancelled. It is that of `concurrent.futures`.
        """
        if not self._finished and not self._wait_limited(timeout_ns(timeout)):
            raise self._timeout_error(timeout)
        try:
            self._outcome()
        except Exception as error:
            if self.cancelled():
                raise
            return error
        return None

    def add_done_callback(self, fn):
        """Call `fn` with this request when it finishes.

        It is called immediately if the request has finished, else from the watcher thread, in the
        order in which functions were added. Exceptions in it are logged and otherwise ignored.

        Parameters
        ----------
        fn : callable
            Takes the request.
        """
        if not callable(fn):
            raise TypeError(f"a callable is required, not {type(fn).__name__}")
        from offchip import watcher

        watcher.watch(self, fn)

    def cancel(self):
        """Return False: an operation that was started cannot be cancelled.

        Requests that can be taken back before they start override it.
        """
        return False

    def cancelled(self):
        """Return whether the operation was cancelled; see `cancel()`."""
        return False

    def running(self):
        """Return whether the operation is pending or running: the opposite of `done()`."""
        return not self.done()

    # Used by concurrent.futures.wait() and as_completed().

    @property
    def _condition(self):
        from offchip.futures import face_of

        return face_of(self).condition

    @property
    def _state(self):
        from offchip.futures import face_of

        return face_of(self).state

    @property
    def _waiters(self):
        from offchip.futures import face_of

        return face_of(self).waiters

    def __await__(self):
        from offchip import watcher

        return watcher.await_request(self)

    def _watch_slice(self, double seconds):
        """Wait at most that long without checking for signals; for the watcher thread."""
        if self._finished:
            return True
        if self._wait_ns(<long long>(seconds * 1e9)):
            self._finished = True
        return bool(self._finished)


cdef class PythonRequest(Request):
    """A request whose behaviour is written in Python.

    A subclass defines `poll` and `outcome`, and `wait_slice` if it can do better than polling.
    """

    cdef int _poll(self) except -1:
        return 1 if self.poll() else 0

    cdef int _wait_ns(self, long long ns) except -1:
        return 1 if self.wait_slice(ns * 1e-9) else 0

    cdef object _outcome(self):
        return self.outcome()

    def poll(self):
        """Return whether the operation has finished."""
        raise NotImplementedError(f"{type(self).__name__} does not define poll()")

    def wait_slice(self, seconds):
        """Wait at most `seconds` (or less); return whether the operation has finished."""
        import time

        # A subclass that only polls is polled every millisecond.
        if not self.poll():
            time.sleep(min(seconds, 1e-3))
        return self.poll()

    def outcome(self):
        """Return the operation's result or raise its error; called only after it has finished."""
        raise NotImplementedError(f"{type(self).__name__} does not define outcome()")
