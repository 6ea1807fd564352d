# SPDX-License-Identifier: BSD-3-Clause
"""Values computed before a lock stay before it, and values computed inside stay inside."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from dpu import _isa
from dpu.toolchain.frontend.lock_order import keep_lock_order
from dpu.toolchain.link.program import Program
from tests.dpu.support.native import DONE
from tests.dpu.support.running import Running

Compile = Callable[..., Program]
LEVELS = ["-O1", "-O2", "-O3", "-Os"]

HEAD = """
#include <defs.h>
#include <mutex.h>
#include <stdint.h>
MUTEX_INIT(lock);
__host volatile uint32_t input = 1000, factor = 77;
__host volatile float fraction = 1.5f;
__host volatile double ratio = 0.75;
__host volatile uint64_t wide = 1ull << 33;
__host uint32_t table[4096], count;
__host float fractions[2];
__host double ratios[2];
__host uint64_t wides[2];
int main(void)
{
"""
# Statements, and what they leave in variables. Computations call routines; locks are short.
BEFORE = {
    "product": (
        "uint32_t d = (input * factor) >> 12; mutex_lock(lock); table[d]++; mutex_unlock(lock);",
        ("table", "I", 18, 1),
    ),
    "quotient in a branch": (
        "uint32_t d = input / factor; mutex_lock(lock); if (count == 0) table[d] += 5; "
        "mutex_unlock(lock);",
        ("table", "I", 12, 5),
    ),
    "product before a trial": (
        "uint32_t d = input * factor; if (mutex_trylock(lock)) { count = d; mutex_unlock(lock); }",
        ("count", "I", 0, 77000),
    ),
    "difference": (
        "float f = fraction * 3; mutex_lock(lock); fractions[1] = f; mutex_unlock(lock);",
        ("fractions", "f", 1, 4.5),
    ),
    "double": (
        "double r = ratio / 3; mutex_lock(lock); ratios[1] = r; mutex_unlock(lock);",
        ("ratios", "d", 1, 0.25),
    ),
    "64 bits": (
        "uint64_t w = wide * input; mutex_lock(lock); wides[1] = w; mutex_unlock(lock);",
        ("wides", "Q", 1, 1000 << 33),
    ),
    "assembly": (
        "uint32_t d = (input * factor) >> 12; "
        '__asm__ volatile("acquire %0, 0, nz, ." : : "r"(lock) : "memory"); table[d]++; '
        '__asm__ volatile("nop; release %0, 0, nz, . + 1" : : "r"(lock) : "memory");',
        ("table", "I", 18, 1),
    ),
    "comparison": (
        "float a = fraction, b = fractions[0]; int c = a < b; mutex_lock(lock); "
        "if (c) count = 9; else count = 8; mutex_unlock(lock);",
        ("count", "I", 0, 8),
    ),
}


# Calls have a register for the return address.
def instructions(program: Program) -> list[str]:
    start, size = program.functions["main"]
    return [_isa.disassemble(word) for word in program.words[start : start + size]]


def between(code: list[str]) -> list[str]:
    """Return what is executed with the lock, as far as it is in one piece."""
    first = next(i for i, text in enumerate(code) if text.startswith("acquire"))
    last = max(i for i, text in enumerate(code) if text.startswith("release"))
    return code[first + 1 : last]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", BEFORE)
def test_what_precedes_a_lock_is_computed_before_it(
    compile_text: Compile, machine_library: ctypes.CDLL, name: str, level: str
) -> None:
    statements, (variable, form, index, value) = BEFORE[name]
    program = compile_text(f"{HEAD}{statements} return 0; }}", level=level)
    code = instructions(program)
    assert any(text.startswith("call r") for text in code)
    assert not any(text.startswith("call r") for text in between(code)), code
    with Running(machine_library, program.elf) as dpu:
        assert dpu.launch() == DONE
        assert dpu.get(variable, form)[index] == value


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_inside_a_lock_is_computed_inside(compile_text: Compile, level: str) -> None:
    statements = (
        "uint32_t a = input, b = factor; mutex_lock(lock); uint32_t d = a * b; count++; "
        "mutex_unlock(lock); table[d & 4095]++;"
    )
    code = instructions(compile_text(f"{HEAD}{statements} return 0; }}", level=level))
    # The product has no reason to be inside but that it was written there; a computation that
    # nothing orders may also be done before.
    release = next(i for i, text in enumerate(code) if text.startswith("release"))
    assert any(text.startswith("call r") for text in code[:release]), code
    assert not any(text.startswith("call r") for text in code[release:]), code


FUNCTION = """define void @f(ptr %p, i32 %n) {{
  br label %1

1:
  %i = phi i32 [ 0, %0 ], [ %next, %1 ]
{before}
  call void asm sideeffect ".insn i 0x0b, 3, x0, $0, 0", "r,~{{memory}}"(i32 5) #2
{after}
  br label %1
}}
declare void @g(i32)"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  %next = add i32 %i, 1", "  store i32 %next, ptr %p"),
        ("  %x = mul i32 %i, %n\n  store i32 %x, ptr %p", "  store i32 %x, ptr %p"),
        ("  %x = mul i32 %i, %n\n  call void @g(i32 %x)", "  store i32 %x, ptr %p"),
        ("  %x = getelementptr i8, ptr %p, i32 4", "  store i32 1, ptr %x"),
        ("  %x = load i32, ptr %p", "  store i32 %x, ptr %p"),
        ("  %x = mul i32 %i, %n", "  store i32 1, ptr %p"),
        ("", "  %x = mul i32 %i, %n\n  store i32 %x, ptr %p"),
        ("  %x = mul i16 3, 4\n  %y = zext i16 %x to i32", "  store i32 %y, ptr %p"),
    ],
)
def test_what_stays_where_it_is_passes_unchanged(before: str, after: str) -> None:
    text = FUNCTION.format(before=before, after=after)
    assert keep_lock_order(text) == text


@pytest.mark.parametrize(
    ("before", "after", "pins"),
    [
        ("  %x = mul i32 %i, %n", "  store i32 %x, ptr %p", 1),
        ("  %x = mul i32 %i, %n\n  %y = trunc i32 %x to i8", "  store i8 %y, ptr %p", 1),
        ("  %x = mul i32 %i, %n\n  %y = lshr i32 %x, 3", "  store i32 %y, ptr %p", 1),
        ("  %x = getelementptr i32, ptr %p, i32 %i", "  store i32 1, ptr %x", 1),
        ("  %x = tail call i32 @llvm.umin.i32(i32 %i, i32 %n)", "  store i32 %x, ptr %p", 1),
        ("  %x = fptosi float 1.5 to i32", "  store i32 %x, ptr %p", 1),
        ("  %x = select i1 true, i32 %i, i32 %n", "  store i32 %x, ptr %p", 1),
        ("  %x = mul i64 3, 4", "  store i64 %x, ptr %p", 2),
        (
            "  %x = mul nuw i32 %i, %n, !dbg !7\n    #dbg_value(i32 %x, !1)",
            "  store i32 %x, ptr %p",
            1,
        ),
    ],
)
def test_a_value_is_held_once(before: str, after: str, pins: int) -> None:
    text = keep_lock_order(FUNCTION.format(before=before, after=after))
    assert text.count('asm sideeffect "", "=r,0"') == pins
    held = text.index('asm sideeffect "", ')
    assert held < text.index(".insn i 0x0b, 3")
