# SPDX-License-Identifier: BSD-3-Clause
"""Expected results of each operation, from all ranks' inputs, with NumPy alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["OPERATIONS", "REDUCING", "ROOTED", "close_enough", "expected", "input_size", "inputs"]

OPERATIONS = (
    "sendrecv",
    "copy",
    "combine",
    "bcast",
    "scatter",
    "gather",
    "allgather",
    "reduce",
    "allreduce",
    "reduce_scatter",
    "alltoall",
    "barrier",
)
ROOTED = frozenset(["bcast", "scatter", "gather", "reduce"])
REDUCING = frozenset(["combine", "reduce", "allreduce", "reduce_scatter"])
# Their input has a chunk for each rank.
CHUNKED_INPUT = frozenset(["scatter", "reduce_scatter", "alltoall"])
# By the number of the function.
FUNCTIONS = (np.add, np.maximum, np.minimum, np.multiply)
MAX, MIN = 1, 2
SPECIALS = (np.nan, np.inf, -np.inf, 0.0, -0.0)
CHUNKED_OUTPUT = frozenset(["gather", "allgather", "alltoall"])


def input_size(operation: str, count: int, ranks: int) -> int:
    """Elements of what a rank sends."""
    return count * ranks if operation in CHUNKED_INPUT else count


def output_size(operation: str, count: int, ranks: int) -> int:
    """Elements of what a rank may receive."""
    return count * ranks if operation in CHUNKED_OUTPUT else count


def inputs(
    operation: str, dtype: str, count: int, ranks: int, seed: int, func: int = 0
) -> list[np.ndarray]:
    """Make what every rank sends, the same on all of them.

    For MAX and MIN some floating-point numbers are NaN, infinite or zero of either sign, and at the
    first, the middle and the last place one rank has NaN.
    """
    rng = np.random.default_rng([seed, count, ranks])
    size = input_size(operation, count, ranks)
    made = []
    for _ in range(ranks):
        if np.dtype(dtype).kind == "i":
            # The whole range, so that sums wrap.
            limits = np.iinfo(dtype)
            made.append(rng.integers(limits.min, limits.max, size, dtype=dtype, endpoint=True))
        else:
            made.append(rng.standard_normal(size).astype(dtype))
    if func in (MAX, MIN) and np.dtype(dtype).kind == "f" and size > 0:
        for values in made:
            chosen = rng.random(size) < 0.3
            values[chosen] = rng.choice(SPECIALS, np.count_nonzero(chosen))
        for place in (0, size // 2, size - 1):
            made[rng.integers(ranks)][place] = np.nan
    return made


def combine(values: Sequence[np.ndarray], func: int, accumulator: str) -> np.ndarray:
    """Reduce vectors in a wider type where that is exact enough to be the truth."""
    with np.errstate(over="ignore"):
        wide = [value.astype(accumulator) for value in values]
        result = FUNCTIONS[func].reduce(wide, dtype=accumulator)
    if func in (MAX, MIN) and result.dtype.kind == "f":
        # NumPy has either zero; here -0 is less than +0.
        wanted = [(value == 0) & (np.signbit(value) == (func == MIN)) for value in wide]
        found = np.logical_or.reduce(wanted)
        result[result == 0] = np.where(found == (func == MAX), 0.0, -0.0)[result == 0]
    return result


def expected(
    operation: str,
    values: Sequence[np.ndarray],
    count: int,
    rank: int,
    root: int,
    func: int = 0,
    compressed: bool = False,
) -> np.ndarray | None:
    """Compute what `rank` must have afterwards, None if nothing is promised.

    Parameters
    ----------
    operation : str
        One of `OPERATIONS`; ``sendrecv`` is a shift to the next rank.
    values : sequence of numpy.ndarray
        Every rank's input.
    count : int
        As the operation takes it.
    rank, root : int
        This one, and the root of the rooted ones.
    func : int
        SUM, MAX, MIN or PROD, as in `FUNCTIONS`.
    compressed : bool
        Whether the wire carries float16; the result is then near, not equal.
    """
    ranks = len(values)
    dtype = values[0].dtype
    accumulator = "float64" if dtype.kind == "f" else dtype.name
    chunk = slice(rank * count, (rank + 1) * count)
    if compressed:
        values = [value.astype(np.float16).astype(dtype) for value in values]
    if operation == "sendrecv":
        return values[(rank - 1) % ranks]
    if operation == "copy":
        return values[rank]
    if operation == "combine":
        return combine([values[rank], values[rank][::-1]], func, accumulator)
    if operation == "bcast":
        return values[root]
    if operation == "scatter":
        return values[root][chunk]
    if operation == "gather":
        return np.concatenate(values) if rank == root else None
    if operation == "allgather":
        return np.concatenate(values)
    if operation == "reduce":
        return combine(values, func, accumulator) if rank == root else None
    if operation == "allreduce":
        return combine(values, func, accumulator)
    if operation == "reduce_scatter":
        return combine([value[chunk] for value in values], func, accumulator)
    if operation == "alltoall":
        return np.concatenate([value[chunk] for value in values])
    if operation == "barrier":
        return None
    raise ValueError(f"no such operation: {operation}")


def close_enough(
    operation: str, got: np.ndarray, want: np.ndarray, ranks: int, compressed: bool
) -> bool:
    """Return whether a result is right: exactly, or to what rounding allows if it is rounded."""
    if got.shape != want.shape:
        return False
    zero = (got == 0) & (want == 0)
    if np.any(np.signbit(got[zero]) != np.signbit(want[zero])):
        return False
    if compressed or (got.dtype == np.float16 and operation in REDUCING):
        # Each of the partial sums, of size sqrt(ranks) or so, is rounded to 11 bits.
        scale = 4.0 * ranks
        return bool(np.allclose(got, want, rtol=1e-2, atol=scale * 2.0**-10, equal_nan=True))
    if operation in REDUCING and got.dtype.kind == "f":
        limit = ranks * 8 * np.finfo(got.dtype).eps
        return bool(np.allclose(got, want, rtol=limit, atol=limit * ranks, equal_nan=True))
    return bool(np.array_equal(got, want.astype(got.dtype)))
