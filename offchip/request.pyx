# SPDX-License-Identifier: BSD-3-Clause
"""The face of every asynchronous operation: poll, wait, result, callbacks, await."""

from cpython.exc cimport PyErr_CheckSignals
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

__all__ = ["PythonRequest", "Request"]

# Longest wait without a look at signals.
cdef long long SLICE_NS = 100_000_000
# Longer limits than this (292 years) would overflow and are no limits.
cdef double LONGEST_S = 9.2e9


cdef long long _now_ns() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return <long long>now.tv_sec * 1_000_000_000 + now.tv_nsec


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


cdef class Request:
    """An operation that was started and ends by itself.

    Objects come from the calls that start operations. A request keeps what the operation needs
    (buffers, arguments, its parent) until it has ended, also when the user drops it.
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
        cdef long long left, deadline
        if self._finished:
            return 1
        if ns == 0:
            return self._check()
        deadline = _now_ns()
        # A sum beyond the clock's range is no limit.
        if ns < 0 or deadline > 0x7fffffffffffffff - ns:
            deadline = 0x7fffffffffffffff
        else:
            deadline += ns
        left = SLICE_NS if ns < 0 else ns
        while True:
            if self._wait_ns(min(left, SLICE_NS)):
                self._finished = True
                return 1
            PyErr_CheckSignals()
            if self._finished:
                return 1
            left = deadline - _now_ns()
            if left <= 0:
                return self._check()

    def _timeout_error(self, timeout):
        """Make the exception for a wait that reached its limit; subclasses replace it."""
        from offchip.errors import RequestTimeoutError

        return RequestTimeoutError(
            f"the request was not finished within {timeout} s; it goes on, and may be waited "
            "for again"
        )

    def done(self):
        """Whether the operation has ended, in success or failure."""
        return self._check() != 0

    def wait(self, timeout=None):
        """Wait for the end.

        Parameters
        ----------
        timeout : float, optional
            Limit in seconds; None waits as long as it takes.

        Returns
        -------
        bool
            True when the operation has ended, False when the limit was reached first.
        """
        return self._wait_limited(timeout_ns(timeout)) != 0

    def result(self, timeout=None):
        """Wait for the end and return what the operation gave, or raise its error.

        Parameters
        ----------
        timeout : float, optional
            Limit in seconds; None waits as long as it takes.

        Raises
        ------
        TimeoutError
            The limit was reached first. The operation goes on.
        """
        if not self._finished and not self._wait_limited(timeout_ns(timeout)):
            raise self._timeout_error(timeout)
        return self._outcome()

    def exception(self, timeout=None):
        """Wait for the end and return the operation's error, None if there was none.

        Parameters
        ----------
        timeout : float, optional
            Limit in seconds; None waits as long as it takes.

        Raises
        ------
        TimeoutError
            The limit was reached first. The operation goes on.
        """
        if not self._finished and not self._wait_limited(timeout_ns(timeout)):
            raise self._timeout_error(timeout)
        try:
            self._outcome()
        except Exception as error:
            return error
        return None

    def add_done_callback(self, fn):
        """Have `fn` called with this request once it has ended.

        It is called at once if that is so already, else from the watcher thread, in the order
        in which functions were added. What it raises is logged and otherwise ignored.

        Parameters
        ----------
        fn : callable
            Takes the request.
        """
        if not callable(fn):
            raise TypeError(f"a callable is needed, not {type(fn).__name__}")
        from offchip import watcher

        watcher.watch(self, fn)

    def cancel(self):
        """Return False: what was started cannot be withdrawn, and is not taken for cancelled.

        A future has this method for those that have not begun.
        """
        return False

    def cancelled(self):
        """Return False; see `cancel()`."""
        return False

    def running(self):
        """Whether the operation waits or runs: the opposite of `done()`."""
        return not self.done()

    # What concurrent.futures.wait() and as_completed() look at.

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
        """Wait at most that long without a look at signals: the watcher thread's wait."""
        if self._finished:
            return True
        if self._wait_ns(<long long>(seconds * 1e9)):
            self._finished = True
        return bool(self._finished)


cdef class PythonRequest(Request):
    """A request whose behaviour is written in Python.

    A subclass defines `poll` and `outcome`, and `wait_slice` if it can do better than to poll.
    """

    cdef int _poll(self) except -1:
        return 1 if self.poll() else 0

    cdef int _wait_ns(self, long long ns) except -1:
        return 1 if self.wait_slice(ns * 1e-9) else 0

    cdef object _outcome(self):
        return self.outcome()

    def poll(self):
        """Whether the operation has ended."""
        raise NotImplementedError(f"{type(self).__name__} does not define poll()")

    def wait_slice(self, seconds):
        """Wait at most `seconds` (or less) for the end and say whether it is there."""
        import time

        # A subclass that only polls is looked at every millisecond.
        if not self.poll():
            time.sleep(min(seconds, 1e-3))
        return self.poll()

    def outcome(self):
        """Return or raise what the operation gave; called after its end only."""
        raise NotImplementedError(f"{type(self).__name__} does not define outcome()")
