# SPDX-License-Identifier: BSD-3-Clause
"""The face of every asynchronous operation, for subclasses in C."""


cdef class Request:
    cdef object __weakref__
    # Set once _poll or _wait_ns has said 1; neither is called again then.
    cdef bint _finished

    # --- what a subclass defines -------------------------------------------------------------
    # All three may be called from several threads, and from the watcher thread.
    #
    # Looks, without waiting: 1 when the operation has ended, however it ended, and its outcome
    # is stored in the object; else 0. Raises only if it cannot tell.
    cdef int _poll(self) except -1
    # The same, waiting at most `ns` nanoseconds with the GIL released; may return earlier.
    cdef int _wait_ns(self, long long ns) except -1
    # The stored outcome: returns or raises it, any number of times. Called after the end only.
    cdef object _outcome(self)

    # --- what a subclass may use -------------------------------------------------------------
    # Polls unless it is known that the operation has ended.
    cdef int _check(self) except -1
    # Waits at most `ns` nanoseconds (negative: no limit) with a look at signals every 100 ms;
    # 1 when finished, 0 at the limit.
    cdef int _wait_limited(self, long long ns) except -1


cdef class PythonRequest(Request):
    pass


# Seconds as the user gives them (None, int, float) to nanoseconds; -1 for no limit.
cdef long long timeout_ns(object timeout) except? -2
# Such a timeout, not None, as messages say it: "0.05 s".
cdef str limit_text(object timeout)
