# SPDX-License-Identifier: BSD-3-Clause
"""Transfers go where the vendor's programs make them go: alignment, sizes, and the MRAM's heap."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable

import pytest

from dpu.elf.reader import ElfFile
from dpu.toolchain.frontend.dma_alignment import align_for_dma
from dpu.toolchain.link.program import Program
from tests.dpu.support.native import DONE
from tests.dpu.support.running import Running

Compile = Callable[..., Program]
LEVELS = ["-O0", "-O2", "-O3"]
MRAM = 0x0800_0000

# Objects of every kind, with a byte before each that would move what follows it.
OBJECTS = """
#include <alloc.h>
#include <mram.h>
#include <stdint.h>
#include <string.h>
struct bytes { char first; uint8_t data[15]; };
struct outer { int number; struct bytes inner[2]; };
__host uint32_t wrong;
__host volatile int length = 21;
__mram_noinit uint8_t copy[8];
static volatile char odd_1; static uint8_t one[9];
static volatile char odd_2; static int16_t two[8];
volatile char odd_3; uint8_t three[3][16];
volatile char odd_4; const uint8_t four[16] = {1, 2, 3};
static volatile char odd_5; static struct bytes five;
static void check(void *object) { if ((uintptr_t)object & 7) wrong++; }
#define CHECK(object) check((void *)(uintptr_t)(object))
static __attribute__((noinline)) void parameters(struct outer by_value, char c, struct bytes more)
{
    volatile char before = c;
    CHECK(&by_value);
    CHECK(&more);
    c = before;
}
static __attribute__((noinline)) void locals(void)
{
    volatile char a = 1; uint8_t bytes[16];
    volatile char b = 2; int16_t halves[5];
    volatile char c = 3; int32_t words[3];
    volatile char d = 4; struct bytes structure;
    volatile char e = 5; uint8_t rows[3][3];
    static char f; static uint8_t kept[12];
    uint8_t variable[length], more[length];
    CHECK(bytes); CHECK(halves); CHECK(words); CHECK(&structure); CHECK(rows); CHECK(kept);
    CHECK(variable); CHECK(more); CHECK(__builtin_alloca((unsigned)length));
    CHECK(((uint8_t[]){a, b, c, d, e, f, 7, 8, 9}));
    CHECK((&(struct bytes){a, {b}}));
}
int main(void)
{
    CHECK(one); CHECK(two); CHECK(three); CHECK(four); CHECK(&five);
    for (unsigned size = 1; size < 20; size++) {
        CHECK(mem_alloc(size));
        locals();
    }
    buddy_init(4096);
    CHECK(buddy_alloc(3)); CHECK(buddy_alloc(33));
    fsb_allocator_t blocks = fsb_alloc(9, 3);
    CHECK(fsb_get(blocks)); CHECK(fsb_get(blocks));
    parameters((struct outer){1, {{2, {3}}}}, 4, (struct bytes){5, {6}});
    one[0] = odd_1 + odd_2 + odd_3 + odd_4 + odd_5 + two[0] + three[1][1] + five.first;
    return 0;
}
"""
SIZES = """
#include <mram.h>
__host unsigned size;
__mram_noinit unsigned char from[2048];
__host unsigned char buffer[2048 + 16];
int main(void)
{
#ifdef SIZE
    mram_read(from, buffer, SIZE);
#else
    mram_read(from, buffer, size);
#endif
    return 0;
}
"""
PRINTING = """
#include <mram.h>
#include <stdio.h>
__host unsigned heap;
void say(int number) { printf("%d\\n", number); }
int main(void) { heap = (unsigned)DPU_MRAM_HEAP_POINTER; USE; return 0; }
"""


@pytest.mark.parametrize("level", LEVELS)
def test_objects_are_aligned_for_transfers(
    compile_text: Compile, machine_library: ctypes.CDLL, level: str
) -> None:
    program = compile_text(OBJECTS, level=level, defines={"STACK_SIZE_DEFAULT": 2048})
    with Running(machine_library, program.elf) as dpu:
        assert dpu.launch() == DONE
        assert dpu.get("wrong", "I") == [0]


def test_scalars_and_sections_keep_their_alignment() -> None:
    kept = [
        "@one = dso_local global i32 0, align 4",
        '@placed = internal global [3 x i8] zeroinitializer, section "table", align 1',
        '@.str = private unnamed_addr constant [4 x i8] c"abc\\00", align 1',
        "@far = dso_local addrspace(255) global [4 x i8] zeroinitializer, align 1",
        "@wide = dso_local global [4 x i64] zeroinitializer, align 16",
        "  %1 = alloca i32, align 4",
        "  %2 = alloca [2 x i64], align 8",
        "  store i8 1, ptr %1, align 1",
    ]
    assert align_for_dma("\n".join(kept)) == "\n".join(kept)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 15, 16, 2040, 2047, 2048, 2049, 2056])
@pytest.mark.parametrize("is_constant", [False, True])
def test_a_size_counts_whole_units_and_leaves_the_address_alone(
    compile_text: Compile,
    machine_library: ctypes.CDLL,
    rng: random.Random,
    level: str,
    size: int,
    is_constant: bool,
) -> None:
    program = compile_text(SIZES, level=level, defines={"SIZE": size} if is_constant else {})
    data = [rng.randrange(1, 256) for _ in range(2048)]
    moved = ((size // 8 - 1) % 256 + 1) * 8
    with Running(machine_library, program.elf) as dpu:
        dpu.put("from", "B", *data)
        dpu.put("size", "I", size)
        assert dpu.launch() == DONE
        assert dpu.get("buffer", "B") == data[:moved] + [0] * (2064 - moved)


@pytest.mark.parametrize(("use", "end"), [("(void)0", MRAM), ("say(7)", MRAM + (1 << 20))])
def test_printing_that_nothing_calls_takes_no_mram(
    compile_text: Compile, use: str, end: int
) -> None:
    program = compile_text(PRINTING, defines={"USE": use})
    assert ElfFile(program.elf).symbol("__sys_used_mram_end").value == end


def test_a_buffer_of_the_programs_own_is_kept(compile_text: Compile) -> None:
    text = PRINTING + "STDOUT_BUFFER_INIT(4096);\n"
    program = compile_text(text, defines={"USE": "say(7)"})
    assert ElfFile(program.elf).symbol("__sys_used_mram_end").value == MRAM + 4096
