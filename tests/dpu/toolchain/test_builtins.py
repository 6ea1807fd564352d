# SPDX-License-Identifier: BSD-3-Clause
"""Builtins that the vendor's compiler knows without a header are known here too."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable

import pytest

from dpu.toolchain.errors import CommandError
from dpu.toolchain.link.program import Program
from tests.dpu.support.native import DONE
from tests.dpu.support.running import Running

Compile = Callable[..., Program]
LEVELS = ["-O0", "-O2"]

# No header, and names that headers have are the program's own.
TASKLETS = """
typedef enum { false, true } bool;
typedef int uint32_t;
__attribute__((section(".dpu_host"), used)) unsigned int ids[16];
int main(void)
{
    bool is = true;
    ids[__builtin_dpu_tid()] = __builtin_dpu_tid() * 3 + is;
    return 0;
}
"""
TRANSFERS = """
#define MRAM __attribute__((section(".mram.noinit"), address_space(255), aligned(8), used))
unsigned char MRAM from[256], MRAM to[256];
__attribute__((section(".dpu_host"), used)) unsigned int size;
static unsigned char buffer[256] __attribute__((aligned(8)));
int main(void)
{
    unsigned int step = 0;
    __builtin_dpu_ldma(buffer, from, 64);
    __builtin_dpu_ldma(buffer + 64, from + 64, size + step++);
    for (int i = 0; i < 256; i++)
        buffer[i] ^= step;
    __builtin_dpu_sdma(buffer, to, size);
    __builtin_dpu_sdma(buffer + size, to + size, 128);
    return 0;
}
"""
SEQUENCE = """
#include <seqread.h>
int __builtin_dpu_seqread_get(int, unsigned int, void *, const unsigned int);
unsigned int __mram_noinit from[1024];
__host unsigned int result[512];
int main(void)
{
    seqreader_t reader;
    unsigned int *item = seqread_init(seqread_alloc(), from + 5, &reader);
    for (int i = 0; i < 512; i++) {
        result[i] = *item;
        item = (void *)__builtin_dpu_seqread_get((int)item, 4, &reader, SEQREAD_CACHE_SIZE);
        if (item != seqread_seek(from + 6 + i, &reader))
            return 1;
    }
    return 0;
}
"""


@pytest.mark.parametrize("level", LEVELS)
def test_the_number_of_a_tasklet(
    compile_text: Compile, machine_library: ctypes.CDLL, level: str
) -> None:
    program = compile_text(TASKLETS, tasklets=16, level=level)
    with Running(machine_library, program.elf) as dpu:
        assert dpu.launch() == DONE
        assert dpu.get("ids", "I") == [3 * number + 1 for number in range(16)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("size", [8, 128])
def test_transfers_of_sizes_known_and_not(
    compile_text: Compile, machine_library: ctypes.CDLL, rng: random.Random, level: str, size: int
) -> None:
    data = rng.randbytes(256)
    with Running(machine_library, compile_text(TRANSFERS, level=level).elf) as dpu:
        dpu.put("from", "B", *data)
        dpu.put("size", "I", size)
        assert dpu.launch() == DONE
        read = data[: 64 + size] + bytes(192 - size)
        assert dpu.get("to", "B")[: size + 128] == [byte ^ 1 for byte in read[: size + 128]]
        assert dpu.get("to", "B")[size + 128 :] == [0] * (128 - size)


@pytest.mark.parametrize("level", LEVELS)
def test_sequential_reading(
    compile_text: Compile, machine_library: ctypes.CDLL, rng: random.Random, level: str
) -> None:
    data = [rng.getrandbits(32) for _ in range(1024)]
    program = compile_text(SEQUENCE, level=level, options=["-DSEQREAD_CACHE_SIZE=64"])
    with Running(machine_library, program.elf) as dpu:
        dpu.put("from", "I", *data)
        assert dpu.launch() == DONE
        assert dpu.get("result", "I") == data[5:517]


def test_functions_of_constants_are_computed_by_the_compiler(
    compile_text: Compile, machine_library: ctypes.CDLL
) -> None:
    text = """
__attribute__((section(".dpu_host"), used)) int results[3];
int main(void)
{
    results[0] = __builtin_log2(16);
    results[1] = __builtin_sqrt(81.0);
    results[2] = __builtin_pow(3, 4);
    return 0;
}
"""
    with Running(machine_library, compile_text(text, level="-O2").elf) as dpu:
        assert dpu.launch() == DONE
        assert dpu.get("results", "i") == [4, 9, 81]


def test_one_that_does_not_exist_is_named_with_its_line(compile_text: Compile) -> None:
    with pytest.raises(CommandError) as caught:
        compile_text(
            "int x;\nint main(void)\n{\n    x = __builtin_dpu_other(3);\n    return 0;\n}\n"
        )
    assert "undefined symbol: __builtin_dpu_other" in str(caught.value)
    assert "source.c:4" in str(caught.value)
