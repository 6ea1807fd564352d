# SPDX-License-Identifier: BSD-3-Clause
"""Scalar instructions give what the reference in Python gives, for random operands."""

from __future__ import annotations

import ctypes
import random
import struct
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.veo.support import reference
from tests.veo.support.cores import Core, Operation

ALL = reference.ALL
# Values at which something happens.
EDGES = [0, 1, 2, 63, 64, 127, ALL, 1 << 63, (1 << 63) - 1, 1 << 31, (1 << 31) - 1, 0xFFFFFFFF]
EDGES += [1 << 32, 0xFFFFFFFF00000000, 0x8000000000000001, 0xFFFFFFFF80000000]
DOUBLES = [0.0, -0.0, 1.0, -1.5, 0.5, 2.5, -2.5, 3.7e9, -3.7e9, 2147483647.5, -2147483648.5]
DOUBLES += [1e300, -1e-300, 5e-324, float("inf"), float("-inf"), float("nan"), 9.3e18, 2.0**62]


@pytest.fixture(scope="module")
def core() -> Iterator[Core]:
    made = Core()
    yield made
    made.close()


@pytest.fixture(scope="module")
def operations(core: Core) -> dict[str, Operation]:
    return {row.mnemonic: row for row in core.operations()}


def any_integer(generator: random.Random) -> int:
    return generator.choice([generator.choice(EDGES), generator.getrandbits(64)])


def any_double(generator: random.Random) -> int:
    value = generator.choice([generator.choice(DOUBLES), generator.uniform(-1e10, 1e10)])
    return int.from_bytes(struct.pack("<d", value), "little")


def any_single(generator: random.Random) -> int:
    value = generator.choice([generator.choice(DOUBLES), generator.uniform(-1e10, 1e10)])
    with np.errstate(over="ignore"):
        upper = int.from_bytes(np.float32(value).tobytes(), "little")
    return upper << 32 | generator.getrandbits(32)


def mask_immediate(field: int) -> int:
    leading = field & 63
    ones = ALL >> leading
    return ones if field >= 64 else ~ones & ALL


class Operands:
    """Fields of sx, sy and sz, and what they stand for."""

    def __init__(self, generator: random.Random, operation: Operation, values: list[int]) -> None:
        self.x, self.y, self.z = values
        names = operation.operands.split(", ")
        fields = 1 << 48
        by = {name.partition(":")[0]: name.partition(":")[2] for name in names}
        self.given = {1: self.x}
        if "sy" in by:
            if by["sy"].startswith("i") or (by["sy"] != "reg" and generator.random() < 0.3):
                bits = int(by["sy"][1:]) if by["sy"][:1] in ("u", "i") else 7
                field = generator.randrange(1 << bits)
                self.y = field if by["sy"][:1] in ("u", "i") else reference.signed(field, 7) & ALL
                fields |= field << 40
            else:
                fields |= 0x8200 << 32
                self.given[2] = self.y
        if "sz" in by:
            if generator.random() < 0.3:
                field = generator.randrange(128)
                self.z = mask_immediate(field)
                fields |= field << 32
            else:
                fields |= 0x83 << 32
                self.given[3] = self.z
        self.word = operation.match | fields


def run_one(core: Core, operands: Operands) -> int:
    for register, value in operands.given.items():
        core.s[register] = value
    assert core.run([operands.word]), core.disassemble(operands.word)
    return int(core.s[1])


def check(core: Core, operands: Operands, expected: int) -> None:
    given = tuple(hex(value) for value in (operands.x, operands.y, operands.z))
    text = core.disassemble(operands.word)
    assert hex(run_one(core, operands)) == hex(expected & ALL), (text, given)


@pytest.mark.parametrize("mnemonic", reference.INTEGER)
def test_integer_instructions(core: Core, operations: dict[str, Operation], mnemonic: str) -> None:
    generator = random.Random(mnemonic)
    for _ in range(200):
        values = [any_integer(generator) for _ in range(3)]
        operands = Operands(generator, operations[mnemonic], values)
        expected = reference.INTEGER[mnemonic](operands.x, operands.y, operands.z)
        check(core, operands, expected)


REGISTERS = range(1, 9)


def draw_step(
    generator: random.Random, operations: dict[str, Operation], registers: list[int]
) -> int:
    """Draw an instruction between registers, do it to REGISTERS in Python, and give its word."""
    mnemonic = generator.choice(list(reference.INTEGER))
    x, y, z = (generator.choice(REGISTERS) for _ in range(3))
    word = operations[mnemonic].match | x << 48 | (0x80 | z) << 32
    names = operations[mnemonic].operands
    if "sy:i1" in names:
        y_value = generator.randrange(2)
        word |= y_value << 40
    else:
        y_value = registers[y]
        word |= (0x80 | y) << 40 if "sy" in names else 0
    function = reference.INTEGER[mnemonic]
    registers[x] = function(registers[x], y_value, registers[z]) & ALL
    return word


