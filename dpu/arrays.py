# SPDX-License-Identifier: BSD-3-Clause
"""Variables of DPU programs as NumPy arrays over all DPUs of a set.

`scatter()` splits an array over the DPUs, `gather()` puts the parts together again, and
`broadcast()` copies one array to all. Types and shapes of variables come from the debug information
of the program.

>>> from dpu.arrays import gather, scatter
>>> counts = scatter(dpus, "block", values, counts_to="length")
>>> dpus.exec()
>>> gather(dpus, "result", counts="length")
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .set_variable import SetVariable, as_bytes, as_elements, convert, find_variable

if TYPE_CHECKING:
    from ._set import DpuSet
    from ._symbol import DpuSymbol

__all__ = ["broadcast", "gather", "layout", "scatter"]

Array = np.ndarray[Any, Any]
_Counts = Sequence[int] | npt.NDArray[np.integer[Any]]


def layout(dpus: DpuSet, name: str | DpuSymbol) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return the dtype and the shape that a variable has on each DPU, by the debug information.

    Parameters
    ----------
    dpus : DpuSet
        A set into which one program was loaded.
    name : str or DpuSymbol
        The variable.

    Raises
    ------
    KeyError
        The program has no such variable.
    TypeError
        There is no debug information of it, or NumPy has no type like it.
    """
    found = find_variable(dpus, name, None, None)
    return found.dtype, found.shape


def scatter(
    dpus: DpuSet,
    name: str | DpuSymbol,
    array: npt.ArrayLike,
    axis: int | None = 0,
    *,
    counts: _Counts | None = None,
    counts_to: str | None = None,
    fill: Any = 0,
    dtype: npt.DTypeLike | None = None,
    shape: Sequence[int] | None = None,
    async_mode: bool | None = None,
) -> npt.NDArray[np.int64]:
    """Split an array over the DPUs of a set: each gets a part of it at the start of a variable.

    Parts differ by at most one element, and the longer ones are first, as for
    `numpy.array_split`. Shorter parts are followed by `fill` up to the length of the longest. What
    is after that keeps its value if the array was split along the first axis, except for at most
    one word of memory; along another it is `fill` too.

    Parameters
    ----------
    dpus : DpuSet
        The set, or a part of one.
    name : str or DpuSymbol
        The variable.
    array : array-like
        What to split. Its extents are those of the variable, except along `axis`. If
        the variable is a single number, there is one element per DPU.
    axis : int or None
        The axis that is split. None: the first axis counts the DPUs, and each gets an item of it.
    counts : sequence of int, optional
        How many elements each DPU gets, instead of equal parts.
    counts_to : str, optional
        An integer variable of the program that is set to each DPU's number of elements.
    fill : scalar
        Value after parts that are shorter than others.
    dtype : dtype-like, optional
        Type of the elements, for a program without debug information, or to see them as others.
    shape : sequence of int, optional
        Shape of the variable, in which one extent may be -1; with `dtype` it is (-1,) by default.
    async_mode : bool, optional
        As for `DpuSet.copy()`.

    Returns
    -------
    numpy.ndarray
        The number of elements on each DPU, for `gather()`.

    Raises
    ------
    KeyError
        The program has no such variable.
    TypeError
        Its type is not known, or values of the array's type do not become values of it.
    ValueError
        The array has another shape, a part does not fit into the variable, or a value does not fit
        into its type.
    """
    variable = find_variable(dpus, name, dtype, shape)
    values = convert(np.asarray(array), variable)
    number = len(dpus)
    if axis is None or not variable.shape:
        rows = _stacked(values, variable, number)
        given = np.ones(number, np.int64)
    else:
        axis = _checked_axis(axis, variable)
        given = _checked_counts(counts, values, axis, variable, number)
        rows = _split(values, given, axis, variable, fill)
    if counts_to is not None:
        scatter(dpus, counts_to, given, axis=None, async_mode=async_mode)
    variable.write(rows, async_mode)
    return given


def gather(
    dpus: DpuSet,
    name: str | DpuSymbol,
    axis: int | None = 0,
    *,
    counts: _Counts | str | None = None,
    dtype: npt.DTypeLike | None = None,
    shape: Sequence[int] | None = None,
) -> Array:
    """Join the parts of an array that the DPUs of a set have in a variable.

    Parameters
    ----------
    dpus : DpuSet
        The set, or a part of one.
    name : str or DpuSymbol
        The variable.
    axis : int or None
        The axis along which the parts are joined. None: a new first axis counts the DPUs. A
        variable that is a single number gives an array with one element per DPU.
    counts : sequence of int or str, optional
        How many elements each DPU has: what `scatter()` returned, or the name of an integer
        variable of the program. By default all of the variable.
    dtype, shape : optional
        As for `scatter()`.

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    KeyError
        The program has no such variable.
    TypeError
        Its type is not known.
    ValueError
        A DPU would have more elements than fit into the variable, or less than none.
    """
    variable = find_variable(dpus, name, dtype, shape)
    number = len(dpus)
    if axis is None or not variable.shape:
        if counts is not None:
            raise ValueError("counts need an axis along which the parts are joined")
        return as_elements(variable.read(variable.size), variable, variable.shape)
    axis = _checked_axis(axis, variable)
    extent = variable.shape[axis]
    if isinstance(counts, str):
        counts = gather(dpus, counts, axis=None)
    taken = np.full(number, extent) if counts is None else _integers(counts, "counts", number)
    _check_fits(taken, extent, variable)

    longest = int(taken.max(initial=0))
    lengths = (longest, *variable.shape[1:]) if axis == 0 else variable.shape
    rows = as_elements(
        variable.read(math.prod(lengths) * variable.dtype.itemsize), variable, lengths
    )
    if axis == 0 and (taken == longest).all():
        return rows.reshape(-1, *lengths[1:]) if rows.size else rows.reshape(0, *lengths[1:])
    return np.concatenate(
        [np.take(row, range(count), axis) for row, count in zip(rows, taken, strict=True)], axis
    )


