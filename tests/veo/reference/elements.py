# SPDX-License-Identifier: BSD-3-Clause
"""Operations on one element: of x, y, z and w as integers of 64 or, by halves, 32 bits."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction

from tests.veo.reference.numbers import (
    MASK32,
    MASK64,
    ROUNDINGS,
    bits32,
    bits64,
    divided,
    exact,
    f32,
    f64,
    root,
    signed,
)

# Of y, z and w, each a number; the result is a number too.
Integers = Callable[[int, int], int]
Floats = Callable[[float, float, float], float]
# Of the bits of y, z, w, and the rounding mode.
Element = Callable[[int, int, int, int], int]


def _quotient(y: int, z: int) -> int:
    """Divide toward 0; the quotient by 0 is 0."""
    return 0 if z == 0 else abs(y) // abs(z) * (1 if (y < 0) == (z < 0) else -1)


# name: whether operands are signed, and what is done; a comparison is clamped to its width.
INTEGERS: dict[str, tuple[bool, Integers]] = {
    "adds": (True, lambda y, z: y + z),
    "addu": (False, lambda y, z: y + z),
    "subs": (True, lambda y, z: y - z),
    "subu": (False, lambda y, z: y - z),
    "muls": (True, lambda y, z: y * z),
    "mulu": (False, lambda y, z: y * z),
    "divs": (True, _quotient),
    "divu": (False, _quotient),
    "maxs": (True, max),
    "mins": (True, min),
    "and": (False, lambda y, z: y & z),
    "or": (False, lambda y, z: y | z),
    "xor": (False, lambda y, z: y ^ z),
    "eqv": (False, lambda y, z: ~(y ^ z)),
    "pcnt": (False, lambda y, z: z.bit_count()),
}


def _add(y: float, z: float, w: float) -> float:
    return y + z


def _subtract(y: float, z: float, w: float) -> float:
    return y - z


def _multiply(y: float, z: float, w: float) -> float:
    return y * z


def _compare(y: float, z: float, w: float) -> float:
    return 0.0 if y == z else y - z


def _better(larger: bool) -> Floats:
    def choose(y: float, z: float, w: float) -> float:
        if math.isnan(y) or math.isnan(z):
            return z if math.isnan(y) else y
        return y if (y > z if larger else y < z) else z

    return choose


def _fused(product: int, addend: int) -> tuple[Callable[..., Fraction], Floats]:
    """Give z * w and y with these signs, exact, and for what is no number or 0."""

    def like(y: float, z: float, w: float) -> float:
        if math.isinf(y) and math.isfinite(z) and math.isfinite(w):
            return addend * y  # the exact product is finite, whatever z * w overflows to
        return product * (z * w + product * addend * y)

    return lambda y, z, w: product * z * w + addend * y, like


def _floats(bits: int) -> dict[str, Floats]:
    """Operations on numbers of a width."""
    return {
        "fadd": exact(lambda y, z, w: y + z, _add, bits),
        "fsub": exact(lambda y, z, w: y - z, _subtract, bits),
        "fmul": exact(lambda y, z, w: y * z, _multiply, bits),
        "fdiv": exact(lambda y, z, w: y / z, lambda y, z, w: divided(y, z), bits),
        "fcmp": exact(lambda y, z, w: y - z, _compare, bits),
        "fmax": _better(larger=True),
        "fmin": _better(larger=False),
        "fmad": exact(*_fused(1, 1), bits),
        "fmsb": exact(*_fused(1, -1), bits),
        "fnmad": exact(*_fused(-1, -1), bits),
        "fnmsb": exact(*_fused(-1, 1), bits),
        "fsqrt": lambda y, z, w: root(y),
        "rcp": exact(lambda y, z, w: 1 / y, lambda y, z, w: divided(1.0, y), bits),
        "rsqrt": lambda y, z, w: divided(1.0, root(y)),
    }


FLOATS = {32: _floats(32), 64: _floats(64)}


def to_integer(value: float, mode: int, bits: int) -> int:
    """Round to an integer; the least one stands for what does not fit."""
    least = -(1 << (bits - 1))
    whole = ROUNDINGS[mode](Fraction(value)) if math.isfinite(value) else least
    return whole if least <= whole < -least else least


def to_float(value: float) -> int:
    """Give the bits of the nearest float."""
    return bits32(exact(lambda y, z, w: y, lambda y, z, w: y, 32)(value, 0.0, 0.0))


CONVERSIONS: dict[str, Element] = {
    "cvt.d.l": lambda y, z, w, mode: bits64(float(signed(y, 64))),
    "cvt.d.w": lambda y, z, w, mode: bits64(float(signed(y, 32))),
    "cvt.d.s": lambda y, z, w, mode: bits64(f32(y >> 32)),
    "cvt.s.d": lambda y, z, w, mode: to_float(f64(y)) << 32,
    "cvt.s.w": lambda y, z, w, mode: to_float(float(signed(y, 32))) << 32,
    "cvt.l.d": lambda y, z, w, mode: to_integer(f64(y), mode, 64) & MASK64,
    "cvt.w.d.sx": lambda y, z, w, mode: to_integer(f64(y), mode, 32) & MASK64,
    "cvt.w.d.zx": lambda y, z, w, mode: to_integer(f64(y), mode, 32) & MASK32,
    "cvt.w.s.sx": lambda y, z, w, mode: to_integer(f32(y >> 32), mode, 32) & MASK64,
    "cvt.w.s.zx": lambda y, z, w, mode: to_integer(f32(y >> 32), mode, 32) & MASK32,
}
HALF_CONVERSIONS: dict[str, Element] = {
    "cvt.s.w": lambda y, z, w, mode: to_float(float(signed(y, 32))),
    "cvt.w.s": lambda y, z, w, mode: to_integer(f32(y), mode, 32) & MASK32,
}


def _integer(name: str, bits: int) -> Element | None:
    """An operation on integers of a width, with a result of that width."""
    mask = (1 << bits) - 1
    if name in INTEGERS:
        is_signed, operation = INTEGERS[name]
        take = (lambda value: signed(value, bits)) if is_signed else (lambda value: value)
        return lambda y, z, w, mode: operation(take(y), take(z)) & mask
    if name in ("cmps", "cmpu"):
        least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        take = (lambda value: signed(value, bits)) if name == "cmps" else (lambda value: value)
        return lambda y, z, w, mode: min(max(take(y) - take(z), least), most) & mask
    shifts: dict[str, Element] = {
        "sll": lambda y, z, w, mode: z << (y % bits) & mask,
        "sla": lambda y, z, w, mode: z << (y % bits) & mask,
        "srl": lambda y, z, w, mode: z >> (y % bits),
        "sra": lambda y, z, w, mode: signed(z, bits) >> (y % bits) & mask,
        "ldz": lambda y, z, w, mode: bits - z.bit_length(),
        "brv": lambda y, z, w, mode: int(f"{z:0{bits}b}"[::-1], 2),
        "brd": lambda y, z, w, mode: y,
    }
    return shifts.get(name)


def _float(name: str, bits: int) -> Element | None:
    """An operation on the bits of numbers of a width."""
    if name not in FLOATS[bits]:
        return None
    operation = FLOATS[bits][name]
    read = f32 if bits == 32 else f64
    write = to_float if bits == 32 else bits64
    return lambda y, z, w, mode: write(operation(read(y), read(z), read(w)))


def _of_half(element: Element, shift: int) -> Element:
    """Apply an operation to a half; the other one becomes 0."""
    return lambda y, z, w, mode: (
        element(y >> shift & MASK32, z >> shift & MASK32, w >> shift & MASK32, mode) << shift
    )


def find(mnemonic: str) -> tuple[Element | None, Element | None]:
    """Give what an instruction does to elements, or to both halves of them if it is packed."""
    matched = re.fullmatch(r"(p?)v(\w+?)((?:\.\w+)*)", mnemonic.removesuffix(".nex"))
    assert matched
    packed, name, form = matched[1] == "p", matched[2], matched[3]
    if name == "cvt":
        if not packed:
            return CONVERSIONS[name + form], None
        half = HALF_CONVERSIONS[name + form.removesuffix(".lo").removesuffix(".up")]
    elif mnemonic == "vmuls.l.w":
        return lambda y, z, w, mode: signed(y, 32) * signed(z, 32) & MASK64, None
    elif packed or ".w" in form or form == ".s":
        found = _integer(name, 32) or _float(name, 32)
        if found is None:
            return None, None
        half = found
    else:
        return _integer(name, 64) or _float(name, 64), None

    if packed and not form.endswith((".lo", ".up")):
        return None, half
    if form.endswith((".up", ".s")):
        return _of_half(half, 32), None
    low = _of_half(half, 0)
    if form.endswith(".sx"):
        return lambda y, z, w, mode: signed(low(y, z, w, mode), 32) & MASK64, None
    return low, None
