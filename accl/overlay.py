# SPDX-License-Identifier: BSD-3-Clause
"""The interface of 2021, in which the CCLO is in an overlay and configured by hand.

In such a program ``from pynq import Overlay, allocate`` becomes
``from accl.overlay import Overlay, allocate``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from accl.accl import accl
from accl.buffer import ACCLBuffer

__all__ = ["MemoryBank", "Overlay", "allocate"]


class MemoryBank:
    """A memory of an overlay, as a target for `allocate()`.

    Parameters
    ----------
    owner : accl
        The owner of the memory.
    """

    def __init__(self, owner: accl) -> None:
        self._owner = owner

    def allocate(self, *arguments: Any, **options: Any) -> ACCLBuffer:
        """Call `accl.allocate()`."""
        return self._owner.allocate(*arguments, **options)


class Overlay:
    """A bit stream with a CCLO.

    Parameters
    ----------
    bitfile_name : str or path, optional
        The bit stream; the soft engine needs none.
    **options
        Options of `accl` for the device: unified, job, library, memory_bytes, board_idx,
        cclo_idx, protocol.

    Attributes
    ----------
    cclo : accl
        Not configured: call `setup_rx_buffers()`, `configure_communicator()`, `open_port()` and
        `open_con()`.
    bank0, bank1, bank2, bank3 : MemoryBank
        Memories. The engine has one, so they are all the same.
    """

    def __init__(self, bitfile_name: str | os.PathLike[str] | None = None, **options: Any) -> None:
        self.cclo = accl.unconfigured(xclbin=bitfile_name, **options)
        bank = MemoryBank(self.cclo)
        self.bank0 = self.bank1 = self.bank2 = self.bank3 = bank

    def free(self) -> None:
        """End the CCLO."""
        self.cclo.deinit()


def allocate(
    shape: int | Sequence[int], dtype: Any = np.float32, target: MemoryBank | accl | None = None
) -> ACCLBuffer:
    """Allocate a buffer in a memory of an overlay.

    Parameters
    ----------
    shape : int or tuple of int
        Its shape.
    dtype : dtype
        Type of its elements; PYNQ's default would be a type that no CCLO can add.
    target : MemoryBank or accl
        Where; there is no default overlay.
    """
    if target is None:
        raise TypeError("allocate: a target is required, such as overlay.bank0")
    return target.allocate(shape, dtype)
