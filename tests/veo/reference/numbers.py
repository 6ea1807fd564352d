# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of the Vector Engine as Python has them: integers, and fractions rounded once."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction

MASK32 = 2**32 - 1
MASK64 = 2**64 - 1


def signed(value: int, bits: int) -> int:
    """Take the lowest bits of a value for a number in two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def f64(bits: int) -> float:
    """Take 64 bits for a double."""
    return float(struct.unpack("<d", struct.pack("<Q", bits & MASK64))[0])


def f32(bits: int) -> float:
    """Take 32 bits for a float."""
    return float(struct.unpack("<f", struct.pack("<I", bits & MASK32))[0])


def bits64(value: float) -> int:
    """Give the bits of a double."""
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


def bits32(value: float) -> int:
    """Give the bits of a number that is a float already."""
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def half_even(value: Fraction) -> int:
    """Round to the nearest integer, ties to even."""
    return round(value)


def half_away(value: Fraction) -> int:
    """Round to the nearest integer, ties away from zero."""
    return int(math.copysign(1, value)) * math.floor(abs(value) + Fraction(1, 2))


ROUNDINGS: dict[int, Callable[[Fraction], int]] = {
    0: half_even,
    8: math.trunc,
    9: math.ceil,
    10: math.floor,
    11: half_even,
    12: half_away,
}


def rounded(value: Fraction, bits: int) -> float:
    """Give the nearest number of 32 or 64 bits to a fraction that is not 0."""
    digits, least, most = (24, -149, 128) if bits == 32 else (53, -1074, 1024)
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    unit = max(exponent - digits + 1, least)
    count = half_even(value / Fraction(2) ** unit)
    if abs(count) >= 2 ** (most - unit):
        return math.copysign(math.inf, count)
    return math.copysign(math.ldexp(abs(count), unit), value)


def exact(
    operation: Callable[[Fraction, Fraction, Fraction], Fraction],
    like: Callable[[float, float, float], float],
    bits: int,
) -> Callable[[float, float, float], float]:
    """Make an operation that rounds once; `like` says what infinities, NaNs and zeros give."""

    def compute(y: float, z: float, w: float) -> float:
        if not all(math.isfinite(value) for value in (y, z, w)):
            return like(y, z, w)
        try:
            result = operation(Fraction(y), Fraction(z), Fraction(w))
        except ZeroDivisionError:
            return like(y, z, w)
        return rounded(result, bits) if result != 0 else like(y, z, w)

    return compute


def divided(y: float, z: float) -> float:
    """Divide as IEEE 754 says where Python raises an exception."""
    if z != 0:
        return y / z
    if y == 0 or math.isnan(y):
        return math.nan
    return math.copysign(math.inf, y) * math.copysign(1, z)


def root(y: float) -> float:
    """Take the square root; that of a negative number is a NaN."""
    return y if y == 0 else math.sqrt(y) if y > 0 else math.nan
