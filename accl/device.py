# SPDX-License-Identifier: BSD-3-Clause
"""The CCLO of an `accl` in the form of PYNQ: registers, and calls given as numbers."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from accl.errors import ACCLArgumentError, ACCLClosedError

if TYPE_CHECKING:
    from accl._control import Control
    from accl._handle import ACCLHandle

__all__ = ["CCLODevice", "ExchangeMemory"]


class ExchangeMemory:
    """The registers and tables of an `accl`: 8 KiB, accessed by words.

    Parameters
    ----------
    control : Control
        Their owner, which is not kept alive.

    Attributes
    ----------
    base_addr : int
        Their address on the board's bus: 0.
    """

    base_addr = 0

    def __init__(self, control: Control) -> None:
        self._control = weakref.ref(control)

    def control(self) -> Control:
        """Return the object that accesses them; raise an error if the accl is gone."""
        control = self._control()
        if control is None:
            raise ACCLClosedError("the accl of these registers is gone")
        return control

    def read(self, offset: int) -> int:
        """Read the word at a multiple of 4."""
        return self.control().exchange_read(offset)

    def write(self, offset: int, val: int) -> None:
        """Write a word, which is only stored; calls configure the engine."""
        self.control().exchange_write(offset, int(val))

    def communicator_ranks(self, index: int, count: int) -> list[dict[str, Any]]:
        """List the ranks of a communicator with their current sequence numbers."""
        return self.control().communicator_ranks(index, count)


class CCLODevice:
    """The attribute ``cclo`` of an `accl`.

    Parameters
    ----------
    mmio : ExchangeMemory
        The registers.
    protocol : str or None
        The network stack.
    pairs : dict
        The types of each arithmetic configuration, by its address.

    Attributes
    ----------
    mmio : ExchangeMemory
        The registers.
    devicemem, rxbufmem, networkmem
        The engine has one memory, so they are all the same.
    protocol : str or None
        The network stack.
    """

    devicemem = "memory"
    rxbufmem = ("memory",)
    networkmem = ("memory",)

    def __init__(
        self, mmio: ExchangeMemory, protocol: str | None, pairs: dict[int, tuple[str, str]]
    ) -> None:
        self.mmio = mmio
        self.protocol = protocol
        self._pairs = pairs

    def read(self, offset: int) -> int:
        """Read a word of exchange memory."""
        return self.mmio.read(offset)

    def write(self, offset: int, val: int) -> None:
        """Write a word of exchange memory."""
        self.mmio.write(offset, val)

    def _invoke(self, run_async: bool, arguments: tuple[Any, ...]) -> Any:
        if len(arguments) != 12:
            raise TypeError(f"a call has 12 words, not {len(arguments)}")

        config, compression, stream = arguments[6:9]
        pair = None
        if config:
            pair = self._pairs.get(int(config))
            if pair is None:
                raise ACCLArgumentError(f"no arithmetic configuration at {config:#x}")

        addresses = [int(address) for address in arguments[9:]]
        return self.mmio.control().call(
            arguments[:6], pair, (compression, stream), addresses, run_async, ()
        )

    def call(self, *arguments: Any) -> None:
        """Execute a call.

        Parameters
        ----------
        *arguments : int
            scenario, count, comm (address), root_src_dst, function, tag, arithmetic configuration
            (address, 0 for none), compression flags, stream flags, and three device addresses.
        """
        self._invoke(False, arguments)

    def start(self, *arguments: Any) -> ACCLHandle:
        """Start a call; parameters as for `call()`. Its memory must outlive it."""
        handle: ACCLHandle = self._invoke(True, arguments)
        return handle
