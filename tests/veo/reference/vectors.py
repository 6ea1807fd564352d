# SPDX-License-Identifier: BSD-3-Clause
"""Vector instructions on a core whose registers are lists, one element after the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from tests.veo.reference.elements import find
from tests.veo.reference.numbers import (
    MASK32,
    MASK64,
    bits32,
    bits64,
    f32,
    f64,
    rounded,
    signed,
)

LENGTH = 256
UPPER = MASK32 << 32


@dataclass
class Core:
    """Registers and, from address `base` on, memory."""

    s: list[int]
    v: list[list[int]]
    vm: list[list[bool]]
    vl: int
    vix: int
    base: int
    memory: bytearray

    def read(self, address: int, size: int) -> int:
        """Read from memory."""
        place = address - self.base
        return int.from_bytes(self.memory[place : place + size], "little")

    def write(self, address: int, size: int, value: int) -> None:
        """Write the lowest bytes of a value."""
        place = address - self.base
        self.memory[place : place + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


class Word:
    """An instruction's fields, and what they stand for on a core."""

    def __init__(self, core: Core, word: int, operands: str, pair: bool) -> None:
        self.core = core
        self.word = word
        self.operands = operands
        kinds = dict(
            part.partition(":")[::2]
            for part in operands.replace("|", ", ").replace("(", "").replace(")", "").split(", ")
        )
        self.y_kind, self.z_kind = kinds.get("sy", ""), kinds.get("sz", "")
        mask = self.bits(48, 4)
        self.upper = core.vm[mask]
        self.lower = core.vm[mask + 1] if pair and mask else self.upper

    def bits(self, low: int, width: int) -> int:
        """Give a field."""
        return self.word >> low & ((1 << width) - 1)

    def vector(self, low: int) -> list[int]:
        """Give the register of a vector field."""
        number = self.bits(low, 8)
        return self.core.v[self.core.vix if number == 255 else number]

    @property
    def y_scalar(self) -> int:
        """The value of sy."""
        number = self.bits(40, 7)
        if self.bits(47, 1):
            return self.core.s[number]
        if self.y_kind == "m":
            return _mask_immediate(number)
        return number if self.y_kind.startswith("u") else signed(number, 7) & MASK64

    @property
    def z_scalar(self) -> int:
        """The value of sz."""
        number = self.bits(32, 7)
        return self.core.s[number] if self.bits(39, 1) else _mask_immediate(number)

    def active(self) -> Iterator[int]:
        """Go through the elements below VL that the mask has."""
        return (i for i in range(self.core.vl) if self.upper[i])

    def operand(self, low: int, scalar: bool) -> list[int]:
        """Give the elements of y or z, of which one may be a scalar."""
        return [self.y_scalar] * LENGTH if scalar else self.vector(low)


def _mask_immediate(number: int) -> int:
    """Give (m)1, m ones above zeros, or from 64 on (m)0, m zeros above ones."""
    ones = MASK64 ^ (MASK64 >> number % 64)
    return ones if number < 64 else MASK64 ^ ones


Instruction = Callable[[Word, str], None]


def _elementwise(word: Word, mnemonic: str) -> None:
    element, half = find(mnemonic)
    assert element or half, f"the reference does not know {mnemonic}"
    core = word.core
    broadcast = mnemonic.removeprefix("p").startswith("vbrd")
    y = list(word.operand(16, broadcast or bool(word.bits(53, 1))))
    z = [0] * LENGTH
    if "vz" in word.operands:
        z = list(word.operand(8, "vz|sy" in word.operands and bool(word.bits(52, 1))))
    w, x, mode = list(word.vector(0)), word.vector(24), word.bits(8, 8)
    for i in range(core.vl):
        if element and word.upper[i]:
            x[i] = element(y[i], z[i], w[i], mode)
        if half:
            for shift, mask in ((32, word.upper), (0, word.lower)):
                if mask[i]:
                    parts = [value[i] >> shift & MASK32 for value in (y, z, w)]
                    part = half(parts[0], parts[1], parts[2], mode)
                    x[i] = x[i] & ~(MASK32 << shift) | part << shift


