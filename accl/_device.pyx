# SPDX-License-Identifier: BSD-3-Clause
"""An open device: opening, closing, executing calls, and checking for signals during them."""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset
from accl._memory cimport Block
from accl._native cimport get_library
from accl.libaccl cimport (
    ACCL_BUFFER_HOST_ONLY,
    ACCL_BUFFER_ZERO,
    ACCL_CALL_FAILED,
    ACCL_INTERRUPTED,
    ACCL_MEMORY_SEPARATE,
    ACCL_MEMORY_UNIFIED,
    ACCL_OK,
    accl_call,
    accl_config,
    accl_device,
    accl_memory_info_t,
)
from offchip.waiting cimport pause_ns

import atexit
import weakref
from collections import deque
from threading import get_ident

from accl.constants import ErrorCode
from accl.errors import ACCLArgumentError, ACCLClosedError, ACCLMemoryError

__all__ = ["Device", "stop_carriers"]

cdef uint32_t _INTERRUPTED = ErrorCode.INTERRUPTED_ERROR

LARGEST = 2**63 - 1

# Time that closing a device waits for messages in flight.
cdef enum:
    FINISH_NS = 2_000_000_000

_live = weakref.WeakSet()


def _end_all():
    for device in list(_live):
        device.close()


atexit.register(_end_all)


def stop_carriers():
    """Stop the carriers of all devices, because MPI ends."""
    for device in list(_live):
        device.stop_carrier()


cdef int _check_signals(void *argument) noexcept with gil:
    cdef Device device = <Device>argument
    if device.closing:
        return 1

    device.checking = get_ident()
    try:
        PyErr_CheckSignals()
    except BaseException as error:
        device.interruption = error
        device.interrupted = get_ident()
        return 1
    finally:
        device.checking = 0

    return device.closing


