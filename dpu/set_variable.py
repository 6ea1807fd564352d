# SPDX-License-Identifier: BSD-3-Clause
"""A variable on all DPUs of a set: its type and shape, and copies of whole elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._symbol import DpuSymbol
from .dtypes import types_of

if TYPE_CHECKING:
    from ._set import DpuSet

__all__ = ["SetVariable", "as_bytes", "as_elements", "convert", "find_variable"]

Array = np.ndarray[Any, Any]

_MRAM_BASE, _IRAM_BASE = 0x0800_0000, 0x8000_0000
_WRAM_UNIT, _MRAM_UNIT = 4, 8


@dataclass(frozen=True)
class SetVariable:
    """A variable of the program of a set, with the type and the shape of its elements."""

    set: DpuSet
    symbol: DpuSymbol
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of its symbol."""
        return self.symbol.name

    @property
    def unit(self) -> int:
        """Alignment of addresses and sizes of copies."""
        return _WRAM_UNIT if self.symbol.value() < _MRAM_BASE else _MRAM_UNIT

    @property
    def size(self) -> int:
        """Bytes of its elements."""
        return math.prod(self.shape) * self.dtype.itemsize

    def write(self, rows: Array, async_mode: bool | None) -> None:
        """Copy bytes to the beginning of the variable: rows of one, or of one per DPU."""
        size = rows.shape[1]
        if not size:
            return
        around = self._around(size)
        start = self.symbol.value() - around.value()
        if start or size % self.unit:
            # Bytes beside them remain.
            whole = self._read(around)
            whole[:, start : start + size] = rows
            rows = whole
        content = rows[0] if len(rows) == 1 else list(rows)
        self.set.copy(around, content, async_mode=async_mode)

    def read(self, size: int) -> Array:
        """Copy bytes from the beginning of the variable: a row per DPU."""
        if not size:
            return np.empty((len(self.set), 0), np.uint8)
        around = self._around(size)
        start = self.symbol.value() - around.value()
        return self._read(around)[:, start : start + size]

    def _around(self, size: int) -> DpuSymbol:
        """Return the range with its first bytes that can be copied."""
        first = self.symbol.value() // self.unit * self.unit
        end = -(-(self.symbol.value() + size) // self.unit) * self.unit
        return DpuSymbol(self.name, (first, end - first))

    def _read(self, around: DpuSymbol) -> Array:
        rows = np.empty((len(self.set), around.size()), np.uint8)
        self.set.copy(list(rows), around, async_mode=False)
        return rows


def find_variable(
    dpus: DpuSet,
    name: str | DpuSymbol,
    dtype: npt.DTypeLike | None,
    shape: Sequence[int] | None,
) -> SetVariable:
    """Find a variable and its type."""
    program = dpus.program
    if program is None:
        raise TypeError("no program was loaded into all DPUs of the set; use load(), or its parts")
    symbol = name if isinstance(name, DpuSymbol) else program.get_symbol(name)
    if symbol is None:
        raise KeyError(f"the program has no variable {name!r}")
    if symbol.value() >= _IRAM_BASE:
        raise TypeError(f"{symbol.name!r} is a function, not a variable")
    if dtype is None:
        kind, own = types_of(program).layout(symbol)
        found = SetVariable(dpus, symbol, kind, own)
    else:
        kind = np.dtype(dtype)
        if kind.hasobject:
            raise TypeError(f"a DPU has no Python objects, which {kind} has")
        if kind.itemsize == 0:
            raise TypeError(f"elements of the type {kind} have no bytes")
        found = SetVariable(dpus, symbol, kind, (-1,))
    return replace(found, shape=_whole_shape(found, found.shape if shape is None else shape))


def _whole_shape(variable: SetVariable, shape: Sequence[int]) -> tuple[int, ...]:
    """Return a shape with the extent that -1 stands for; check that the variable has as much."""
    extents = tuple(int(extent) for extent in shape)
    room = variable.symbol.size() // variable.dtype.itemsize
    if extents.count(-1) > 1 or any(extent < -1 for extent in extents):
        raise ValueError(f"not a shape: {extents}; at most one extent may be -1")
    if -1 in extents:
        rest = -math.prod(extents)
        extents = tuple(room // max(rest, 1) if extent == -1 else extent for extent in extents)
    if math.prod(extents) > room:
        raise ValueError(
            f"{variable.name!r} has {variable.symbol.size()} bytes, which are too few for "
            f"the shape {extents} of {variable.dtype}"
        )
    return extents


def convert(values: Array, variable: SetVariable) -> Array:
    """Convert values to the type of a variable; the same array if they have it."""
    kind = variable.dtype
    if values.dtype == kind:
        return values
    if not np.can_cast(values.dtype, kind, "same_kind") and not (
        values.dtype.kind in "iu" and kind.kind in "iu"
    ):
        raise TypeError(
            f"{variable.name!r} has elements of {kind}, and values of {values.dtype} do not become "
            "such without loss; convert them first (astype)"
        )
    converted = values.astype(kind)
    if values.dtype.kind in "iu" and kind.kind in "iu":
        wrong = values[converted != values]
        if wrong.size:
            raise ValueError(f"{variable.name!r} has elements of {kind}, which {wrong[0]} is not")
    return converted


def as_bytes(rows: Array) -> Array:
    """Return rows of bytes, of the first axis' items."""
    flat = np.ascontiguousarray(rows)
    size = math.prod(flat.shape[1:]) * flat.dtype.itemsize
    if not size:
        return np.empty((len(flat), 0), np.uint8)
    return flat.reshape(-1).view(np.uint8).reshape(len(flat), size)


def as_elements(rows: Array, variable: SetVariable, shape: tuple[int, ...]) -> Array:
    """Return rows of bytes as items of the variable's type."""
    flat = np.ascontiguousarray(rows)
    if not flat.size:
        return np.empty((len(rows), *shape), variable.dtype)
    return flat.reshape(-1).view(variable.dtype).reshape(len(rows), *shape)
