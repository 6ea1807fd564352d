# SPDX-License-Identifier: BSD-3-Clause
"""Configuration, registers and memory of a device, and calls given as numbers."""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset
from accl._calls cimport Caller
from accl._device cimport Device
from accl._handle cimport run_call, start_call
from accl._operand cimport Operand, dtype_name, engine_dtype, take, whole_code
from accl.libaccl cimport (
    ACCL_CONFIG,
    ACCL_NONE,
    ACCL_OK,
    ACCL_REACH_AUTO,
    ACCL_REACH_PACKETS,
    ACCL_REACH_SHARED,
    accl_call,
    accl_communicator_info_t,
    accl_rank,
    accl_table,
)

from operator import index

import numpy as np

from accl.communicator import NO_SESSION
from accl.errors import ACCLArgumentError

__all__ = ["Control"]

_REACH = {
    "auto": ACCL_REACH_AUTO, "shared": ACCL_REACH_SHARED, "packets": ACCL_REACH_PACKETS
}


cdef uint32_t _word(object value, str what) except? 0xfffffffe:
    number = index(value)
    if not 0 <= number <= 0xffffffff:
        raise ACCLArgumentError(f"{what} has 32 bits, and cannot be {value}")
    return number


cdef int _dump_text(Device device, int which, uint32_t comm, char *text, size_t space,
                    size_t *needed) noexcept nogil:
    cdef const accl_table *table = device.table
    if which == 0:
        return table.accl_dump_rx_buffers(device.c, text, space, needed)
    if which == 1:
        return table.accl_dump_communicator(device.c, comm, text, space, needed)
    if which == 2:
        return table.accl_dump_exchange_memory(device.c, text, space, needed)

    return table.accl_dump_waits(device.c, text, space, needed)


