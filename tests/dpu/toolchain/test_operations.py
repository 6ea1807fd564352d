# SPDX-License-Identifier: BSD-3-Clause
"""Operations that are translated in a special way: what they give, and what code they are."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Iterator

import pytest

from dpu.disasm import disassemble
from dpu.toolchain.link.program import Program
from tests.dpu.support.native import DONE
from tests.dpu.support.running import Running

RunKernel = Callable[..., Running]
Compile = Callable[..., Program]

EDGES = [0, 1, 2, 7, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFF_FFFF, 0x8000_0000]
EDGES += [0xFFFF_FF80, 0xFFFF_FFFF, 0x1_0000_0000, 0x1_0000_0005, 0x1_0000_0006, 1 << 63]
EDGES += [(1 << 63) - 1, (1 << 63) + 1, (1 << 64) - 1, (1 << 64) - 2, 0xFFFF_FFFF << 32]
CONSTANTS = [100, 1000003, 1 << 31, -1, -101, 255, 0x5555_5555, 641, 0x7FFF_FFFF, 10000]
CONSTANTS += [-0x20000, 0]


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def branches(a: int, b: int) -> int:
    x, y = signed(a, 64), signed(b, 64)
    truths = [a < b, a <= b, a == b, x < y, x <= y, a > 0x1_0000_0005, x >= 7, x > -1]
    found = other = 0
    for bit, truth in enumerate(truths):
        if truth:
            found |= 1 << bit
        else:
            other ^= 3 << bit
    return (found ^ other << 16) & 0xFFFF_FFFF


def truncated(a: int, b: int) -> tuple[int, int]:
    size = abs(a) // abs(b)
    quotient = size if (a < 0) == (b < 0) else -size
    return quotient, a - quotient * b


def chunks(values: list[int], size: int) -> Iterator[list[int]]:
    return (values[i : i + size] for i in range(0, len(values), size))


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
def test_operations_on_edges_and_at_random(
    run_kernel: RunKernel, rng: random.Random, level: str
) -> None:
    pairs = [(rng.choice(EDGES), rng.choice(EDGES)) for _ in range(32)]
    pairs += [(a, a) for a in rng.sample(EDGES, 8)]
    sizes = [rng.choice([8, 16, 32, 48, 64]) for _ in range(24)]
    pairs += [(rng.getrandbits(size), rng.getrandbits(rng.choice([8, 32, 64]))) for size in sizes]
    with run_kernel("operations", tasklets=3, level=level) as dpu:
        dpu.put("left", "Q", *(a for a, _ in pairs))
        dpu.put("right", "Q", *(b for _, b in pairs))
        assert dpu.launch() == DONE

        def check(name: str, form: str, expected: list[int]) -> None:
            found = dpu.get(name, form)
            wrong = [
                (pair, hex(one), hex(other))
                for pair, one, other in zip(pairs, found, expected, strict=True)
                if one != other
            ]
            assert not wrong, name

        mask = (1 << 64) - 1
        check("sums", "Q", [a + b & mask for a, b in pairs])
        check("differences", "Q", [a - b & mask for a, b in pairs])
        check("products", "Q", [a * b & mask for a, b in pairs])
        least = [min(signed(a + 1, 64), signed(b - 1, 64)) & mask for a, b in pairs]
        check("increments", "Q", least)
        lows = [(a & 0xFFFF_FFFF, b & 0xFFFF_FFFF) for a, b in pairs]
        check("wide", "Q", [a * b for a, b in lows])
        check("signed_wide", "q", [signed(a, 32) * signed(b, 32) for a, b in lows])
        check("mixed_wide", "q", [signed(a, 32) * b for a, b in lows])
        check("branches", "I", [branches(a, b) for a, b in pairs])
        truths = [
            (a < b)
            | (signed(a, 64) < signed(b, 64)) << 1
            | (signed(a, 64) <= signed(b, 64)) << 2
            | (a != b) << 3
            for a, b in pairs
        ]
        check("values", "I", truths)
        for (a, _), found in zip(lows, chunks(dpu.get("scaled", "I"), 12), strict=True):
            assert found == [a * constant & 0xFFFF_FFFF for constant in CONSTANTS], hex(a)
        for (a, b), found in zip(lows, chunks(dpu.get("narrow", "I"), 10), strict=True):
            expected = [
                (a & 255) * (b & 255),
                signed(a, 8) * signed(b, 8),
                (a & 255) * signed(b, 8),
                (a & 65535) * (b & 65535),
                signed(a, 16) * signed(b, 16),
                signed(a, 8) * signed(b, 16),
                (a & 65535) * signed(b, 16),
                a * (b & 255),
                a * signed(b, 8),
                a * (b & 65535),
            ]
            assert found == [value & 0xFFFF_FFFF for value in expected], (hex(a), hex(b))
        for (a, b), found in zip(lows, chunks(dpu.get("ratios", "I"), 4), strict=True):
            divisor = b or 1
            quotients = truncated(signed(a, 32), signed(divisor | 1, 32))
            expected = [a // divisor, a % divisor, *(q & 0xFFFF_FFFF for q in quotients)]
            assert found == expected, (hex(a), hex(b))


def mnemonics(program: Program, function: str) -> list[str]:
    start, count = program.functions[function]
    decoded = [disassemble(word) for word in program.words[start : start + count]]
    return [one.mnemonic if one is not None else "?" for one in decoded]


def test_bytes_that_are_not_zero_become_255(
    compile_text: Compile, machine_library: ctypes.CDLL
) -> None:
    program = compile_text(
        '#include "kernel.h"\n'
        "HOST uint32_t words[4];\n"
        "int main(void) {\n"
        "    for (int i = 0; i < 4; i++) words[i] = __builtin_riscv_orc_b_32(words[i]);\n"
        "}\n"
    )
    with Running(machine_library, program.elf) as dpu:
        dpu.put("words", "I", 0, 0x0102_0040, 0x7F00_8001, 0xFF80_7F01)
        assert dpu.launch() == DONE
        assert dpu.get("words", "I") == [0, 0xFFFF_00FF, 0xFF00_FFFF, 0xFFFF_FFFF]


BOTH, ONE, POINTER = "f(source, source)", "f(source)", "f((void *)source)"


@pytest.mark.parametrize(
    ("text", "call", "expected"),
    [
        ("long long f(long long a, long long b) { return a + b; }", BOTH, "add addc call"),
        ("long long f(long long a, long long b) { return a - b; }", BOTH, "sub subc call"),
        ("long long f(long long a) { return a + 1; }", ONE, "add addc call"),
        ("int f(long long a, long long b) { return a < b; }", BOTH, "sub subc call"),
        (
            "int f(unsigned long long a, unsigned long long b) { return a > b; }",
            BOTH,
            "sub subc call",
        ),
        ("unsigned f(unsigned char *a) { return a[0] * a[1]; }", POINTER, "lbu lbu mul_ul_ul call"),
        (
            "long long f(int a, int b) { return (unsigned)((signed char)a * (signed char)b); }",
            BOTH,
            "mul_sl_sl or call",
        ),
        ("unsigned f(unsigned a) { return a * 100; }", ONE, "lsl lsl_add lsl_add call"),
    ],
)
def test_code_is_as_short_as_the_dpu_allows(
    compile_text: Compile, text: str, call: str, expected: str
) -> None:
    main = f"#include <stdint.h>\nvolatile int source; int main(void) {{ return (int){call}; }}"
    program = compile_text(f"__attribute__((noinline)) static {text}\n{main}\n")
    assert sorted(mnemonics(program, "f")) == sorted(expected.split())