def _assign(value: Callable[[Word, int], int]) -> Instruction:
    """Make an instruction that sets each active element to a value of the old state."""

    def execute(word: Word, mnemonic: str) -> None:
        values = {i: value(word, i) for i in word.active()}
        x = word.vector(24)
        for i, new in values.items():
            x[i] = new

    return execute


def _assign_halves(value: Callable[[Word, int], int]) -> Instruction:
    """Do the same for both halves, by their masks."""

    def execute(word: Word, mnemonic: str) -> None:
        x = word.vector(24)
        for i in range(word.core.vl):
            new = value(word, i)
            if word.upper[i]:
                x[i] = x[i] & MASK32 | new & UPPER
            if word.lower[i]:
                x[i] = x[i] & UPPER | new & MASK32

    return execute


def _shuffled(word: Word, i: int) -> int:
    y, z = word.vector(16)[i], word.vector(8)[i]
    halves = (y >> 32, y & MASK32, z >> 32, z & MASK32)
    choice = word.y_scalar & 15
    return halves[choice >> 2] << 32 | halves[choice & 3]


def _merge(word: Word, mnemonic: str) -> None:
    y, z = list(word.operand(16, bool(word.bits(53, 1)))), list(word.vector(8))
    x = word.vector(24)
    for i in range(word.core.vl):
        upper = z[i] if word.upper[i] else y[i]
        lower = z[i] if word.lower[i] else y[i]
        x[i] = upper & UPPER | lower & MASK32


def _move(word: Word, mnemonic: str) -> None:
    source, x = list(word.vector(8)), word.vector(24)
    for i in range(word.core.vl):
        place = (i + word.y_scalar) % LENGTH
        if word.upper[place]:
            x[i] = source[place]


def _compress(word: Word, mnemonic: str) -> None:
    chosen = [word.vector(8)[i] for i in word.active()]
    word.vector(24)[: len(chosen)] = chosen


def _expand(word: Word, mnemonic: str) -> None:
    source = list(word.vector(8))
    for n, i in enumerate(word.active()):
        word.vector(24)[i] = source[n]


# --- masks ----------------------------------------------------------------------------------------


def _combine(combined: Callable[[bool, bool], bool]) -> Instruction:
    def execute(word: Word, mnemonic: str) -> None:
        y, z = word.core.vm[word.bits(16, 8)], word.core.vm[word.bits(8, 8)]
        if word.bits(24, 8):
            word.core.vm[word.bits(24, 8)] = [combined(*both) for both in zip(y, z, strict=True)]

    return execute


def _count(counted: Callable[[list[bool]], int]) -> Instruction:
    def execute(word: Word, mnemonic: str) -> None:
        mask = word.core.vm[word.bits(16, 8)]
        word.core.s[word.bits(48, 7)] = counted(mask[: word.core.vl])

    return execute


def _holds(condition: int, value: float) -> bool:
    """Tell whether a number is above, below, ... 0."""
    if condition in (0, 15):
        return condition == 15
    if math.isnan(value):
        return condition >= 8
    tests = (value > 0, value < 0, value != 0, value == 0, value >= 0, value <= 0, True, False)
    return tests[(condition - 1) % 8 if condition <= 8 else condition - 9]


def _make(number: Callable[[int], float]) -> Instruction:
    def execute(word: Word, mnemonic: str) -> None:
        made = list(word.core.vm[word.bits(24, 8)])
        for i in range(word.core.vl):
            made[i] = word.upper[i] and _holds(word.bits(16, 4), number(word.vector(8)[i]))
        if word.bits(24, 8):
            word.core.vm[word.bits(24, 8)] = made

    return execute


# --- reductions and iterations --------------------------------------------------------------------


def _reduce(start: int, applied: Callable[[int, int], int], bits: int, sx: bool) -> Instruction:
    def execute(word: Word, mnemonic: str) -> None:
        result = start
        for i in word.active():
            result = applied(result, word.vector(16)[i]) & ((1 << bits) - 1)
        word.vector(24)[0] = signed(result, bits) & MASK64 if sx else result

    return execute


