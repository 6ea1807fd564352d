# SPDX-License-Identifier: BSD-3-Clause
"""Calls given as numbers, and the state of an `accl` in the form of the hardware."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from accl.constants import (
    GLOBAL_COMM,
    IDCODE_OFFSET,
    RETCODE_OFFSET,
    TAG_ANY,
    ACCLStreamFlags,
    CCLOp,
    error_names,
)
from accl.errors import ACCLError

if TYPE_CHECKING:
    from accl._control import Control
    from accl._handle import ACCLHandle
    from accl.arithmetic import ACCLArithConfig
    from accl.device import ExchangeMemory
    from accl.rxbuffer import RxBuffer

__all__ = ["BareCalls"]


class BareCalls:
    """The part of an `accl` with the view of the hardware."""

    if TYPE_CHECKING:
        # Of the whole class.
        arith_config: Mapping[tuple[str, str], ACCLArithConfig]
        rx_buffer_spares: list[RxBuffer]
        _control: Control
        _mmio: ExchangeMemory

    class dummy_address:
        """Placeholder for an operand that is absent, or comes from a stream.

        Its `dtype` may be set to the type of the stream's elements.
        """

        def __init__(self, adr: int = 0) -> None:
            self.device_address = adr
            self.physical_address = adr
            self.dtype: Any = None
            self.size = 0

    def prepare_call(
        self,
        scenario: int,
        addr_0: Any,
        addr_1: Any,
        addr_2: Any,
        compress_dtype: Any = None,
    ) -> tuple[int, int, int, int, int]:
        """Determine the types, flags and addresses of a call's operands.

        Returns
        -------
        tuple of int
            Address of the arithmetic configuration (0 for none), compression flags, and three
            device addresses.
        """
        pair, flags, addresses = self._prepare(scenario, (addr_0, addr_1, addr_2), compress_dtype)
        # Data that is only moved needs no configuration.
        known = pair is not None and pair in self.arith_config
        config = self.arith_config[pair].addr if known and pair is not None else 0
        return (config, flags, addresses[0], addresses[1], addresses[2])

    def _prepare(
        self, scenario: int, operands: Sequence[Any], compress_dtype: Any
    ) -> tuple[tuple[str, str] | None, int, list[int]]:
        given = [o.dtype if isinstance(o, self.dummy_address) else o for o in operands]
        if scenario == CCLOp.barrier:
            given = [None, None, None]
        big, small, flags, addresses = self._control.describe(scenario, given, compress_dtype)
        return (None if big is None or small is None else (big, small)), flags, addresses

    def _bare_call(
        self,
        run_async: bool,
        words: tuple[int, int, int, int, int, int],
        compress_dtype: Any,
        stream_flags: int,
        operands: tuple[Any, Any, Any],
    ) -> Any:
        pair, flags, addresses = self._prepare(words[0], operands, compress_dtype)
        return self._control.call(
            words, pair, (flags, stream_flags), addresses, run_async, operands
        )

    def call_async(
        self,
        scenario: int = CCLOp.nop,
        count: int = 1,
        comm: int = GLOBAL_COMM,
        root_src_dst: int = 0,
        function: int = 0,
        tag: int = TAG_ANY,
        compress_dtype: Any = None,
        stream_flags: int = ACCLStreamFlags.NO_STREAM,
        addr_0: Any = None,
        addr_1: Any = None,
        addr_2: Any = None,
    ) -> ACCLHandle:
        """Start a call given as numbers; nothing is synchronised.

        Parameters
        ----------
        scenario : CCLOp
            The operation.
        count : int
            Number of elements; the value, for configuration.
        comm : int
            Address of the communicator in exchange memory: ``communicators[i].addr``.
        root_src_dst, function, tag, compress_dtype, stream_flags
            As for the calls.
        addr_0, addr_1, addr_2 : ACCLBuffer or dtype, optional
            First operand, second operand, result; for a stream, the type of its elements.

        Returns
        -------
        ACCLHandle
        """
        words = (scenario, count, comm, root_src_dst, function, tag)
        handle: ACCLHandle = self._bare_call(
            True, words, compress_dtype, stream_flags, (addr_0, addr_1, addr_2)
        )
        return handle

    def call_sync(
        self,
        scenario: int = CCLOp.nop,
        count: int = 1,
        comm: int = GLOBAL_COMM,
        root_src_dst: int = 0,
        function: int = 0,
        tag: int = TAG_ANY,
        compress_dtype: Any = None,
        stream_flags: int = ACCLStreamFlags.NO_STREAM,
        addr_0: Any = None,
        addr_1: Any = None,
        addr_2: Any = None,
    ) -> None:
        """Execute a call given as numbers; parameters as for `call_async()`."""
        words = (scenario, count, comm, root_src_dst, function, tag)
        self._bare_call(False, words, compress_dtype, stream_flags, (addr_0, addr_1, addr_2))

    def get_retcode(self) -> int:
        """Return the error bits of the last call."""
        return self._control.exchange_read(RETCODE_OFFSET)

    def get_hwid(self) -> int:
        """Return the word that describes the hardware."""
        return self._control.exchange_read(IDCODE_OFFSET)

    def get_duration(self) -> float:
        """Return the seconds that the last call took in the engine."""
        seconds: float = self._control.last_call()[1]
        return seconds

    def check_return_value(self, label: str = "") -> None:
        """Raise the error of the last call, if it failed.

        Parameters
        ----------
        label : str
            The name of the call.
        """
        retcode = self.get_retcode()
        if retcode:
            names = " ".join(error_names(retcode))
            raise ACCLError(
                f"CCLO @{self._mmio.base_addr:#x} during {label}: {names} you should consider "
                "resetting mpi_offload",
                retcode=retcode,
                code=retcode,
            )

    def dump_rx_buffers(self, nbufs: int | None = None) -> None:
        """Print the pool of rx buffers.

        Parameters
        ----------
        nbufs : int, optional
            How many; all by default.
        """
        lines = self._control.dump("rx").splitlines()
        shown = lines if nbufs is None else lines[: len(lines) - self._hidden(nbufs)]
        print("\n".join(shown))

    def _hidden(self, nbufs: int) -> int:
        return max(0, len(self.rx_buffer_spares) - max(0, nbufs))

    def dump_communicator(self, comm_id: int = GLOBAL_COMM) -> None:
        """Print a communicator with its current sequence numbers."""
        print(self._control.dump("communicator", comm_id))

    def dump_exchange_memory(self) -> None:
        """Print the 8 KiB of exchange memory."""
        print(self._control.dump("exchange"))

    def dump_waits(self) -> None:
        """Print what this rank, and those that it has met, currently wait for."""
        print(self._control.dump("waits"))
