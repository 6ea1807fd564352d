# SPDX-License-Identifier: BSD-3-Clause
"""Copies between host buffers and symbols of DPUs.

What is asynchronous keeps its buffers until a later operation has waited for the DPUs.
"""

from cpython.buffer cimport PyObject_CheckBuffer
from libc.stdint cimport uint32_t
from dpu._chip cimport DPU_MACHINE_IRAM, DPU_MACHINE_MRAM, DPU_MACHINE_WRAM_ROOM
from dpu._handle cimport SetHandle, SetView
from dpu._symbol cimport DpuSymbol
from dpu.libdpu cimport (
    DPU_OK,
    DPU_XFER_ASYNC,
    DPU_XFER_DEFAULT,
    DPU_XFER_FROM_DPU,
    DPU_XFER_TO_DPU,
    dpu_error_t,
    dpu_set_t,
    dpu_symbol_t,
)
from offchip.buffer cimport Buffer, has_array

from operator import index

from dpu.error_codes import ErrorCode
from dpu.errors import DpuError
from offchip.errors import ReadOnlyError

__all__ = []


cdef class _Place:
    """Where in the DPUs: a symbol by name, which the library looks up, or by address."""

    cdef bytes name
    cdef dpu_symbol_t symbol
    cdef uint32_t offset
    cdef str shown


cdef _Place _make_place(object symbol, object offset):
    cdef _Place place = _Place.__new__(_Place)
    if isinstance(symbol, str):
        if "\0" in symbol:
            raise ValueError("the name of a symbol has no zero characters")
        place.name = (<str>symbol).encode("utf-8", "surrogateescape")
        place.shown = symbol
    else:
        place.symbol = (<DpuSymbol>symbol).c
        place.shown = str((<DpuSymbol>symbol).name)
    number = index(offset)
    if number < 0:
        raise ValueError(f"an offset cannot be negative: {number}")
    if number > 0xffffffff:
        raise _error("invalid memory symbol access", "DPU_ERR_INVALID_SYMBOL_ACCESS",
                     f"offset {number} is beyond the end of {place.shown!r}")
    place.offset = number
    return place


cdef object _error(str text, str name, str detail):
    if name is None:
        return DpuError(text, detail=detail)
    return DpuError(text, code=ErrorCode[name].value, name=name, detail=detail)


cdef int check_symbol(DpuSymbol symbol) except -1:
    """Refuse a symbol that is larger than its memory: sizes are those that the file claims."""
    cdef uint32_t address = symbol.c.address
    if address & 0x80000000:
        memory, start, limit = "iram", address & 0x7fffffff, DPU_MACHINE_IRAM * 8
    elif address & 0x08000000:
        memory, start, limit = "mram", address & ~<uint32_t>0x08000000, DPU_MACHINE_MRAM
    else:
        memory, start, limit = "wram", address, DPU_MACHINE_WRAM_ROOM
    if start + <unsigned long long>symbol.c.size > limit:
        raise _error(
            f"invalid {memory} access", f"DPU_ERR_INVALID_{memory.upper()}_ACCESS",
            f"symbol {symbol.name!r} at {address:#x} claims {symbol.c.size} bytes, which end "
            f"beyond the {limit} bytes of {memory.upper()}",
        )
    return 0


cdef Buffer _acquire(object obj, bint writable, bint in_list):
    cdef Buffer buffer
    if not PyObject_CheckBuffer(obj) and not has_array(obj):
        raise TypeError(f"a bytes-like object is required, not {type(obj).__name__!r}")
    try:
        buffer = Buffer(obj, writable=writable)
    except ReadOnlyError as error:
        if in_list:
            raise
        # Error of UPMEM's package for a single buffer.
        raise ReadOnlyError(f"underlying buffer is not writable: {error}") from None
    return buffer


