# SPDX-License-Identifier: BSD-3-Clause
"""Carries out collectives piece by piece, through memory of the device that stays in the cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from accl.accl import accl
    from accl.buffer import ACCLBuffer

__all__ = ["Row", "Stage"]

# Of each of the two blocks; what an allreduce reads and writes stays in a core's own cache.
BLOCK_BYTES = 1 << 20

# A flat array of the engine's type, or a flat tensor whose elements are converted.
Row = Any
Call = Callable[[Any, Any, int], Any]


class Stage:
    """Two blocks of device memory, for the operands and the results of pieces.

    All ranks cut a collective into the same pieces, whatever their tensors are.

    Parameters
    ----------
    device : accl
        The device, with unified memory.
    """

    def __init__(self, device: accl) -> None:
        self._device = device
        self._views: dict[np.dtype[Any], tuple[ACCLBuffer, ACCLBuffer]] = {}
        self._tensors: dict[np.dtype[Any], tuple[torch.Tensor, torch.Tensor]] = {}
        self._grow(BLOCK_BYTES)

    def _grow(self, nbytes: int) -> None:
        self._size = nbytes
        self._blocks = [self._device.allocate((nbytes,), np.uint8) for _ in range(2)]
        self._views.clear()
        self._tensors.clear()

    def close(self) -> None:
        """Give the memory back."""
        self._size = 0
        self._blocks.clear()
        self._views.clear()
        self._tensors.clear()

    def _arrays(self, kind: np.dtype[Any]) -> tuple[ACCLBuffer, ACCLBuffer]:
        found = self._views.get(kind)
        if found is None:
            whole = self._size // kind.itemsize * kind.itemsize
            first, second = (block[:whole].view(kind) for block in self._blocks)
            found = self._views[kind] = (first, second)
        return found

    def _faces(self, kind: np.dtype[Any], converts: bool) -> tuple[Any, Any]:
        """Give the blocks as what rows are copied to and from."""
        if not converts:
            first, second = self._arrays(kind)
            return first.view(np.ndarray), second.view(np.ndarray)
        found = self._tensors.get(kind)
        if found is None:
            first, second = (torch.from_numpy(one) for one in self._faces(kind, False))
            found = self._tensors[kind] = (first, second)
        return found

    def carry(
        self,
        sources: Sequence[Row],
        results: Sequence[Row],
        count: int,
        rows: int,
        kind: np.dtype[Any],
        call: Call,
        *,
        converts: bool = False,
        in_place: bool = False,
        divisor: int = 1,
    ) -> None:
        """Make a collective, piece by piece.

        Parameters
        ----------
        sources, results : sequence
            What this rank gives and gets, one row after the other: flat arrays, or tensors if
            `converts`.
        count : int
            Elements of a row.
        rows : int
            The most rows that a block holds, on any rank.
        kind : numpy.dtype
            The type in which the engine has the elements.
        call : callable
            Makes the engine's calls for a piece; is given both blocks, and elements of a row. The
            operand is in the first.
        converts : bool
            The tensors have another type.
        in_place : bool
            `call` leaves the result in the first block, not in the second.
        divisor : int
            What elements are divided by first.
        """
        if kind.itemsize * rows > self._size:
            self._grow(kind.itemsize * rows)
        step = self._size // kind.itemsize // rows
        first, second = self._arrays(kind)
        faces = self._faces(kind, converts)
        operand, result = faces[0], faces[0 if in_place else 1]
        put = _convert if converts else np.copyto
        for at in range(0, count, step):
            n = min(step, count - at)
            for row, source in enumerate(sources):
                put(operand[row * n : row * n + n], source[at : at + n])
            if divisor > 1:
                operand[: n * len(sources)] /= divisor
            call(first, second, n)
            for row, target in enumerate(results):
                put(target[at : at + n], result[row * n : row * n + n])


def _convert(target: torch.Tensor, source: torch.Tensor) -> None:
    target.copy_(source)
