# SPDX-License-Identifier: BSD-3-Clause
"""Each vector instruction does what the reference says, on random registers, masks and lengths."""

from __future__ import annotations

import copy
import ctypes
import itertools
import math
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.support.builds import c_program
from tests.veo.reference.numbers import MASK64, f32, f64
from tests.veo.reference.vectors import LENGTH, Core, execute

ROUNDS = 2
ROWS = 8
BYTES = 1 << 16
SPECIAL_DOUBLES = (0.0, -0.0, 1.0, -1.5, 5e-324, 1e-310, 1.7e308, 2.0**31, 2.0**63, -(2.0**31))
SPECIALS = [
    *(int.from_bytes(struct.pack("<d", value), "little") for value in SPECIAL_DOUBLES),
    0x7FF0000000000000,
    0xFFF0000000000000,
    0x7FF8000000000000,
    0x7F8000007F800000,
    0xFF8000007FC00000,
    0x0000000100800000,
    0x8000000080000000,
    0x7FFFFFFF7FFFFFFF,
    MASK64,
]


@dataclass
class Operation:
    """A row of the table of instructions."""

    mnemonic: str
    operands: str
    mask: int
    match: int
    masking: int

    @property
    def pair(self) -> bool:
        """True if it has a mask for each half."""
        return self.masking == 2