def _sum(word: Word, mnemonic: str) -> None:
    single = mnemonic.endswith(".s")
    total = 0.0
    for i in word.active():
        y = word.vector(16)[i]
        total = _single(total + f32(y >> 32)) if single else total + f64(y)
    word.vector(24)[0] = bits32(total) << 32 if single else bits64(total)


def _single(value: float) -> float:
    """Round a sum, difference or product of two floats; doubles are wide enough to do it last."""
    return rounded(Fraction(value), 32) if math.isfinite(value) and value != 0 else value


def _extreme(word: Word, mnemonic: str) -> None:
    _, kind, *form = mnemonic.split(".")
    read: Callable[[int], float] = {
        "l": lambda y: signed(y, 64),
        "w": lambda y: signed(y, 32),
        "d": f64,
        "s": lambda y: f32(y >> 32),
    }[kind]
    write: Callable[[int], int] = {
        "l": lambda y: y,
        "d": lambda y: y,
        "s": lambda y: y & UPPER,
        "w": lambda y: (signed(y, 32) if form[-1] == "sx" else y & MASK32) & MASK64,
    }[kind]
    y = list(word.vector(16))
    numbers = {i: read(y[i]) for i in word.active()}
    if not numbers:
        return
    ordered = {i: value for i, value in numbers.items() if not math.isnan(value)}
    if ordered:
        best = (max if "max" in mnemonic else min)(ordered.values())
        places = [i for i, value in ordered.items() if value == best]
    else:
        places = list(numbers)
    place = places[0 if "fst" in form else -1]
    word.vector(24)[0] = write(y[place])
    word.vector(24)[1] = place


ITERATIONS: dict[str, Callable[[float, float, float, Callable[[float], float]], float]] = {
    "vfia": lambda y, z, p, to: to(y + p),
    "vfis": lambda y, z, p, to: to(y - p),
    "vfim": lambda y, z, p, to: to(y * p),
    "vfiam": lambda y, z, p, to: to(to(y + p) * z),
    "vfism": lambda y, z, p, to: to(to(y - p) * z),
    "vfima": lambda y, z, p, to: to(y + to(p * z)),
    "vfims": lambda y, z, p, to: to(y - to(p * z)),
}


def _iterate(word: Word, mnemonic: str) -> None:
    name, _, kind = mnemonic.partition(".")
    ys, zs, x = list(word.vector(16)), list(word.vector(8)), word.vector(24)
    single = kind == "s"
    p = f32(word.y_scalar >> 32) if single else f64(word.y_scalar)
    for i in range(word.core.vl):
        y, z = (f32(row[i] >> 32) if single else f64(row[i]) for row in (ys, zs))
        p = ITERATIONS[name](y, z, p, _single if single else float)
        x[i] = bits32(p) << 32 if single else bits64(p)


# --- memory ---------------------------------------------------------------------------------------


def _strided(word: Word, i: int) -> int:
    return word.z_scalar + i * signed(word.y_scalar, 64)


def _in_rows(word: Word, i: int) -> int:
    y = word.y_scalar
    return word.z_scalar + i // 16 * (signed(y, 64) >> 16) + i % 16 * (y & 0xFFFF)


def _by_address(word: Word, i: int) -> int:
    if word.bits(53, 1):
        return word.core.v[word.core.s[word.bits(0, 7)]][i]
    return word.vector(16)[i]


def _load(
    place: Callable[[Word, int], int], size: int, extend: Callable[[int], int]
) -> Instruction:
    return _assign(lambda word, i: extend(word.core.read(place(word, i) & MASK64, size)))


def _store(place: Callable[[Word, int], int], size: int, shift: int) -> Instruction:
    def execute(word: Word, mnemonic: str) -> None:
        for i in word.active():
            word.core.write(place(word, i) & MASK64, size, word.vector(24)[i] >> shift)

    return execute