@pytest.mark.parametrize("by_steps", [False, True], ids=["run", "steps"])
def test_sequences_of_instructions(
    core: Core, operations: dict[str, Operation], by_steps: bool
) -> None:
    generator = random.Random(by_steps)
    run = core.step_through if by_steps else core.run
    for _ in range(2000):
        registers = [any_integer(generator) for _ in range(9)]
        for number in REGISTERS:
            core.s[number] = registers[number]
        words = [draw_step(generator, operations, registers) for _ in range(20)]
        assert run(words)
        found = [int(core.s[number]) for number in REGISTERS]
        assert found == registers[1:], [core.disassemble(word) for word in words]


def same_float(found: int, expected: int, mnemonic: str) -> bool:
    """Compare bits; one NaN is as good as another."""
    read = reference.single if mnemonic.split(".")[1] == "s" else reference.double
    return found == expected or bool(np.isnan(read(found)) and np.isnan(read(expected)))


@pytest.mark.parametrize("mnemonic", [*reference.FLOAT, *reference.CONVERT])
def test_float_instructions(core: Core, operations: dict[str, Operation], mnemonic: str) -> None:
    generator = random.Random(mnemonic)
    function = reference.FLOAT.get(mnemonic) or reference.CONVERT[mnemonic]
    source = mnemonic.split(".")[-1]
    draw = {"d": any_double, "s": any_single}.get(source, any_integer)
    for _ in range(200):
        operands = Operands(generator, operations[mnemonic], [draw(generator) for _ in range(3)])
        with np.errstate(all="ignore"):
            expected = function(operands.x, operands.y, operands.z)
        found = run_one(core, operands)
        assert same_float(found, expected, mnemonic), (
            core.disassemble(operands.word),
            *(hex(value) for value in (operands.y, operands.z, found, expected)),
        )


@pytest.mark.parametrize("mode", reference.ROUNDINGS)
@pytest.mark.parametrize("mnemonic", reference.ROUNDED)
def test_conversions_to_integers_round_as_they_say(
    core: Core, operations: dict[str, Operation], mnemonic: str, mode: str
) -> None:
    generator = random.Random(mnemonic + mode)
    draw = any_single if ".s." in mnemonic else any_double
    for _ in range(100):
        operands = Operands(generator, operations[f"{mnemonic}~"], [0, draw(generator), 0])
        operands.word |= reference.ROUNDINGS[mode] << 32
        check(core, operands, reference.ROUNDED[mnemonic](operands.y, mode))


RELATIONS = {"gt": 1, "lt": 2, "eq": 4, "nan": 8}


@pytest.mark.parametrize("condition", range(16))
@pytest.mark.parametrize("kind", "lwds")
def test_conditional_moves(
    core: Core, operations: dict[str, Operation], kind: str, condition: int
) -> None:
    generator = random.Random(f"{kind}{condition}")
    reads: dict[str, Callable[[int], Any]] = {
        "l": reference.signed,
        "w": lambda bits: reference.signed(bits, 32),
        "d": reference.double,
        "s": reference.single,
    }
    read = reads[kind]
    draw = {"d": any_double, "s": any_single}.get(kind, any_integer)
    for _ in range(60):
        values = [any_integer(generator), draw(generator), any_integer(generator)]
        operands = Operands(generator, operations[f"cmov.{kind}.?"], values)
        operands.word |= condition
        value = read(operands.y)
        relation = "gt" if value > 0 else "lt" if value < 0 else "eq" if value == 0 else "nan"
        holds = (condition & RELATIONS[relation]) != 0
        check(core, operands, operands.z if holds else operands.x)


def any_quad(generator: random.Random) -> int:
    """Draw a normal quad of moderate size, or zero."""
    if generator.random() < 0.1:
        return 0
    exponent = 16383 + generator.randrange(-200, 200)
    return generator.getrandbits(1) << 127 | exponent << 112 | generator.getrandbits(112)


def set_pair(core: Core, register: int, bits: int) -> None:
    core.s[register] = bits >> 64
    core.s[register + 1] = bits & ALL


def get_pair(core: Core, register: int) -> int:
    return int(core.s[register]) << 64 | int(core.s[register + 1])


