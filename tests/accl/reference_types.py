# SPDX-License-Identifier: BSD-3-Clause
"""Results of reductions of each element type, step by step, with NumPy alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from accl import ACCLReduceFunctions

__all__ = ["COUNTS", "TYPES", "check_types", "functions_of"]

TYPES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
    "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
# In a post, and through memory; no multiple of a vector.
COUNTS = (7, 3_001)
SEGMENT = 1024
SUM, MAX, MIN, PROD = ACCLReduceFunctions
SPECIALS = (np.nan, np.inf, -np.inf, 0.0, -0.0)


def functions_of(name: str) -> list[ACCLReduceFunctions]:
    """List the functions that a type has."""
    return [SUM, PROD] if name.startswith("complex") else [SUM, MAX, MIN, PROD]


def _narrow(values: np.ndarray) -> np.ndarray:
    """Round float32 to what bfloat16 has: to nearest even."""
    bits = values.astype(np.float32).view(np.uint32)
    near = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) & np.uint32(
        0xFFFF0000
    )
    return np.where(np.isnan(values), np.float32(np.nan), near.view(np.float32))


def operands(name: str, rank: int, count: int) -> np.ndarray:
    """Make what a rank combines, in a type of NumPy: all values, or special ones among them."""
    rng = np.random.default_rng([rank, count])
    kind = np.dtype("float32" if name == "bfloat16" else name)
    if kind.kind == "b":
        return rng.integers(0, 2, count).astype(kind)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        return rng.integers(limits.min, limits.max, count, dtype=kind, endpoint=True)
    parts = 2 if kind.kind == "c" else 1
    numbers = rng.standard_normal(count * parts) * 2.0 ** rng.integers(-8, 9, count * parts)
    chosen = rng.random(numbers.size) < 0.2
    numbers[chosen] = rng.choice(SPECIALS, np.count_nonzero(chosen))
    if parts == 2:
        return numbers.astype(f"float{4 * kind.itemsize}").view(kind)
    return _narrow(numbers) if name == "bfloat16" else numbers.astype(kind)


def _chosen(a: np.ndarray, b: np.ndarray, greater: bool) -> np.ndarray:
    """Give the greater, or the lesser: NaN if one is, and -0 is less than +0."""
    if a.dtype.kind != "f":
        return (np.maximum if greater else np.minimum)(a, b)
    found = np.where((a > b) == greater, a, b)
    zeros = (a == 0) & (b == 0)
    found = np.where(zeros, np.where(np.signbit(a) == greater, b, a), found)
    return np.where(np.isnan(a) | np.isnan(b), a.dtype.type(np.nan), found)


def combined(name: str, a: np.ndarray, b: np.ndarray, function: int) -> np.ndarray:
    """Combine two vectors."""
    with np.errstate(all="ignore"):
        if function in (MAX, MIN):
            return _chosen(a, b, function == MAX)
        if function == PROD and a.dtype.kind == "c":
            product = np.empty_like(a)
            product.real = a.real * b.real - a.imag * b.imag
            product.imag = a.real * b.imag + a.imag * b.real
            return product
        found = a + b if function == SUM else a * b
        return _narrow(found) if name == "bfloat16" else found


def in_order(name: str, values: list[np.ndarray], function: int, first: np.ndarray) -> np.ndarray:
    """Combine the ranks' vectors, for each element from rank `first` on."""
    rows, ranks = np.stack(values), len(values)
    places = np.arange(rows.shape[1])
    found = rows[first % ranks, places]
    for step in range(1, ranks):
        found = combined(name, found, rows[(first + step) % ranks, places], function)
    return found


def ring_order(count: int, ranks: int, itemsize: int) -> np.ndarray:
    """Give the rank that each element of an allreduce begins with, as the original's ring does."""
    segment = SEGMENT // itemsize // ranks * ranks or ranks
    places = np.arange(count)
    start = places // segment * segment
    bulk = -(-np.minimum(count - start, segment) // ranks)
    return (places - start) // bulk


def _same(got: np.ndarray, wanted: np.ndarray) -> bool:
    """Compare the bits; one NaN equals another."""
    if wanted.dtype.kind == "c":
        part = f"float{4 * wanted.dtype.itemsize}"
        got, wanted = got.view(part), wanted.view(part)
    if wanted.dtype.kind == "f":
        both = np.isnan(got) & np.isnan(wanted)
        got, wanted = got[~both], wanted[~both]
    return got.tobytes() == wanted.tobytes()


def check_types(device: Any, rank: int, ranks: int, names: tuple[str, ...] = TYPES) -> list[str]:
    """Make all reductions of some types; list those with another result than the reference's."""
    device.set_max_segment_size(SEGMENT)
    wrong = []
    for name in names:
        for count in COUNTS:
            values = [operands(name, k, count * ranks) for k in range(ranks)]
            short = [value[:count] for value in values]
            source = device.allocate((count * ranks,), dtype=name)
            result = device.allocate((count,), dtype=name)
            source[:] = values[rank].astype(source.dtype)
            part = slice(rank * count, (rank + 1) * count)
            begin = np.zeros(count, int)
            ring = ring_order(count, ranks, source.dtype.itemsize)
            for function in functions_of(name):
                root = ranks - 1
                calls = {
                    "allreduce": (short, ring, source[:count], (function,)),
                    "reduce": (short, begin + root + 1, source[:count], (root, function)),
                    "reduce_scatter": ([value[part] for value in values], begin + rank + 1, source,
                                       (function,)),
                }  # fmt: skip
                for call, (rows, first, operand, arguments) in calls.items():
                    getattr(device, call)(operand, result, count, *arguments)
                    if call == "reduce" and rank != root:
                        continue
                    wanted = in_order(name, rows, function, first)
                    got = np.asarray(result)
                    got = got.astype("f4") if name == "bfloat16" else got
                    if not _same(got, wanted):
                        wrong.append(f"{call} {function.name} of {count} {name}")
                device.combine(count, function, source[:count], source[-count:], result)
                wanted = combined(name, values[rank][:count], values[rank][-count:], function)
                got = np.asarray(result)
                got = got.astype("f4") if name == "bfloat16" else got
                if not _same(got, wanted):
                    wrong.append(f"combine {function.name} of {count} {name}")
    return wrong
