# SPDX-License-Identifier: BSD-3-Clause
"""Rx buffers, which receive messages."""

from __future__ import annotations

from accl.device import ExchangeMemory

__all__ = ["RxBuffer"]

RECORD_BYTES = 32


class RxBuffer:
    """An rx buffer, as currently described in exchange memory.

    Parameters
    ----------
    mmio : ExchangeMemory
        The registers.
    number : int
        Number of the buffer.
    """

    def __init__(self, mmio: ExchangeMemory, number: int) -> None:
        self._mmio = mmio
        self._record = 4 + RECORD_BYTES * number

    def _word(self, number: int) -> int:
        return self._mmio.read(self._record + 4 * number)

    @property
    def status(self) -> int:
        """0 idle, 1 enqueued, 2 holds a message."""
        return self._word(0)

    @property
    def physical_address(self) -> int:
        """Its device address."""
        return self._word(1) | self._word(2) << 32

    @property
    def nbytes(self) -> int:
        """Its size."""
        return self._word(3)