@pytest.mark.parametrize("mnemonic", reference.QUAD)
def test_quad_arithmetic(core: Core, operations: dict[str, Operation], mnemonic: str) -> None:
    generator = random.Random(mnemonic)
    word = operations[mnemonic].match | 2 << 48 | 0x84 << 40 | 0x86 << 32
    for _ in range(200):
        y, z = any_quad(generator), any_quad(generator)
        set_pair(core, 4, y)
        set_pair(core, 6, z)
        assert core.run([word])
        found, expected = get_pair(core, 2), reference.QUAD[mnemonic](y, z)
        zero = (found | expected) << 1 & ((1 << 128) - 1) == 0
        assert zero or hex(found) == hex(expected), (hex(y), hex(z))


def test_quads_are_compared_and_converted(core: Core, operations: dict[str, Operation]) -> None:
    generator = random.Random(5)
    for _ in range(200):
        y, z = any_quad(generator), any_quad(generator)
        z = generator.choice([y, z])
        set_pair(core, 4, y)
        set_pair(core, 6, z)
        assert core.run([operations["fcmp.q"].match | 1 << 48 | 0x84 << 40 | 0x86 << 32])
        a, b = reference.from_quad(y), reference.from_quad(z)
        found = float(reference.double(core.s[1]))
        assert (found > 0, found < 0) == (a > b, a < b)

        assert core.run([operations["cvt.d.q"].match | 1 << 48 | 0x84 << 40])
        assert float(reference.double(core.s[1])) == float(a)
        assert core.run([operations["cvt.q.d"].match | 2 << 48 | 0x81 << 40])
        assert reference.from_quad(get_pair(core, 2)) == Fraction(float(a))

        # A float is in the upper half; its quad has the same value.
        exact = np.float32(generator.uniform(-1e30, 1e30))
        core.s[1] = reference.bits_of(exact)
        assert core.run([operations["cvt.q.s"].match | 2 << 48 | 0x81 << 40])
        assert reference.from_quad(get_pair(core, 2)) == Fraction(float(exact))
        core.s[1] = 0
        assert core.run([operations["cvt.s.q"].match | 1 << 48 | 0x82 << 40])
        assert core.s[1] == reference.bits_of(exact)


LOADS = {
    "ld": (8, False, 0),
    "dld": (8, False, 0),
    "ldu": (4, False, 32),
    "dldu": (4, False, 32),
    **{f"{d}ldl.{kind}": (4, kind == "sx", 0) for d in ("", "d") for kind in ("sx", "zx")},
    **{f"ld{size}b.{kind}": (size, kind == "sx", 0) for size in (1, 2) for kind in ("sx", "zx")},
    "lhm.l": (8, False, 0),
    "lhm.w": (4, False, 0),
    "lhm.h": (2, False, 0),
    "lhm.b": (1, False, 0),
}
STORES = {
    "st": (8, 0),
    "stu": (4, 32),
    "stl": (4, 0),
    "st2b": (2, 0),
    "st1b": (1, 0),
    "shm.l": (8, 0),
    "shm.w": (4, 0),
    "shm.h": (2, 0),
    "shm.b": (1, 0),
}


def address_fields(core: Core, mnemonic: str, address: int, generator: random.Random) -> int:
    """Split an address into an index in s2, a base in s3 and a displacement."""
    displacement = generator.randrange(-(1 << 31), 1 << 31)
    index = 0 if "hm" in mnemonic else generator.getrandbits(64)
    core.s[2] = index
    core.s[3] = (address - displacement - index) & ALL
    fields = 1 << 48 | 0x83 << 32 | displacement & 0xFFFFFFFF
    return fields if "hm" in mnemonic else fields | 0x82 << 40