@cython.final
@cython.no_gc_clear
cdef class Device:
    """An open device of a library.

    Parameters
    ----------
    library : Library, str, path or None
        As for `use_library()`.
    unified : bool
        Host view and device memory are the same pages.
    memory_bytes : int
        Largest amount of device memory; 0 for the library's own limit.
    stack : int
        0 for UDP, 1 for TCP.
    job : str or None
        The name by which the ranks find each other.
    xclbin, endpoint : str or None
        Bit stream, or address of an emulator, of the vendor's driver.
    board, cclo : int
        The board, and the engine on it.
    """

    def __init__(self, library, *, unified=False, memory_bytes=0, stack=1, job=None, xclbin=None,
                 endpoint=None, board=0, cclo=0):
        cdef accl_config config
        cdef int status
        self.rank = -1
        if self.c is not NULL or self.closed:
            raise TypeError("this Device is already open")

        texts = [None if t is None else str(t).encode() for t in (job, xclbin, endpoint)]
        for text in texts:
            if text is not None and 0 in text:
                raise ACCLArgumentError(f"a name cannot contain a NUL: {text.decode()!r}")
        self.lib = get_library(library)
        self.table = self.lib.table
        self.token = object()
        self.unified = bool(unified)
        self.outstanding = deque()
        self.abandoned = []
        self.staging = []
        memset(&config, 0, sizeof(config))
        config.size = sizeof(config)
        config.memory_mode = ACCL_MEMORY_UNIFIED if self.unified else ACCL_MEMORY_SEPARATE
        config.stack = stack
        config.memory_bytes = memory_bytes
        if texts[0] is not None:
            config.job = <bytes>texts[0]
        if texts[1] is not None:
            config.xclbin = <bytes>texts[1]
        if texts[2] is not None:
            config.endpoint = <bytes>texts[2]

        config.board_index = board
        config.cclo_index = cclo
        with nogil:
            status = self.table.accl_open(&config, &self.c)
        if status != ACCL_OK:
            self.c = NULL
            self.lib.fail(status, "accl_open")

        self.table.accl_set_interrupt_check(self.c, _check_signals, <void *>self)
        _live.add(self)

    def __dealloc__(self):
        cdef accl_device *c = self.c
        if c is not NULL:
            self.c = NULL
            _stop_carrier(self, c)
            with nogil:
                self.table.accl_close(c)

    def __reduce_ex__(self, protocol):
        raise TypeError("a Device cannot be pickled")

    @property
    def library(self):
        """The library that it belongs to."""
        return self.lib

    cdef int enter(self, str function) except -1:
        if self.closing or self.c is NULL:
            raise ACCLClosedError(f"{function}: this accl was deinitialised; make another one")
        self.users += 1
        return 0

    cdef void leave(self) noexcept:
        self.users -= 1
        if self.deferred and self.users == 0:
            _close(self)

    cdef int raise_interruption(self) except -1:
        """Raise what a signal handler has raised in this thread's call, however the call ended."""
        if self.interruption is not None and self.interrupted == get_ident():
            error, self.interruption = self.interruption, None
            raise error
        return 0

    cdef int fail(self, int status, str function) except -1:
        self.raise_interruption()
        if status == ACCL_INTERRUPTED and self.closing:
            raise ACCLClosedError(f"{function}: this accl was deinitialised")

        return self.lib.fail(status, function)

    cdef uint32_t run(self, accl_call *call, str name, bint raises,
                      tuple keep) except? 0xffffffff:
        cdef uint32_t retcode = 0
        cdef int status
        self.enter(name)
        with nogil:
            status = self.table.accl_call_sync(self.c, call, &retcode)
        self.leave()
        if status == ACCL_OK:
            self.raise_interruption()
            return 0

        return _after_failure(self, status, retcode, name, raises, keep)

    def close(self):
        """Close it, interrupting running calls. Later calls of this have no effect."""
        if self.c is NULL:
            return

        self.closing = True
        if self.users > 0:
            if self.checking == get_ident():
                # A signal handler, inside a call of this thread.
                self.deferred = True
                return
            # They check every 50 ms.
            while self.users > 0:
                with nogil:
                    pause_ns(1_000_000)

        if self.c is not NULL:
            _close(self)

    def allocate(self, nbytes, dtype=0, host_only=False, zero=False):
        """Allocate a `Block`."""
        cdef Block block = Block.__new__(Block)
        cdef uint64_t size
        cdef uint32_t code = dtype
        cdef uint32_t flags = 0
        cdef int status
        if host_only:
            flags |= ACCL_BUFFER_HOST_ONLY
        if zero:
            flags |= ACCL_BUFFER_ZERO
        if not 0 <= nbytes <= LARGEST:
            raise ACCLMemoryError(
                f"allocate: no device has {nbytes} bytes; a shape is in elements"
            )

        size = nbytes
        block.library = self.lib
        self.enter("allocate")
        try:
            with nogil:
                status = self.table.accl_buffer_create(self.c, size, code, flags, &block.c)
        finally:
            self.leave()
        if status != ACCL_OK:
            block.c = NULL
            self.fail(status, "allocate")

        block.host = <char *>self.table.accl_buffer_host(block.c)
        block.address = self.table.accl_buffer_address(block.c)
        block.nbytes = self.table.accl_buffer_bytes(block.c)
        block.owner = self.token
        block.shared = self.unified or bool(host_only)
        return block

    def memory_info(self):
        """Return the capacity, the allocated bytes and the base of device memory."""
        cdef accl_memory_info_t info
        cdef int status
        memset(&info, 0, sizeof(info))
        info.size = sizeof(info)
        self.enter("memory_info")
        try:
            with nogil:
                status = self.table.accl_memory_info(self.c, &info)
        finally:
            self.leave()
        if status != ACCL_OK:
            self.fail(status, "memory_info")

        return {"capacity": info.capacity, "allocated": info.allocated, "base": info.base}

    def set_carrier(self, carrier):
        """Set the `MPICarrier` that was started for this device."""
        self.carrier = carrier
        self.homebound = not carrier.any_thread
        self.home = carrier.home

    def stop_carrier(self):
        """Stop its carrier, if it has one. Calls that wait for other hosts fail from then on."""
        if self.closing or self.c is NULL:
            return

        self.enter("stop_carrier")
        try:
            _stop_carrier(self, self.c)
        finally:
            self.leave()


cdef void _stop_carrier(Device device, accl_device *c) noexcept:
    """Stop carrying messages, and free the communicator."""
    cdef object carrier
    cdef int status
    if device.carrier is None:
        return

    # A thread that finds another one here waits until that has stopped it.
    with nogil:
        status = device.table.accl_mpi_stop(c, FINISH_NS)

    carrier, device.carrier = device.carrier, None
    if carrier is None:
        return
    try:
        carrier.release(complete=status == ACCL_OK)
    except Exception as error:
        import logging

        logging.getLogger("accl").warning("the communicator of packets stays: %s", error)


cdef void _close(Device device) noexcept:
    """Close it, when no thread uses it."""
    cdef accl_device *c = device.c
    if c is NULL:
        return

    device.c = NULL
    device.closed = True
    device.closing = True
    _stop_carrier(device, c)
    with nogil:
        device.table.accl_close(c)
    # All of its calls have ended.
    device.outstanding.clear()
    device.abandoned.clear()
    device.staging.clear()
    device.hook = None


cdef uint32_t _after_failure(Device device, int status, uint32_t retcode, str name, bint raises,
                             tuple keep) except? 0xffffffff:
    cdef object text
    if status != ACCL_CALL_FAILED:
        if device.closing:
            raise ACCLClosedError(f"{name}: this accl was deinitialised")
        device.fail(status, name)

    text = device.table.accl_error_message().decode("utf-8", "replace")
    if retcode & _INTERRUPTED:
        if keep:
            device.abandoned.append(keep)
        device.raise_interruption()
        if device.closing:
            raise ACCLClosedError(f"{name}: this accl was deinitialised", retcode=retcode)

    device.raise_interruption()
    if raises:
        raise device.lib.call_error(retcode, name, text, device.rank)

    return retcode