cdef Py_ssize_t _check_size(object size, Py_ssize_t available) except -1:
    if size is None:
        return available
    number = index(size)
    if number < 0:
        raise ValueError(f"a size cannot be negative: {number}")
    if number > available:
        raise _error("host buffer is too small", None,
                     f"{number} bytes were asked for, and the buffer has {available}")
    return number


cdef int copy_buffers(SetView view, object dst, object src, object size, object offset,
                      bint asynchronous) except -1:
    cdef bint to_dpu = isinstance(dst, (str, DpuSymbol))
    cdef _Place place
    if to_dpu == isinstance(src, (str, DpuSymbol)):
        raise _error("can only execute Host <-> DPU transfers", None,
                     "one of dst and src must be a symbol (str or DpuSymbol), and the other a "
                     "buffer or a list of buffers")
    place = _make_place(dst if to_dpu else src, offset)
    host = src if to_dpu else dst
    if isinstance(host, (list, tuple)):
        if len(host) == 1 and view.dpu1 - view.dpu0 == 1 and host[0] is not None:
            host = host[0]
        else:
            return _copy_list(view, place, host, size, to_dpu, asynchronous)
    try:
        return _copy_one(view, place, host, size, to_dpu, asynchronous)
    except DpuError as error:
        if to_dpu and getattr(host, "ndim", 1) > 1 and len(host) == view.dpu1 - view.dpu0:
            hint = (f"each DPU gets all {host.nbytes} bytes of an array of {host.ndim} dimensions; "
                    f"list(array) has a row for each of the {len(host)} DPUs")
            error.detail = f"{error.detail}; {hint}"
            error.add_note(hint)
        raise


cdef int _copy_one(SetView view, _Place place, object host, object size, bint to_dpu,
                   bint asynchronous) except -1:
    cdef Buffer buffer = _acquire(host, not to_dpu, False)
    cdef size_t count = <size_t>_check_size(size, buffer.nbytes)
    cdef int flags = DPU_XFER_ASYNC if asynchronous else DPU_XFER_DEFAULT
    cdef dpu_error_t rc
    cdef unsigned long mark
    cdef list entry = None
    if not to_dpu:
        # Each DPU in turn would write to the same memory, so that the last one's data remains.
        return _move(view, place, [None] * (view.dpu1 - view.dpu0 - 1) + [buffer], count, False,
                     asynchronous)
    view.enter("dpu_broadcast_to")
    try:
        if asynchronous:
            view.wait_room("dpu_broadcast_to")
            entry = view.keep(buffer)
        else:
            view.wait_idle("dpu_broadcast_to")
        mark = view.handle.sequence
        rc = _broadcast(view, place, buffer.ptr, count, flags)
        if entry is not None:
            view.submitted(entry)
            if rc != DPU_OK:
                view.handle.forget(buffer)
        view.check(rc, "dpu_broadcast_to")
        if entry is None:
            view.settle(mark)
    finally:
        view.leave()
        if entry is None:
            buffer.release()
    return 0


cdef dpu_error_t _broadcast(SetView view, _Place place, const void *data, size_t count,
                            int flags) except? 0x7fffffff:
    cdef dpu_set_t c = view.c
    cdef dpu_symbol_t symbol = place.symbol
    cdef uint32_t offset = place.offset
    cdef const char *name = NULL
    cdef SetHandle handle = view.handle
    cdef dpu_error_t rc
    if place.name is not None:
        name = place.name
    with nogil:
        if name is not NULL:
            rc = handle.table.dpu_broadcast_to(c, name, offset, data, count, flags)
        else:
            rc = handle.table.dpu_broadcast_to_symbol(c, symbol, offset, data, count, flags)
    return rc