@pytest.mark.parametrize("mnemonic", LOADS)
def test_loads(core: Core, operations: dict[str, Operation], mnemonic: str) -> None:
    generator = random.Random(mnemonic)
    size, extends, shift = LOADS[mnemonic]
    for _ in range(50):
        data = ctypes.create_string_buffer(generator.randbytes(32), 32)
        offset = generator.randrange(32 // size) * size
        address = ctypes.addressof(data) + offset
        word = operations[mnemonic].match | address_fields(core, mnemonic, address, generator)
        assert core.run([word])
        value = int.from_bytes(data.raw[offset : offset + size], "little", signed=extends)
        assert core.s[1] == (value << shift) & ALL


@pytest.mark.parametrize("mnemonic", STORES)
def test_stores(core: Core, operations: dict[str, Operation], mnemonic: str) -> None:
    generator = random.Random(mnemonic)
    size, shift = STORES[mnemonic]
    for _ in range(50):
        before = generator.randbytes(32)
        data = ctypes.create_string_buffer(before, 32)
        offset = generator.randrange(32 // size) * size
        address = ctypes.addressof(data) + offset
        core.s[1] = value = generator.getrandbits(64)
        word = operations[mnemonic].match | address_fields(core, mnemonic, address, generator)
        assert core.run([word])
        stored = (value >> shift).to_bytes(8, "little")[:size]
        assert data.raw == before[:offset] + stored + before[offset + size :]


@pytest.mark.parametrize(("mnemonic", "size"), [("ts1am.l", 8), ("ts1am.w", 4)])
def test_exchange_of_bytes(
    core: Core, operations: dict[str, Operation], mnemonic: str, size: int
) -> None:
    generator = random.Random(mnemonic)
    for _ in range(100):
        before = generator.randbytes(size)
        data = ctypes.create_string_buffer(before, 8)
        core.s[1] = value = generator.getrandbits(64)
        core.s[2] = chosen = generator.getrandbits(8)
        core.s[3] = ctypes.addressof(data)
        assert core.run([operations[mnemonic].match | 1 << 48 | 0x82 << 40 | 0x83 << 32])
        put = value.to_bytes(8, "little")
        expected = [put[k] if chosen >> k & 1 else before[k] for k in range(size)]
        assert data.raw[:size] == bytes(expected)
        assert core.s[1] == int.from_bytes(before, "little")


@pytest.mark.parametrize(("mnemonic", "size"), [("cas.l", 8), ("cas.w", 4)])
@pytest.mark.parametrize("equal", [True, False])
def test_compare_and_swap(
    core: Core, operations: dict[str, Operation], mnemonic: str, size: int, equal: bool
) -> None:
    old, new = 0x1122334455667788, 0x99AABBCCDDEEFF00
    data = ctypes.create_string_buffer(old.to_bytes(8, "little"), 8)
    core.s[1] = new
    core.s[2] = old if equal else old + 1
    core.s[3] = ctypes.addressof(data)
    assert core.run([operations[mnemonic].match | 1 << 48 | 0x82 << 40 | 0x83 << 32])
    kept = old.to_bytes(8, "little")
    changed = new.to_bytes(8, "little")[:size] + kept[size:]
    assert data.raw == (changed if equal else kept)
    assert core.s[1] == int.from_bytes(kept[:size], "little")


@pytest.mark.parametrize("mnemonic", ["ts2am", "ts3am", "atmam"])
def test_what_is_not_known_is_refused(
    core: Core, operations: dict[str, Operation], mnemonic: str
) -> None:
    data = ctypes.create_string_buffer(8)
    core.s[3] = ctypes.addressof(data)
    assert not core.run([operations[mnemonic].match | 1 << 48 | 0x83 << 32])
    assert core.fault_name() == "UNKNOWN"
    assert data.raw == bytes(8)


def test_addresses_are_sums(core: Core, operations: dict[str, Operation]) -> None:
    core.s[2], core.s[3] = 1000, 1 << 40
    fields = 1 << 48 | 0x82 << 40 | 0x83 << 32 | (-8 & 0xFFFFFFFF)
    assert core.run([operations["lea"].match | fields])
    assert core.s[1] == (1 << 40) + 992
    assert core.run([operations["lea.sl"].match | fields])
    assert core.s[1] == ((1 << 40) + 1000 + (0xFFFFFFF8 << 32)) & ALL


def test_counters_of_communication_registers(core: Core, operations: dict[str, Operation]) -> None:
    registers = core.set_communication(32)
    registers[3] = 5
    core.s[2] = 3
    changes = [(0, 5, 6), (1, 6, 5), (2, 5, 6), (3, 6, 5)]
    for how, before, after in changes:
        assert core.run([operations["fidcr"].match | 1 << 48 | 0x82 << 40 | how << 32])
        assert (core.s[1], registers[3]) == (before, after)
    # The last of the threads that count down turns bit 63 and starts anew.
    registers[3] = 4 << 32 | 2
    assert core.run([operations["fidcr"].match | 1 << 48 | 0x82 << 40 | 4 << 32])
    assert registers[3] == 4 << 32 | 1
    assert core.run([operations["fidcr"].match | 1 << 48 | 0x82 << 40 | 4 << 32])
    assert registers[3] == 1 << 63 | 4 << 32 | 4
    core.s[2] = 32
    assert not core.run([operations["lcr"].match | 1 << 48 | 0x82 << 40])
    assert core.fault_name() == "ILDT"
