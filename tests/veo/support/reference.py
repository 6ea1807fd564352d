# SPDX-License-Identifier: BSD-3-Clause
"""Results of scalar instructions of the Vector Engine, written apart from the machine in C.

A function takes X, Y and Z as unsigned numbers of 64 bits and gives the new X; those on quads
take and give pairs as numbers of 128 bits.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from fractions import Fraction

import numpy as np

ALL = (1 << 64) - 1
Function = Callable[[int, int, int], int]


def signed(value: int, bits: int = 64) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def word(value: int) -> int:
    """Sign-extend the lower half."""
    return signed(value, 32) & ALL


def low(value: int) -> int:
    return value & 0xFFFFFFFF


def quotient(a: int, b: int) -> int:
    """Divide toward zero; by zero it is 0."""
    return 0 if b == 0 else (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


def clamp(value: int, bits: int) -> int:
    return max(-(1 << (bits - 1)), min((1 << (bits - 1)) - 1, value))


def bytes_swapped(value: int, size: int) -> int:
    return int.from_bytes(value.to_bytes(size, "little"), "big")


def swap(x: int, y: int, z: int) -> int:
    if y == 0:
        return bytes_swapped(z, 8)
    return bytes_swapped(z >> 32, 4) << 32 | bytes_swapped(low(z), 4)


INTEGER: dict[str, Function] = {
    "and": lambda x, y, z: y & z,
    "or": lambda x, y, z: y | z,
    "xor": lambda x, y, z: y ^ z,
    "eqv": lambda x, y, z: ~(y ^ z),
    "nnd": lambda x, y, z: ~y & z,
    "mrg": lambda x, y, z: (y & z) | (x & ~z),
    "ldz": lambda x, y, z: 64 - z.bit_length(),
    "pcnt": lambda x, y, z: z.bit_count(),
    "brv": lambda x, y, z: int(f"{z:064b}"[::-1], 2),
    "bswp": swap,
    "sll": lambda x, y, z: z << (y % 64),
    "srl": lambda x, y, z: z >> (y % 64),
    "sla.l": lambda x, y, z: z << (y % 64),
    "sra.l": lambda x, y, z: signed(z) >> (y % 64),
    "sla.w.sx": lambda x, y, z: word(z << (y % 32)),
    "sla.w.zx": lambda x, y, z: low(z << (y % 32)),
    "sra.w.sx": lambda x, y, z: word(signed(z, 32) >> (y % 32)),
    "sra.w.zx": lambda x, y, z: low(signed(z, 32) >> (y % 32)),
    "sld": lambda x, y, z: ((x << 64 | z) << (y % 128)) >> 64,
    "srd": lambda x, y, z: (z << 64 | x) >> (y % 128),
    "addu.l": lambda x, y, z: y + z,
    "addu.w": lambda x, y, z: low(y + z),
    "adds.l": lambda x, y, z: y + z,
    "adds.w.sx": lambda x, y, z: word(y + z),
    "adds.w.zx": lambda x, y, z: low(y + z),
    "subu.l": lambda x, y, z: y - z,
    "subu.w": lambda x, y, z: low(y - z),
    "subs.l": lambda x, y, z: y - z,
    "subs.w.sx": lambda x, y, z: word(y - z),
    "subs.w.zx": lambda x, y, z: low(y - z),
    "mulu.l": lambda x, y, z: y * z,
    "mulu.w": lambda x, y, z: low(y * z),
    "muls.l": lambda x, y, z: y * z,
    "muls.w.sx": lambda x, y, z: word(y * z),
    "muls.w.zx": lambda x, y, z: low(y * z),
    "muls.l.w": lambda x, y, z: signed(y, 32) * signed(z, 32),
    "divu.l": lambda x, y, z: quotient(y, z),
    "divu.w": lambda x, y, z: quotient(low(y), low(z)),
    "divs.l": lambda x, y, z: quotient(signed(y), signed(z)),
    "divs.w.sx": lambda x, y, z: word(quotient(signed(y, 32), signed(z, 32))),
    "divs.w.zx": lambda x, y, z: low(quotient(signed(y, 32), signed(z, 32))),
    "cmpu.l": lambda x, y, z: clamp(y - z, 64),
    "cmpu.w": lambda x, y, z: low(clamp(low(y) - low(z), 32)),
    "cmps.l": lambda x, y, z: clamp(signed(y) - signed(z), 64),
    "cmps.w.sx": lambda x, y, z: clamp(signed(y, 32) - signed(z, 32), 32),
    "cmps.w.zx": lambda x, y, z: low(clamp(signed(y, 32) - signed(z, 32), 32)),
    "maxs.l": lambda x, y, z: max(signed(y), signed(z)),
    "mins.l": lambda x, y, z: min(signed(y), signed(z)),
    "maxs.w.sx": lambda x, y, z: max(signed(y, 32), signed(z, 32)),
    "maxs.w.zx": lambda x, y, z: low(max(signed(y, 32), signed(z, 32))),
    "mins.w.sx": lambda x, y, z: min(signed(y, 32), signed(z, 32)),
    "mins.w.zx": lambda x, y, z: low(min(signed(y, 32), signed(z, 32))),
}

# --- floats and doubles --------------------------------------------------------------------------


def double(bits: int) -> np.float64:
    return np.float64(struct.unpack("<d", struct.pack("<Q", bits))[0])


def single(bits: int) -> np.float32:
    """Read the float in the upper half."""
    return np.float32(np.frombuffer(struct.pack("<I", bits >> 32), np.float32)[0])


def bits_of(value: np.floating) -> int:
    data = value.tobytes()
    return int.from_bytes(data, "little") << (32 if len(data) == 4 else 0)


def largest(a: np.floating, b: np.floating) -> np.floating:
    return b if np.isnan(a) else a if np.isnan(b) or a > b else b


def smallest(a: np.floating, b: np.floating) -> np.floating:
    return b if np.isnan(a) else a if np.isnan(b) or a < b else b


def difference(a: np.floating, b: np.floating) -> np.floating:
    return type(a)(0) if a == b else a - b


ARITHMETIC: dict[str, Callable[[np.floating, np.floating], np.floating]] = {
    "fadd": lambda a, b: a + b,
    "fsub": lambda a, b: a - b,
    "fmul": lambda a, b: a * b,
    "fdiv": lambda a, b: a / b,
    "fmax": largest,
    "fmin": smallest,
    "fcmp": difference,
}


def floating(mnemonic: str) -> Function:
    name, suffix = mnemonic.split(".")
    read = double if suffix == "d" else single
    return lambda x, y, z: bits_of(ARITHMETIC[name](read(y), read(z)))


FLOAT = {f"{name}.{suffix}": floating(f"{name}.{suffix}") for name in ARITHMETIC for suffix in "ds"}


def whole(value: np.floating, mode: str) -> int | None:
    """Round to an integer; None for what is none."""
    if not np.isfinite(value):
        return None
    exact = Fraction(float(value))
    below = exact.numerator // exact.denominator
    rest = exact - below
    if mode == ".rz":
        return below if exact >= 0 or rest == 0 else below + 1
    if mode == ".rm" or rest == 0:
        return below
    if mode == ".rp" or rest > Fraction(1, 2):
        return below + 1
    if rest < Fraction(1, 2):
        return below
    if mode == ".ra":
        return below if exact < 0 else below + 1
    return below + below % 2


def to_integer(value: np.floating, mode: str, bits: int) -> int:
    rounded = whole(value, mode)
    if rounded is None or clamp(rounded, bits) != rounded:
        return -(1 << (bits - 1))
    return rounded


CONVERT: dict[str, Function] = {
    "cvt.d.w": lambda x, y, z: bits_of(np.float64(signed(y, 32))),
    "cvt.d.l": lambda x, y, z: bits_of(np.float64(signed(y))),
    "cvt.s.w": lambda x, y, z: bits_of(np.float32(signed(y, 32))),
    "cvt.d.s": lambda x, y, z: bits_of(np.float64(single(y))),
    "cvt.s.d": lambda x, y, z: bits_of(np.float32(double(y))),
}
ROUNDINGS = {"": 0, ".rz": 8, ".rp": 9, ".rm": 10, ".rn": 11, ".ra": 12}
ROUNDED: dict[str, Callable[[int, str], int]] = {
    "cvt.w.d.sx": lambda y, mode: to_integer(double(y), mode, 32),
    "cvt.w.d.zx": lambda y, mode: low(to_integer(double(y), mode, 32)),
    "cvt.w.s.sx": lambda y, mode: to_integer(single(y), mode, 32),
    "cvt.w.s.zx": lambda y, mode: low(to_integer(single(y), mode, 32)),
    "cvt.l.d": lambda y, mode: to_integer(double(y), mode, 64),
}

# --- quads ---------------------------------------------------------------------------------------


def from_quad(bits: int) -> Fraction:
    """Read a finite quad."""
    exponent = bits >> 112 & 0x7FFF
    fraction = bits & ((1 << 112) - 1)
    if exponent != 0:
        fraction |= 1 << 112
    size = Fraction(2) ** (max(exponent, 1) - 16383 - 112)
    return (-1 if bits >> 127 else 1) * fraction * size


def to_quad(value: Fraction, negative: bool) -> int:
    """Round a normal number, or zero, to nearest."""
    sign = int(negative) << 127
    if value == 0:
        return sign
    value = abs(value)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value < Fraction(2) ** exponent:
        exponent -= 1
    scaled = value / Fraction(2) ** (exponent - 112)
    fraction = round(scaled)
    if fraction == 1 << 113:
        fraction >>= 1
        exponent += 1
    return sign | (exponent + 16383) << 112 | (fraction & ((1 << 112) - 1))


def quad(operate: Callable[[Fraction, Fraction], Fraction]) -> Callable[[int, int], int]:
    def function(y: int, z: int) -> int:
        result = operate(from_quad(y), from_quad(z))
        return to_quad(result, result < 0)

    return function


QUAD = {
    "fadd.q": quad(lambda a, b: a + b),
    "fsub.q": quad(lambda a, b: a - b),
    "fmul.q": quad(lambda a, b: a * b),
}
