# SPDX-License-Identifier: BSD-3-Clause
"""Configuration of an `accl`: its device, rx buffers, communicators, types, limits and memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from accl._device import Device
from accl._operand import dtype_number
from accl._streams import Streams
from accl.arithmetic import ACCL_DEFAULT_ARITH_CONFIG, ACCLArithConfig
from accl.buffer import ACCLBuffer
from accl.communicator import ACCLCommunicator
from accl.constants import (
    CFGRDY_OFFSET,
    EXCHANGE_MEM_OFFSET_ADDRESS,
    GLOBAL_COMM,
    CCLOCfgFunc,
)
from accl.device import CCLODevice, ExchangeMemory
from accl.environment import read_setting
from accl.errors import ACCLArgumentError, ACCLNotConfiguredError
from accl.rxbuffer import RECORD_BYTES, RxBuffer

if TYPE_CHECKING:
    from accl._control import Control
    from accl._handle import ACCLHandle
    from accl._native import Library

__all__ = ["Setup"]


# Registers begin here; the words of arithmetic configurations end here.
REGISTERS = 0x1FC0
# The data movers of the original take no longer segments.
SEGMENT_LIMIT = 8388544
DEFAULT_TIMEOUT_MS = 1_000_000
NOWHERE = 0xFFFF_FFFF
_STACKS = {"UDP": 0, "TCP": 1, "AXIS": 1}


class Setup:
    """The part of an `accl` that configures it."""

    if TYPE_CHECKING:
        # Of the whole class.
        config_rdy: bool
        _control: Control

    def _open(
        self,
        *,
        protocol: str | None = None,
        sim_mode: bool = True,
        xclbin: str | os.PathLike[str] | None = None,
        sim_sock: str | None = None,
        board_idx: int | None = None,
        cclo_idx: int = 0,
        unified: bool | None = None,
        job: str | None = None,
        library: str | os.PathLike[str] | Library | None = None,
        memory_bytes: int = 0,
    ) -> None:
        """Open the device, without rx buffers and communicators."""
        from accl._native import library_info

        chosen = "TCP" if protocol is None else str(protocol).upper()
        if chosen == "RDMA":
            raise ValueError("RDMA not supported yet")
        if chosen not in _STACKS:
            raise ValueError(f"Unrecognized Protocol: {protocol!r}; there are TCP, UDP and AXIS")
        if not sim_mode and xclbin is None and library_info(library)["devices"]:
            raise ValueError("FPGA bitstream must be provided")
        if unified is None:
            unified = read_setting("ACCL_MEMORY") == "unified"

        self.protocol = chosen
        self.sim_mode = bool(sim_mode)
        self.sim_sock = sim_sock
        self.unified = bool(unified)
        self.rx_buffer_spares: list[RxBuffer] = []
        self.rx_buffer_size = 0
        self.rx_buffers_adr = EXCHANGE_MEM_OFFSET_ADDRESS
        self.tx_buf_network = None
        self.rx_buf_network = None
        self.utility_spare: ACCLBuffer | None = None
        self.communicators: list[ACCLCommunicator] = []
        # Communicators for the messages of `_vectors`, by those that they belong to.
        self._twins: dict[int, int] = {}
        self.arith_config: Mapping[tuple[str, str], ACCLArithConfig] = {}
        self.ignore_safety_checks = False
        self.segment_size: int | None = None
        self._pairs: dict[int, tuple[str, str]] = {}
        self._pending_arithmetic: Mapping[tuple[str, str], ACCLArithConfig] = (
            ACCL_DEFAULT_ARITH_CONFIG
        )
        self._device = Device(
            library,
            unified=self.unified,
            memory_bytes=memory_bytes,
            stack=_STACKS[chosen],
            job=job,
            xclbin=None if xclbin is None else os.fspath(xclbin),
            endpoint=None if xclbin is not None else sim_sock,
            board=0 if board_idx is None else board_idx,
            cclo=cclo_idx,
        )
        self._control.open(self._device)
        self._mmio = ExchangeMemory(self._control)
        self.streams = Streams(self._device)

    def setup_rx_buffers(self, nbufs: int, bufsize: int, devicemem: Any = None) -> None:
        """Make the pool of rx buffers, before the first communicator.

        Parameters
        ----------
        nbufs : int
            Number of buffers, 1 to 254.
        bufsize : int
            Bytes per buffer; rounded up to a multiple of 64.
        devicemem : object
            Accepted: there is one memory.
        """
        if self.communicators and (len(self.rx_buffer_spares), self.rx_buffer_size) == (
            nbufs,
            bufsize,
        ):
            return

        self._control.setup_rx_buffers(nbufs, bufsize)
        self.rx_buffer_size = bufsize
        self.rx_buffer_spares = [RxBuffer(self._mmio, number) for number in range(nbufs)]
        if self.config_rdy:
            self.utility_spare = self.allocate((bufsize,), dtype=np.int8)

    def configure_communicator(
        self, ranks: Sequence[Mapping[str, Any]] | Mapping[int, Mapping[str, Any]], local_rank: int
    ) -> None:
        """Add a communicator. The first one has all ranks, and sets the rank of this instance.

        Parameters
        ----------
        ranks : sequence of dict
            As for the constructor.
        local_rank : int
            The rank of this instance.
        """
        listed = list(ranks.values()) if isinstance(ranks, Mapping) else list(ranks)
        if not self.rx_buffer_spares:
            raise ACCLNotConfiguredError(
                "RX buffers unconfigured, please call setup_rx_buffers() first"
            )

        made = ACCLCommunicator(listed, local_rank, len(self.communicators), self._mmio)
        number = self._control.create_communicator(listed, local_rank)
        self._append(made, number)
        if not self.config_rdy:
            self._become_ready()

    def _append(self, made: ACCLCommunicator, number: int) -> None:
        address = self._control.communicator_address(number)
        made.exchmem_addr = None if address == NOWHERE else address
        self.communicators.append(made)

    def _become_ready(self) -> None:
        self.config_rdy = True
        # The vendor's driver has no memory before this.
        self.utility_spare = self.allocate((self.rx_buffer_size,), dtype=np.int8)
        self.configure_arithmetic(self._pending_arithmetic)
        self.cclo.write(CFGRDY_OFFSET, 1)
        self.set_timeout(DEFAULT_TIMEOUT_MS)
        self._control.configure(CCLOCfgFunc.enable_pkt, 0, "enable_pkt")
        self.segment_size = self.rx_buffer_size
        if 8 <= self.rx_buffer_size < SEGMENT_LIMIT:
            self._control.configure(
                CCLOCfgFunc.set_max_segment_size, self.rx_buffer_size, "set_max_segment_size"
            )

    def split_communicator(self, indices: Iterable[int]) -> int:
        """Add a communicator of some ranks of the global one.

        All of its ranks must make these calls in the same order.

        Parameters
        ----------
        indices : iterable of int
            Its ranks in the global one, which are sorted without duplicates. This rank must be
            among them.

        Returns
        -------
        int
            Its number, for ``comm_id``.
        """
        if not self.communicators:
            raise ACCLNotConfiguredError("No global communicator defined")

        chosen = sorted({index(number) for number in indices})
        made = self.communicators[0].split(chosen, len(self.communicators))
        number: int = self._control.split_communicator(GLOBAL_COMM, chosen)[0]
        self._append(made, number)
        return number

    def free_communicator(self, comm_id: int) -> None:
        """Free a communicator, as all of its ranks must after the same calls.

        It does not wait for the others. Its number is not used again. Messages on it should have
        been received.

        Parameters
        ----------
        comm_id : int
            Its number; the global communicator cannot be freed.

        Raises
        ------
        ACCLArgumentError
            It is the global one, was freed already, or does not exist.
        ACCLError
            A call on it has not finished.
        """
        number = index(comm_id)
        last = len(self.communicators) - 1
        if not 0 < number <= last:
            raise ACCLArgumentError(f"free_communicator: comm_id must be 1 to {last}, not {number}")
        if self.communicators[number].freed:
            raise ACCLArgumentError(f"free_communicator: communicator {number} was freed")

        for freed in (number, self._twins.pop(number, None)):
            if freed is not None:
                self._control.free_communicator(freed)
                self.communicators[freed].freed = True
                self.communicators[freed].exchmem_addr = None

    def configure_arithmetic(
        self,
        configs: Mapping[tuple[str, str], ACCLArithConfig] = ACCL_DEFAULT_ARITH_CONFIG,
    ) -> None:
        """Set the arithmetic configurations.

        Parameters
        ----------
        configs : dict
            Configurations by names of the uncompressed and the compressed type. The engine has
            the default ones; others cannot be added.
        """
        if not self.rx_buffer_spares:
            raise ACCLNotConfiguredError(
                "RX buffers unconfigured, please call setup_rx_buffers() first"
            )

        for pair in configs:
            if pair not in ACCL_DEFAULT_ARITH_CONFIG:
                raise ACCLArgumentError(
                    f"configure_arithmetic: the engine has no arithmetic for {pair}"
                )

        self._control.set_arithmetic(configs)
        self.arith_config = dict(configs)
        address = REGISTERS - 4 * sum(len(config.words()) for config in configs.values())
        self._pairs = {}
        for pair, config in configs.items():
            self._pairs[address] = pair
            address = config.write(self._mmio, address)

    @property
    def next_free_exchmem_addr(self) -> int:
        """Address of the next communicator in exchange memory."""
        ends = [
            made.exchmem_addr + 8 + 24 * len(made.ranks)
            for made in self.communicators
            if made.exchmem_addr is not None
        ]
        return max(ends, default=4 + RECORD_BYTES * len(self.rx_buffer_spares))

    def set_timeout(self, value: int, run_async: bool = False, **more: Any) -> ACCLHandle | None:
        """Set how long calls wait for other ranks.

        Parameters
        ----------
        value : int
            Milliseconds; 0 means no limit.
        run_async : bool
            Return a handle instead of waiting.
        """
        later = run_async or bool(more.pop("async", False))
        if more:
            name = next(iter(more))
            raise TypeError(f"set_timeout() got an unexpected keyword argument {name!r}")
        return self._control.configure(CCLOCfgFunc.set_timeout, value, "set_timeout", 0, later)

    def set_max_segment_size(self, value: int = 0) -> None:
        """Set the largest segment of a message, in bytes."""
        if value % 8 != 0:
            warnings.warn(
                "ACCL: dma transaction must be divisible by 8 to use reduce collectives",
                stacklevel=2,
            )
        elif value > self.rx_buffer_size:
            warnings.warn(
                "ACCL: transaction size should be less or equal to configured buffer size!",
                stacklevel=2,
            )
            return

        self._control.configure(CCLOCfgFunc.set_max_segment_size, value, "set_max_segment_size")
        self.segment_size = value

    def init_connection(self, comm_id: int = GLOBAL_COMM) -> None:
        """Open the port and the connections of a communicator."""
        self.open_port(comm_id)
        self.open_con(comm_id)

    def open_port(self, comm_id: int = GLOBAL_COMM) -> None:
        """Open the port; OPEN_PORT_NOT_SUCCEEDED with UDP, which has none."""
        self._control.configure(CCLOCfgFunc.open_port, 0, "open_port", comm_id)

    def open_con(self, comm_id: int = GLOBAL_COMM) -> None:
        """Open the connections; OPEN_CON_NOT_SUCCEEDED with UDP, which has none."""
        self._control.configure(CCLOCfgFunc.open_con, 0, "open_con", comm_id)

    def use_udp(self, comm_id: int = GLOBAL_COMM) -> None:
        """Switch to the UDP stack."""
        self._control.configure(CCLOCfgFunc.set_stack_type, 0, "use_udp", comm_id)

    def use_tcp(self, comm_id: int = GLOBAL_COMM) -> None:
        """Switch to the TCP stack."""
        self._control.configure(CCLOCfgFunc.set_stack_type, 1, "use_tcp", comm_id)

    def allocate(
        self,
        shape: int | Sequence[int],
        dtype: Any = np.float32,
        physical_address: int | None = None,
        prealloc: bool = True,
        *,
        host: bool = False,
    ) -> ACCLBuffer:
        """Allocate a buffer, with undefined contents.

        Parameters
        ----------
        shape : int or tuple of int
            Its shape.
        dtype : dtype
            Type of its elements.
        physical_address : int, optional
            Accepted and ignored: the engine chooses addresses.
        prealloc : bool
            Accepted and ignored: memory is always allocated at once.
        host : bool
            The host's view is the only copy, which the engine accesses.

        Raises
        ------
        ACCLMemoryError
            Out of memory. Allocated memory is committed.
        """
        if self._device is None:
            raise ACCLNotConfiguredError("this accl was not initialised")

        kind = np.dtype(dtype)
        if kind.hasobject:
            raise TypeError(f"a device does not support elements of type {kind}")

        extent = tuple(map(index, shape)) if isinstance(shape, Iterable) else (index(shape),)
        size = kind.itemsize
        for length in extent:
            if length < 0:
                raise ACCLArgumentError(f"the shape {shape} is not supported")
            size *= length
        if physical_address is not None:
            import logging

            logging.getLogger("accl").warning(
                "allocate: the engine chooses addresses, not %#x", physical_address
            )

        block = self._device.allocate(size, dtype_number(kind), host)
        return ACCLBuffer.of_block(block, extent, kind)

    def memory_info(self) -> dict[str, int]:
        """Return the device memory's capacity and allocated bytes, and its base address."""
        return self._device.memory_info()

    @property
    def library(self) -> Library:
        """The library that it uses."""
        return self._device.library

    @property
    def cclo(self) -> CCLODevice:
        """The registers, and calls given as words."""
        return CCLODevice(self._mmio, self.protocol, self._pairs)