def broadcast(
    dpus: DpuSet,
    name: str | DpuSymbol,
    array: npt.ArrayLike,
    *,
    dtype: npt.DTypeLike | None = None,
    shape: Sequence[int] | None = None,
    async_mode: bool | None = None,
) -> None:
    """Copy an array to a variable on all DPUs of a set.

    Parameters
    ----------
    dpus : DpuSet
        The set, or a part of one.
    name : str or DpuSymbol
        The variable.
    array : array-like
        The values, in the shape of the variable. The first extent may be smaller; the rest of the
        variable then keeps its value.
    dtype, shape, async_mode : optional
        As for `scatter()`.

    Raises
    ------
    KeyError, TypeError, ValueError
        As for `scatter()`.
    """
    variable = find_variable(dpus, name, dtype, shape)
    values = convert(np.asarray(array), variable)
    whole = variable.shape
    if values.shape[1:] != whole[1:] or values.ndim != len(whole):
        raise ValueError(f"{variable.name!r} has the shape {whole}, and the array {values.shape}")
    if whole and values.shape[0] > whole[0]:
        raise ValueError(
            f"{variable.name!r} has room for {whole[0]} elements, and the array has "
            f"{values.shape[0]}"
        )
    variable.write(as_bytes(values[np.newaxis]), async_mode)


# --- parts ----------------------------------------------------------------------------------


def _checked_axis(axis: int, variable: SetVariable) -> int:
    if not -len(variable.shape) <= axis < len(variable.shape):
        raise ValueError(
            f"{variable.name!r} has {len(variable.shape)} axes, so that {axis} is none"
        )
    return axis % len(variable.shape)


def _integers(counts: Any, what: str, number: int) -> npt.NDArray[np.int64]:
    given = np.asarray(counts)
    if given.dtype.kind not in "iu" and given.size:
        raise TypeError(f"{what} must be integers, not {given.dtype}")
    if given.shape != (number,):
        raise ValueError(f"{what} must be one per DPU, which are {number}; got {given.shape}")
    return given.astype(np.int64)


def _check_fits(counts: npt.NDArray[np.int64], extent: int, variable: SetVariable) -> None:
    wrong = np.flatnonzero((counts < 0) | (counts > extent))
    if wrong.size:
        raise ValueError(
            f"{variable.name!r} has room for {extent} elements, and DPU {wrong[0]} would have "
            f"{counts[wrong[0]]}"
        )


def _checked_counts(
    counts: _Counts | None, values: Array, axis: int, variable: SetVariable, number: int
) -> npt.NDArray[np.int64]:
    """Return how many elements each DPU gets."""
    whole = variable.shape
    others = values.shape[:axis] + values.shape[axis + 1 :]
    if values.ndim != len(whole) or others != whole[:axis] + whole[axis + 1 :]:
        wanted = ", ".join("any" if i == axis else str(extent) for i, extent in enumerate(whole))
        raise ValueError(
            f"{variable.name!r} has the shape {whole}, so that an array split along axis {axis} "
            f"has the shape ({wanted}), not {values.shape}; `shape` and `axis` say otherwise"
        )
    total = values.shape[axis]
    if counts is None:
        given = np.full(number, total // number, np.int64)
        given[: total % number] += 1
    else:
        given = _integers(counts, "counts", number)
    _check_fits(given, whole[axis], variable)
    if given.sum() != total:
        raise ValueError(f"the counts are {given.sum()} elements, and the array has {total}")
    return given


def _stacked(values: Array, variable: SetVariable, number: int) -> Array:
    if values.shape != (number, *variable.shape):
        raise ValueError(
            f"{variable.name!r} has the shape {variable.shape} on each of {number} DPUs, so that "
            f"the array has the shape {(number, *variable.shape)}, not {values.shape}"
        )
    return as_bytes(values)


def _split(
    values: Array,
    counts: npt.NDArray[np.int64],
    axis: int,
    variable: SetVariable,
    fill: Any,
) -> Array:
    """Return the bytes of each part, all of the same size."""
    number, longest = len(counts), int(counts.max(initial=0))
    extent = longest if axis == 0 else variable.shape[axis]
    item = math.prod(variable.shape[1:]) * variable.dtype.itemsize
    # Up to whole words with fill, if it has place for them: it need not be read before.
    while axis == 0 and extent * item % variable.unit and extent < variable.shape[0]:
        extent += 1
    if axis == 0 and (counts == extent).all():
        return as_bytes(values.reshape(number, extent, *values.shape[1:]))

    lengths = list(variable.shape)
    lengths[axis] = extent
    padded = np.full((number, *lengths), np.asarray(fill).astype(variable.dtype))
    start = 0
    for part, count in zip(padded, counts, strict=True):
        source = (slice(None),) * axis + (slice(start, start + count),)
        part[(slice(None),) * axis + (slice(0, count),)] = values[source]
        start += count
    return as_bytes(padded)