class Vectors:
    """The executors of vector instructions, and the core that they are tried on."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(str(c_program("tests/veo/support/vectors.so", "plain")))
        registers = ctypes.POINTER(ctypes.c_uint64)
        for name in ("scalars", "elements", "masks"):
            getattr(self.library, f"vectors_{name}").restype = registers
        self.library.vectors_mnemonic.restype = ctypes.c_char_p
        self.library.vectors_operands.restype = ctypes.c_char_p
        self.library.vectors_mask.restype = ctypes.c_uint64
        self.library.vectors_match.restype = ctypes.c_uint64
        self.library.vectors_run.argtypes = [ctypes.c_uint64] + [ctypes.c_uint32] * 3
        self.scalars = self.library.vectors_scalars()
        self.elements = self.library.vectors_elements()
        self.masks = self.library.vectors_masks()
        self.others = random.Random("others").randbytes((64 - ROWS) * LENGTH * 8)
        self.memory = ctypes.create_string_buffer(BYTES + 8)
        self.base = -(-ctypes.addressof(self.memory) // 8) * 8

    def operations(self) -> Iterator[Operation]:
        """Go through the rows that have an executor of vectors."""
        library = self.library
        for number in range(library.vectors_operation_count()):
            if library.vectors_has(number):
                yield Operation(
                    library.vectors_mnemonic(number).decode(),
                    library.vectors_operands(number).decode(),
                    library.vectors_mask(number),
                    library.vectors_match(number),
                    library.vectors_masking(number),
                )

    def run(self, core: Core, word: int, level: int) -> Core:
        """Execute a word on a copy of a core."""
        count = ROWS * LENGTH
        before = struct.pack(f"<{count}Q", *itertools.chain(*core.v))
        ctypes.memmove(self.scalars, struct.pack("<64Q", *core.s), 64 * 8)
        ctypes.memmove(self.elements, before + self.others, 64 * LENGTH * 8)
        for number, mask in enumerate(core.vm):
            for word_index in range(4):
                bits = "".join("01"[bit] for bit in mask[64 * word_index : 64 * word_index + 64])
                self.masks[4 * number + word_index] = int(bits, 2)
        ctypes.memmove(self.base, bytes(core.memory), BYTES)
        assert self.library.vectors_run(word, core.vl, core.vix, level) == 0, hex(word)

        after = copy.copy(core)
        after.s = self.scalars[:64]
        raw = ctypes.string_at(self.elements, 64 * LENGTH * 8)
        assert raw[8 * count :] == self.others, hex(word)
        values = list(struct.unpack(f"<{count}Q", raw[: 8 * count]))
        after.v = [values[LENGTH * n : LENGTH * (n + 1)] for n in range(ROWS)]
        after.vm = [
            [bit == "1" for i in range(4) for bit in f"{self.masks[4 * n + i]:064b}"]
            for n in range(16)
        ]
        after.memory = bytearray(ctypes.string_at(self.base, BYTES))
        return after


@pytest.fixture(scope="module")
def vectors(compiler: str) -> Vectors:
    """The executors as a shared library of their own."""
    return Vectors()


def random_bits(rng: random.Random) -> int:
    """Make 64 bits that are integers, doubles and floats worth trying."""
    kind = rng.randrange(5)
    if kind == 0:
        return rng.choice(SPECIALS)
    if kind == 1:
        return int.from_bytes(struct.pack("<d", rng.uniform(-100, 100)), "little")
    if kind == 2:
        pair = struct.pack("<ff", rng.uniform(-100, 100), rng.uniform(-9, 9))
        return int.from_bytes(pair, "little")
    return rng.getrandbits(64) if kind == 3 else rng.randrange(-300, 300) & MASK64


def random_core(rng: random.Random, pool: list[int], base: int) -> Core:
    """Make a core with random registers; words name the first vectors."""
    v = [rng.choices(pool, k=LENGTH) for _ in range(ROWS)]
    masks = [rng.choices((False, True, True), k=LENGTH) for _ in range(16)]
    masks[0] = [True] * LENGTH
    vl = rng.choice((0, 1, 2, 63, 64, 65, 200, 255, 256, rng.randrange(257)))
    memory = bytearray(rng.randbytes(BYTES))
    return Core(rng.choices(pool, k=64), v, masks, vl, rng.randrange(ROWS), base, memory)


def random_word(rng: random.Random, operation: Operation, core: Core) -> int:
    """Make a word of an operation, and registers that its memory accesses are good with."""
    word = operation.match
    names = operation.operands.replace("|", ", ").replace("(", "").replace(")", "").split(", ")
    kinds = dict(name.partition(":")[::2] for name in names)

    def put(value: int, low: int) -> None:
        nonlocal word
        word |= value << low

    for name, low in (("vx", 24), ("vy", 16), ("vz", 8), ("vw", 0)):
        if name in kinds:
            top = 16 if kinds[name] == "vm" else ROWS
            put(rng.randrange(top) if top == 16 or rng.random() < 0.9 else 255, low)
    if operation.masking:
        put(rng.choice((0, 2, 4, 6, 14)) if operation.pair else rng.randrange(16), 48)
    if ".?" in operation.mnemonic:
        word = word & ~(255 << 16) | rng.randrange(16) << 16
    if "~" in operation.mnemonic:
        put(rng.choice((0, 8, 9, 10, 11, 12)), 8)
    if "sx" in kinds:
        put(rng.randrange(8, 64), 48)

    if "vy|sy" in operation.operands and rng.random() < 0.4:
        word = word & ~(255 << 16) | 1 << 53
    elif "vz|sy" in operation.operands and rng.random() < 0.5:
        word = word & ~(255 << 8) | 1 << 52
    scalar = "|" not in operation.operands or bool(word >> 52 & 3)
    if "sy" in kinds and scalar:
        limit = {"u2": 4, "u3": 8, "u4": 16, "m": 128, "": 128}.get(kinds["sy"], 128)
        put(*((1, 47) if rng.random() < 0.5 else (rng.randrange(limit), 40)))
        if word >> 47 & 1:
            put(rng.randrange(64), 40)
    if "sz" in kinds and "sw" not in kinds:
        put(1, 39)
        put(rng.randrange(64), 32)
    if "sz" in kinds and "u3" not in kinds.get("sy", ""):
        word = addressed(rng, operation, core, word)
    return word


def addressed(rng: random.Random, operation: Operation, core: Core, word: int) -> int:
    """Let a load or store go to the middle of memory."""
    size = 8 if operation.mnemonic[3:] in ("", "2d") or operation.mnemonic == "vgt" else 4
    middle = core.base + BYTES // 2
    word |= 1 << 47 | 1 << 39
    word = word & ~(127 << 40 | 127 << 32) | 3 << 40 | 4 << 32
    core.s[3], core.s[4] = size * rng.choice((0, 1, 1, 2, -1, -7)) & MASK64, middle
    if "2d" in operation.mnemonic:
        core.s[3] = (size * rng.randrange(-64, 64) << 16 | size * rng.randrange(9)) & MASK64
    if "sw" in operation.operands:
        places = [middle + size * rng.randrange(-999, 999) for _ in range(LENGTH)]
        core.v[5], core.s[6] = places, 5
        word = word & ~(255 << 16)
        return word | (1 << 53 | 6 if rng.random() < 0.3 else 5 << 16)
    return word


def same(mine: int, other: int, mnemonic: str) -> bool:
    """Compare elements; NaNs are alike, and approximations near."""
    if mine == other:
        return True
    if not mnemonic.removeprefix("p").startswith(("vf", "vrcp", "vrsqrt", "vcvt")):
        return False
    near = 1e-6 if "rsqrt" in mnemonic else 0
    if mnemonic.endswith((".d", ".d.nex", ".d.s")) or ".d." in mnemonic:
        return _alike(f64(mine), f64(other), near)
    return all(_alike(f32(mine >> shift), f32(other >> shift), near) for shift in (0, 32))


def _alike(mine: float, other: float, near: float) -> bool:
    return (
        (math.isnan(mine) and math.isnan(other))
        or (mine == other and struct.pack("<d", mine) == struct.pack("<d", other))
        or (near > 0 and abs(mine - other) <= near * abs(other))
    )


@pytest.mark.parametrize("level", range(3))
def test_each_vector_instruction_agrees_with_the_reference(vectors: Vectors, level: int) -> None:
    if not vectors.library.vectors_supports(level):
        pytest.skip("the processor cannot execute these instructions")
    rng = random.Random(f"vectors {level}")
    pool = [random_bits(rng) for _ in range(2000)]
    operations = list(vectors.operations())
    assert len(operations) > 250
    for operation in operations:
        for _ in range(ROUNDS):
            core = random_core(rng, pool, vectors.base)
            word = random_word(rng, operation, core)
            after = vectors.run(core, word, level)
            execute(core, word, operation.mnemonic, operation.operands, operation.pair)
            what = f"{operation.mnemonic} {word:#018x} VL {core.vl}"
            assert after.s == core.s, what
            assert after.vm == core.vm, what
            assert after.memory == core.memory, what
            for number, (mine, theirs) in enumerate(zip(after.v, core.v, strict=True)):
                if mine == theirs:
                    continue
                wrong = [
                    (i, hex(a), hex(b))
                    for i, (a, b) in enumerate(zip(mine, theirs, strict=True))
                    if not same(a, b, operation.mnemonic)
                ]
                assert not wrong, f"{what}: v{number} {wrong[:4]}"