cdef class Control:
    """Access by numbers: configuration, registers, memory, and calls.

    Parameters
    ----------
    caller : Caller
        The state that it shares with the calls of its `accl`.
    """

    cdef object __weakref__
    cdef Caller caller
    cdef Device device

    def __init__(self, Caller caller not None):
        self.caller = caller

    def __reduce_ex__(self, protocol):
        raise TypeError("the registers of an accl cannot be pickled")

    def open(self, Device device not None):
        """Attach to a device."""
        self.device = self.caller.device = device

    def configure(self, uint32_t function, object value, str name, object comm_id=0,
                  bint run_async=False):
        """Make a configuration call."""
        cdef accl_call call
        if not 0 <= index(value) <= 0xffffffff:
            raise ACCLArgumentError(f"{name}: the value has 32 bits, and cannot be {value}")

        self.caller.begin(&call, ACCL_CONFIG, comm_id, name)
        call.function = function
        call.count = index(value)
        return self.caller.finish(&call, NULL, 0, True, run_async, (), (), name)

    def set_arithmetic(self, configs):
        """Set the arithmetic configurations."""
        self.caller.set_configs(configs)

    cdef Device _enter(self, str name):
        if self.device is None:
            raise TypeError(f"{name}: this accl was not initialised")
        self.device.enter(name)
        return self.device

    cdef int _leave(self, int status, str name) except -1:
        cdef Device device = self.device
        device.leave()
        if status != ACCL_OK:
            device.fail(status, name)
        return 0

    def setup_rx_buffers(self, count, nbytes):
        cdef uint32_t n = _word(count, "nbufs")
        cdef uint64_t size
        cdef int status
        if index(nbytes) < 0:
            raise ACCLArgumentError(f"bufsize cannot be {nbytes}")

        size = index(nbytes)
        self._enter("setup_rx_buffers")
        with nogil:
            status = self.device.table.accl_setup_rx_buffers(self.device.c, n, size)
        self._leave(status, "setup_rx_buffers")
        self.device.raise_interruption()

    def create_communicator(self, ranks, local_rank):
        """Add a communicator; return its number."""
        cdef uint32_t n = len(ranks)
        cdef uint32_t me = _word(local_rank, "local_rank")
        cdef uint32_t id = 0
        cdef uint32_t i
        cdef int status
        from ipaddress import IPv4Address
        cdef accl_rank *c = <accl_rank *>calloc(n + 1, sizeof(accl_rank))
        if c is NULL:
            raise MemoryError()

        try:
            for i in range(n):
                rank = ranks[i]
                c[i].ip = int(IPv4Address(rank["ip"]))
                c[i].port = _word(rank["port"], "a port")
                c[i].session = _word(rank.get("session_id", NO_SESSION), "a session_id")
                c[i].max_segment_size = _word(rank["max_segment_size"], "max_segment_size")
                reach = rank.get("reach", "auto")
                if reach not in _REACH:
                    raise ACCLArgumentError(
                        f"reach of rank {i} must be one of {', '.join(_REACH)}, not {reach!r}"
                    )
                c[i].reach = _REACH[reach]
            self._enter("configure_communicator")
            with nogil:
                status = self.device.table.accl_create_communicator(
                    self.device.c, c, n, me, &id
                )
            self._leave(status, "configure_communicator")
        finally:
            free(c)

        if id == 0:
            self.device.rank = me
        self.caller.add_communicator(n, me)
        self.device.raise_interruption()
        return id

    def split_communicator(self, comm, indices):
        """Add a communicator of some ranks of another; return its number, size and local rank."""
        cdef uint32_t parent = _word(comm, "comm_id")
        cdef uint32_t n = len(indices)
        cdef uint32_t id = 0
        cdef uint32_t i
        cdef int status
        cdef uint32_t *c = <uint32_t *>calloc(n + 1, sizeof(uint32_t))
        cdef accl_communicator_info_t info
        if c is NULL:
            raise MemoryError()

        try:
            for i in range(n):
                c[i] = _word(indices[i], "a rank")
            self._enter("split_communicator")
            with nogil:
                status = self.device.table.accl_split_communicator(self.device.c, parent, c, n, &id)
            self._leave(status, "split_communicator")
        finally:
            free(c)

        memset(&info, 0, sizeof(info))
        info.size = sizeof(info)
        self._enter("split_communicator")
        with nogil:
            status = self.device.table.accl_communicator_info(self.device.c, id, &info)
        self._leave(status, "split_communicator")
        self.caller.add_communicator(info.ranks, info.local_rank)
        self.device.raise_interruption()
        return id, info.ranks, info.local_rank

    def free_communicator(self, comm):
        """Free a communicator."""
        cdef uint32_t id = _word(comm, "comm_id")
        cdef int status
        self._enter("free_communicator")
        with nogil:
            status = self.device.table.accl_free_communicator(self.device.c, id)
        self._leave(status, "free_communicator")
        self.caller.remove_communicator(id)
        self.device.raise_interruption()

    def communicator_address(self, comm):
        """Address of a communicator in exchange memory."""
        cdef uint32_t id = comm
        cdef accl_communicator_info_t info
        cdef int status
        memset(&info, 0, sizeof(info))
        info.size = sizeof(info)
        self._enter("communicator")
        with nogil:
            status = self.device.table.accl_communicator_info(self.device.c, id, &info)
        self._leave(status, "communicator")
        return info.exchange_address

    cdef accl_rank *get_ranks(self, uint32_t id, uint32_t n) except NULL:
        cdef accl_rank *c = <accl_rank *>calloc(<size_t>n + 1, sizeof(accl_rank))
        cdef int status
        if c is NULL:
            raise MemoryError()

        try:
            self._enter("communicator")
            with nogil:
                status = self.device.table.accl_communicator_ranks(self.device.c, id, c, n)
            self._leave(status, "communicator")
        except BaseException:
            free(c)
            raise

        return c

    def communicator_ranks(self, comm, n):
        """List the ranks of a communicator, with their current sequence numbers."""
        from ipaddress import IPv4Address
        cdef accl_rank *c = self.get_ranks(comm, n)
        try:
            return [
                {
                    "ip": str(IPv4Address(c[i].ip)),
                    "port": c[i].port,
                    "inbound_seq_number": c[i].inbound_sequence,
                    "outbound_seq_number": c[i].outbound_sequence,
                    "session_id": c[i].session,
                    "max_segment_size": c[i].max_segment_size,
                }
                for i in range(n)
            ]
        finally:
            free(c)

    def has_packets(self):
        """Return whether a rank is reached through packets, which must be carried."""
        cdef uint32_t n = self.caller.sizes[0] if self.caller.n_comms else 0
        cdef accl_rank *c = self.get_ranks(0, n)
        try:
            return any(c[i].reach == ACCL_REACH_PACKETS for i in range(n))
        finally:
            free(c)

    def exchange_read(self, offset):
        cdef uint32_t at = _word(offset, "an offset")
        cdef uint32_t value = 0
        cdef int status
        self._enter("read")
        with nogil:
            status = self.device.table.accl_exchange_read(self.device.c, at, &value)
        self._leave(status, "read")
        return value

    def exchange_write(self, offset, value):
        cdef uint32_t at = _word(offset, "an offset")
        cdef uint32_t word = _word(value, "a word")
        cdef int status
        self._enter("write")
        with nogil:
            status = self.device.table.accl_exchange_write(self.device.c, at, word)
        self._leave(status, "write")

    def memory_read(self, address, nbytes):
        """Read device memory by its address."""
        cdef uint64_t at = address
        cdef uint64_t size = nbytes
        cdef int status
        cdef bytearray data = bytearray(nbytes)
        cdef char *p = data
        self._enter("memory")
        with nogil:
            status = self.device.table.accl_memory_read(self.device.c, at, p, size)
        self._leave(status, "memory")
        return bytes(data)

    def last_call(self):
        """Return code, and duration in seconds, of the last call."""
        cdef uint32_t retcode = 0
        cdef uint64_t duration = 0
        cdef int status
        self._enter("get_retcode")
        with nogil:
            status = self.device.table.accl_last_call(self.device.c, &retcode, &duration)
        self._leave(status, "get_retcode")
        return retcode, duration * 1e-9

    def next_tags(self, uint32_t count, uint32_t comm=0):
        """Tags of the messages that receives would take, None for ranks without one.

        Parameters
        ----------
        count : int
            The number of ranks of the communicator.
        comm : int
            The communicator.
        """
        cdef int status
        cdef uint32_t i
        cdef int64_t *tags = <int64_t *>PyMem_Malloc(max(count, 1) * sizeof(int64_t))
        if tags == NULL:
            raise MemoryError("next_tags")
        try:
            self._enter("next_tags")
            with nogil:
                status = self.device.table.accl_next_tags(self.device.c, comm, tags, count)
            self._leave(status, "next_tags")
            return [tags[i] if tags[i] >= 0 else None for i in range(count)]
        finally:
            PyMem_Free(tags)

    def dump(self, what, comm=0):
        """Return a text: 'rx', 'communicator', 'exchange' or 'waits'."""
        cdef size_t needed = 0
        cdef size_t space = 0
        cdef int status
        cdef uint32_t id = comm
        cdef bytearray text = bytearray()
        cdef char *p
        cdef int which = ["rx", "communicator", "exchange", "waits"].index(what)
        while True:
            p = text
            self._enter("dump")
            with nogil:
                status = _dump_text(self.device, which, id, p, space, &needed)
            self._leave(status, "dump")
            if needed < space:
                return text[:needed].decode("utf-8", "replace")
            space = needed + 256
            text = bytearray(space)

    def call(self, words, dtypes, flags, addresses, run_async, keep):
        """Make a call given as numbers; return a handle if `run_async`, else the return code.

        Parameters
        ----------
        words : sequence of int
            Scenario, count, communicator (its address in exchange memory, as the hardware has it),
            root_src_dst, function and tag.
        dtypes : tuple of str or None
            The uncompressed and the compressed type.
        flags : tuple of int
            Compression flags and stream flags.
        addresses : sequence of int
            Device addresses of the operands and the result.
        run_async : bool
            Return a handle instead of waiting.
        keep : tuple
            Objects that must outlive the call.
        """
        cdef accl_call call
        cdef uint32_t id = 0
        cdef uint32_t at
        cdef int status
        scenario, count, comm, root_src_dst, function, tag = words
        at = _word(comm, "comm")
        self.caller.begin(&call, _word(scenario, "scenario"), 0, "call")
        if at:
            self._enter("call")
            with nogil:
                status = self.device.table.accl_communicator_at(self.device.c, at, &id)
            self._leave(status, "call")

        call.comm = id

        self.caller.set_count(&call, count, 0, "call")
        call.root_src_dst = _word(root_src_dst, "root_src_dst")
        call.function = _word(function, "function")
        call.tag = _word(tag, "tag")
        if dtypes is not None:
            call.dtype = engine_dtype(whole_code(dtypes[0], "call"))
            if dtypes[1] != dtypes[0]:
                call.compressed_dtype = engine_dtype(whole_code(dtypes[1], "call"))

        call.compression_flags = _word(flags[0], "compression_flags")
        call.stream_flags = _word(flags[1], "stream_flags")
        call.address[0], call.address[1] = addresses[0], addresses[1]
        call.address[2] = addresses[2]

        if run_async:
            return start_call(self.device, &call, "call", keep, ())

        return run_call(self.device, &call, "call", self.caller.check_return_value_flag, keep)

    def describe(self, scenario, operands, compress_dtype):
        """Determine types, flags and addresses of `operands`: arrays, element types, or None."""
        cdef accl_call call
        cdef Operand operand
        cdef uint32_t codes[3]
        cdef int i
        memset(&call, 0, sizeof(call))
        call.operation = _word(scenario, "scenario")
        addresses = [0, 0, 0]
        for i in range(3):
            codes[i] = ACCL_NONE
            if isinstance(operands[i], (np.dtype, type, str)):
                codes[i] = whole_code(operands[i], "prepare_call")
            elif operands[i] is not None:
                take(self.device, operands[i], i == 2, &operand, f"addr_{i}", "prepare_call")
                codes[i] = whole_code(operands[i].dtype, "prepare_call")
                addresses[i] = operand.address

        if codes[0] == codes[1] == codes[2] == ACCL_NONE:
            return None, None, 0, addresses

        self.caller.set_types(&call, codes[0], codes[1], codes[2], compress_dtype, "prepare_call")
        call.dtype = engine_dtype(call.dtype)
        small = call.compressed_dtype if call.compressed_dtype != ACCL_NONE else call.dtype
        return dtype_name(call.dtype), dtype_name(small), call.compression_flags, addresses