def _memory() -> Iterator[tuple[str, Instruction]]:
    places = (("vld{}", "vst{}", _strided), ("vld{}2d", "vst{}2d", _in_rows))
    for load, store, place in (*places, ("vgt{}", "vsc{}", _by_address)):
        yield load.format(""), _load(place, 8, lambda value: value)
        yield load.format("u"), _load(place, 4, lambda value: value << 32)
        yield load.format("l") + ".sx", _load(place, 4, lambda value: signed(value, 32) & MASK64)
        yield load.format("l") + ".zx", _load(place, 4, lambda value: value)
        yield store.format(""), _store(place, 8, 0)
        yield store.format("u"), _store(place, 4, 32)
        yield store.format("l"), _store(place, 4, 0)


INSTRUCTIONS: dict[str, Instruction] = {
    **dict(_memory()),
    "pfchv": lambda word, mnemonic: None,
    "vbrdl": _assign(lambda word, i: word.y_scalar & MASK32),
    "vbrdu": _assign(lambda word, i: word.y_scalar & UPPER),
    "pvbrd": _assign_halves(lambda word, i: word.y_scalar),
    "vseq": _assign(lambda word, i: i),
    "pvseq.lo": _assign(lambda word, i: i),
    "pvseq.up": _assign(lambda word, i: i << 32),
    "pvseq": _assign_halves(lambda word, i: 2 * i << 32 | 2 * i + 1),
    "vmrg": _merge,
    "vmrg.w": _merge,
    "vshf": _assign(_shuffled),
    "vmv": _move,
    "vcp": _compress,
    "vex": _expand,
    "vsfa": _assign(
        lambda word, i: (word.vector(8)[i] << (word.y_scalar & 7)) + word.z_scalar & MASK64
    ),
    "vsld": _assign(
        lambda word, i: (
            (word.vector(16)[i] << 64 | word.vector(8)[i]) << (word.y_scalar & 127) >> 64 & MASK64
        )
    ),
    "vsrd": _assign(
        lambda word, i: (
            (word.vector(16)[i] << 64 | word.vector(8)[i]) >> (word.y_scalar & 127) & MASK64
        )
    ),
    "andm": _combine(lambda y, z: y and z),
    "orm": _combine(lambda y, z: y or z),
    "xorm": _combine(lambda y, z: y != z),
    "eqvm": _combine(lambda y, z: y == z),
    "nndm": _combine(lambda y, z: not y and z),
    "negm": _combine(lambda y, z: not y),
    "pcvm": _count(lambda mask: mask.count(True)),
    "lzvm": _count(lambda mask: len(list(itertools.takewhile(lambda bit: not bit, mask)))),
    "tovm": _count(lambda mask: max((i + 1 for i, bit in enumerate(mask) if bit), default=0)),
    "vfmk.l.?": _make(lambda z: signed(z, 64)),
    "vfmk.w.?": _make(lambda z: signed(z, 32)),
    "pvfmk.w.up.?": _make(lambda z: signed(z >> 32, 32)),
    "vfmk.d.?": _make(f64),
    "pvfmk.s.up.?": _make(lambda z: f32(z >> 32)),
    "pvfmk.s.lo.?": _make(f32),
    "vsum.l": _reduce(0, lambda r, y: r + y, 64, sx=False),
    "vsum.w.sx": _reduce(0, lambda r, y: r + y, 32, sx=True),
    "vsum.w.zx": _reduce(0, lambda r, y: r + y, 32, sx=False),
    "vrand": _reduce(MASK64, lambda r, y: r & y, 64, sx=False),
    "vror": _reduce(0, lambda r, y: r | y, 64, sx=False),
    "vrxor": _reduce(0, lambda r, y: r ^ y, 64, sx=False),
    "vfsum.d": _sum,
    "vfsum.s": _sum,
}


def execute(core: Core, word: int, mnemonic: str, operands: str, pair: bool) -> None:
    """Execute an instruction, whose row of the table has this mnemonic and these operands."""
    name = mnemonic.removesuffix("~")
    decoded = Word(core, word, operands, pair)
    if name in INSTRUCTIONS:
        INSTRUCTIONS[name](decoded, name)
    elif name.startswith(("vrmax", "vrmin", "vfrmax", "vfrmin")):
        _extreme(decoded, name)
    elif name.startswith("vfi"):
        _iterate(decoded, name)
    else:
        _elementwise(decoded, name)