cdef int _copy_list(SetView view, _Place place, object hosts, object size, bint to_dpu,
                    bint asynchronous) except -1:
    cdef list buffers = []
    cdef Buffer buffer
    cdef Py_ssize_t count = -1
    cdef uint32_t nr_dpus = view.dpu1 - view.dpu0
    if len(hosts) != nr_dpus:
        raise _error("invalid number of host buffers for this DPU set", None,
                     f"the list has {len(hosts)}, and the set {nr_dpus} DPUs (None skips one)")
    for position, host in enumerate(hosts):
        if host is None:
            buffers.append(None)
            continue
        buffer = _acquire(host, not to_dpu, True)
        if count >= 0 and buffer.nbytes != count:
            raise _error("invalid memory transfer", "DPU_ERR_INVALID_MEMORY_TRANSFER",
                         "all buffers of a list must have the same size: number "
                         f"{position} has {buffer.nbytes} bytes, and those before it {count}")
        count = buffer.nbytes
        buffers.append(buffer)
    if count < 0:
        if size is None:
            raise _error("invalid memory symbol access", "DPU_ERR_INVALID_SYMBOL_ACCESS",
                         "every entry of the list is None, so that nothing tells the size")
        count = max(0, index(size))
    count = _check_size(size, count)
    return _move(view, place, buffers, <size_t>count, to_dpu, asynchronous)


cdef int _move(SetView view, _Place place, list buffers, size_t count, bint to_dpu,
               bint asynchronous) except -1:
    """Transfer with a buffer, or None, for each DPU."""
    cdef dpu_error_t rc
    cdef unsigned long mark
    cdef list entry = None
    cdef bint locked = False
    cdef SetHandle handle
    view.enter("dpu_push_xfer")
    handle = view.handle
    try:
        if asynchronous:
            view.wait_room("dpu_push_xfer")
            entry = view.keep(buffers)
        else:
            view.wait_idle("dpu_push_xfer")
        # A callback prepares apart from the others, and whoever holds the lock may wait for it.
        locked = not handle.in_callback()
        if locked:
            handle.transfer_lock.acquire()
        mark = handle.sequence
        try:
            rc = _prepare_and_push(view, place, buffers, count, to_dpu, asynchronous)
        finally:
            if locked:
                handle.transfer_lock.release()
        if entry is not None:
            view.submitted(entry)
            if rc != DPU_OK:
                handle.forget(buffers)
        view.check(rc, "dpu_push_xfer")
        if entry is None:
            view.settle(mark)
    finally:
        view.leave()
        # The exports end now, and not when the objects are collected.
        if entry is None:
            for buffer in buffers:
                if buffer is not None:
                    (<Buffer>buffer).release()
    return 0


cdef dpu_error_t _prepare_and_push(SetView view, _Place place, list buffers, size_t count,
                                   bint to_dpu, bint asynchronous) except? 0x7fffffff:
    cdef dpu_set_t c = view.c
    cdef dpu_symbol_t symbol = place.symbol
    cdef uint32_t offset = place.offset
    cdef int direction = DPU_XFER_TO_DPU if to_dpu else DPU_XFER_FROM_DPU
    cdef int flags = DPU_XFER_ASYNC if asynchronous else DPU_XFER_DEFAULT
    cdef const char *name = NULL
    cdef SetHandle handle = view.handle
    cdef dpu_error_t rc = DPU_OK
    cdef Py_ssize_t i
    cdef Buffer buffer
    if place.name is not None:
        name = place.name
    for i in range(len(buffers)):
        if buffers[i] is None:
            continue
        buffer = <Buffer>buffers[i]
        # An empty buffer may have no address, which would mean that the DPU is skipped.
        rc = handle.table.dpu_prepare_xfer(
            handle.dpu_sets[view.dpu0 + i],
            buffer.ptr if buffer.ptr is not NULL else <void *>&_nothing,
        )
        if rc != DPU_OK:
            break
    if rc == DPU_OK:
        with nogil:
            if name is not NULL:
                rc = handle.table.dpu_push_xfer(c, direction, name, offset, count, flags)
            else:
                rc = handle.table.dpu_push_xfer_symbol(c, direction, symbol, offset, count, flags)
    if rc != DPU_OK:
        # They would take part in the next transfer. The explanation stays: this succeeds.
        handle.table.dpu_prepare_xfer(c, NULL)
    return rc


cdef char _nothing = 0
