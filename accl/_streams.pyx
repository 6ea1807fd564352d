# SPDX-License-Identifier: BSD-3-Clause
"""The streams between the engine and a kernel beside it, in Python."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint32_t
from accl._device cimport Device
from accl.libaccl cimport (
    ACCL_INVALID,
    ACCL_OK,
    ACCL_PENDING,
    ACCL_STREAM_HOOK,
    ACCL_STREAM_LOOPBACK,
    ACCL_STREAM_QUEUE,
)
from offchip.buffer cimport Buffer, get_buffer
from offchip.request cimport timeout_ns
from offchip.waiting cimport deadline_after, slice_until

__all__ = ["Streams"]


cdef void _hook(void *argument, uint32_t stream, const void *data, size_t size) noexcept with gil:
    cdef Streams streams = <Streams>argument
    try:
        streams.taker(stream, PyBytes_FromStringAndSize(<const char *>data, size))
    except Exception:
        import logging

        logging.getLogger("accl").exception("the stream hook failed for stream %d", stream)


cdef class Streams:
    """The attribute ``streams`` of an `accl`: the other end of its engine's streams.

    By default the engine's output returns as its input, as in the original's test system.
    `hook()` passes it to a function, `queue()` keeps it for `pull()`.

    Parameters
    ----------
    device : Device
        The owner of the streams.
    """

    cdef Device device
    cdef object taker

    def __init__(self, Device device not None):
        self.device = device

    def __reduce_ex__(self, protocol):
        raise TypeError("streams cannot be pickled")

    cdef int _mode(self, int mode, object taker, str name) except -1:
        cdef Device device = self.device
        cdef void *argument = <void *>self
        cdef int status
        device.enter(name)
        try:
            if mode == ACCL_STREAM_HOOK:
                # The old function may be called until the engine has replaced it.
                self.taker = taker
                # The engine has a borrowed pointer to this object.
                device.hook = self
                with nogil:
                    status = device.table.accl_stream_mode(device.c, mode, _hook, argument)
            else:
                with nogil:
                    status = device.table.accl_stream_mode(device.c, mode, NULL, NULL)
        finally:
            device.leave()
        if status != ACCL_OK:
            device.fail(status, name)

        return 0

    def loopback(self):
        """Return the engine's output as its input, which is the default."""
        self._mode(ACCL_STREAM_LOOPBACK, None, "streams.loopback")

    def queue(self):
        """Keep the engine's output for `pull()`."""
        self._mode(ACCL_STREAM_QUEUE, None, "streams.queue")

    def hook(self, function):
        """Pass the engine's output to a function.

        Parameters
        ----------
        function : callable
            Takes the number of the stream, and bytes. A thread that executes a call calls it; it
            may call `push()`, but no other function of this accl. Exceptions are logged.
        """
        if not callable(function):
            raise TypeError(f"a callable is required, not {type(function).__name__}")
        self._mode(ACCL_STREAM_HOOK, function, "streams.hook")

    def push(self, data):
        """Write input of the engine, for calls with ``OP0_STREAM``.

        Parameters
        ----------
        data : object with the buffer protocol
            Contiguous.
        """
        cdef Buffer buffer = get_buffer(data, False)
        cdef int status
        self.device.enter("streams.push")
        try:
            with nogil:
                status = self.device.table.accl_stream_push(
                    self.device.c, buffer.ptr, buffer.nbytes
                )
        finally:
            self.device.leave()
        if status != ACCL_OK:
            self.device.fail(status, "streams.push")
        self.device.raise_interruption()

    def pull(self, timeout=None):
        """Return the next piece of the engine's output.

        Parameters
        ----------
        timeout : float, optional
            Timeout in seconds; None waits without limit.

        Returns
        -------
        tuple of (int, bytes) or None
            The number of the stream, and the data; None if nothing arrived in time.
        """
        cdef int64_t deadline = deadline_after(timeout_ns(timeout))
        cdef int64_t limit
        cdef uint32_t stream = 0
        cdef size_t size = 0
        cdef size_t space = 4096
        cdef bytearray data = bytearray(space)
        cdef char *p = data
        cdef int status
        while True:
            limit = slice_until(deadline)
            while True:
                self.device.enter("streams.pull")
                try:
                    with nogil:
                        status = self.device.table.accl_stream_pull(
                            self.device.c, &stream, p, space, &size, limit
                        )
                finally:
                    self.device.leave()
                if status != ACCL_INVALID or size <= space:
                    break
                space = size
                data = bytearray(space)
                p = data
            self.device.raise_interruption()
            if status == ACCL_OK:
                return stream, bytes(data[:size])
            if status != ACCL_PENDING:
                self.device.fail(status, "streams.pull")
            if limit == 0:
                return None
