# SPDX-License-Identifier: BSD-3-Clause
"""The DPU's own instructions, as C writes them, are executed."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable

import pytest

from dpu.toolchain.link.program import Program
from tests.dpu.support.native import DONE, FAULT, FAULT_KINDS
from tests.dpu.support.running import Running

Compile = Callable[..., Program]

ONE_RESULT = """#include "kernel.h"
HOST uint32_t a[64], b[64], result[64];
int main(void)
{
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t value;
        __asm__ volatile(".insn r 0x0b, 6, %3, %0, %1, %2"
                         : "=r"(value) : "r"(a[i]), "r"(b[i]), "i"(FUNCTION));
        result[i] = value;
    }
    return 0;
}
"""


def byte(value: int, index: int) -> int:
    return value >> 8 * index & 255


def leading_signs(value: int) -> int:
    """Return how many bits after the sign are the same as it."""
    value ^= 0xFFFF_FFFF if value >> 31 else 0
    return 31 - value.bit_length()


@pytest.mark.parametrize(
    ("function", "meaning"),
    [
        (8, lambda a, b: leading_signs(a)),
        (10, lambda a, b: sum((byte(a, i) == byte(b, i)) << 8 * i for i in range(4))),
        (16, lambda a, b: byte(a, 0) * byte(b, 0)),
        (17, lambda a, b: byte(a, 0) * byte(b, 1)),
        (18, lambda a, b: byte(a, 1) * byte(b, 0)),
        (19, lambda a, b: byte(a, 1) * byte(b, 1)),
    ],
)
def test_functions_of_two_numbers(
    compile_text: Compile,
    machine_library: ctypes.CDLL,
    rng: random.Random,
    function: int,
    meaning: Callable[[int, int], int],
) -> None:
    program = compile_text(ONE_RESULT, defines={"FUNCTION": function})
    a = [0, 0xFFFF_FFFF, 1, *(rng.getrandbits(rng.randrange(1, 33)) for _ in range(61))]
    b = [x ^ rng.choice([0, 0xFF, 0xFF00, 0xFF00_0000, rng.getrandbits(32)]) for x in a]
    with Running(machine_library, program.elf) as dpu:
        dpu.put("a", "I", *a)
        dpu.put("b", "I", *b)
        assert dpu.launch() == DONE
        assert dpu.get("result", "I") == [meaning(x, y) for x, y in zip(a, b, strict=True)]


def test_division_by_8_bits_at_a_time(
    compile_text: Compile, machine_library: ctypes.CDLL, rng: random.Random
) -> None:
    program = compile_text(ONE_RESULT, defines={"FUNCTION": 22})
    b = [rng.randrange(1, 1 << rng.randrange(1, 24)) for _ in range(64)]
    a = [rng.randrange(divisor) for divisor in b]
    with Running(machine_library, program.elf) as dpu:
        dpu.put("a", "I", *a)
        dpu.put("b", "I", *b)
        assert dpu.launch() == DONE
        expected = [(x << 8) % y << 8 | (x << 8) // y for x, y in zip(a, b, strict=True)]
        assert dpu.get("result", "I") == [value & 0xFFFF_FFFF for value in expected]


def test_every_tasklet_runs_on_a_stack_of_its_own(
    compile_text: Compile, machine_library: ctypes.CDLL
) -> None:
    program = compile_text(
        """#include "kernel.h"
        HOST uint32_t stacks[24];
        int main(void)
        {
            volatile uint32_t on_stack = me();
            stacks[me()] = (uint32_t)&on_stack | (on_stack != me());
            return 0;
        }""",
        tasklets=24,
        defines={"STACK_SIZE_DEFAULT": 256, "STACK_SIZE_TASKLET_3": 1024},
    )
    with Running(machine_library, program.elf) as dpu:
        assert dpu.launch() == DONE
        stacks = dpu.get("stacks", "I")
        for tasklet, address in enumerate(stacks):
            start = dpu.file.symbol(f"__sys_stack_thread_{tasklet}").value
            assert start <= address < start + (1024 if tasklet == 3 else 256)
            assert address % 2 == 0


def test_a_lock_keeps_a_sum_whole_and_is_free_at_the_next_launch(
    compile_text: Compile, machine_library: ctypes.CDLL
) -> None:
    program = compile_text(
        """#include "kernel.h"
        HOST uint32_t sum, refused;
        static BIT unsigned char bit, other;
        int main(void)
        {
            for (int i = 0; i < 50; i++) {
                lock(&bit);
                uint32_t old = *(volatile uint32_t *)&sum;
                if (try_lock(&bit))
                    sum = 1000000;
                else
                    refused++;
                *(volatile uint32_t *)&sum = old + 1;
                unlock(&bit);
            }
            if (me() == 0 && !try_lock(&other))
                sum = 2000000; /* and it is never released */
            return 0;
        }""",
        tasklets=11,
    )
    with Running(machine_library, program.elf) as dpu:
        for launch in (1, 2):
            assert dpu.launch() == DONE
            assert dpu.get("sum", "I") == [550 * launch]
            assert dpu.get("refused", "I") == [550 * launch]


def test_stop_resume_and_running_state(compile_text: Compile, machine_library: ctypes.CDLL) -> None:
    program = compile_text(
        """#include "kernel.h"
        HOST uint32_t order[4];
        static volatile uint32_t next;
        int main(void)
        {
            uint32_t id = me(), runs;
            if (id == 1)
                stop();
            order[next++] = id + 1;
            if (id == 0) {
                do {
                    __asm__ volatile(".insn r 0x0b, 6, 7, %0, %1, x0" : "=r"(runs) : "r"(1));
                } while (runs);
                order[next++] = 10;
                resume(1);
            }
            return 0;
        }""",
        tasklets=2,
    )
    with Running(machine_library, program.elf) as dpu:
        assert dpu.launch() == DONE
        assert dpu.get("order", "I")[:3] == [1, 10, 2]


def test_time_counts_instructions(compile_text: Compile, machine_library: ctypes.CDLL) -> None:
    program = compile_text(
        """#include "kernel.h"
        HOST uint32_t times[2];
        int main(void)
        {
            uint32_t old, start, end;
            /* 5: from 0 on, instructions */
            __asm__ volatile(".insn r 0x0b, 6, 5, %0, %1, x0" : "=r"(old) : "r"(5));
            __asm__ volatile(".insn r 0x0b, 6, 4, %0, x0, x0" : "=r"(start));
            for (int i = 0; i < 1600; i++)
                __asm__ volatile(".insn r 0x0b, 6, 6, x0, x0, x0");
            __asm__ volatile(".insn r 0x0b, 6, 4, %0, x0, x0" : "=r"(end));
            times[0] = start;
            times[1] = end;
            return 0;
        }"""
    )
    with Running(machine_library, program.elf) as dpu:
        assert dpu.launch() == DONE
        start, end = dpu.get("times", "I")
    # The counter is read in units of 16; a turn is the nop and one or two for the loop.
    assert start <= 1
    assert 1600 * 2 <= (end - start) * 16 <= 1600 * 4 + 16


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ('__asm__ volatile(".insn i 0x0b, 5, x0, x0, 3");', 3),
        ("__builtin_trap();", 4),
        ("zero = 5 / *(volatile int *)&zero;", 2),
        ("zero = 5 % *(volatile unsigned *)&zero;", 2),
    ],
)
def test_faults_have_their_numbers(
    compile_text: Compile, machine_library: ctypes.CDLL, statement: str, number: int
) -> None:
    program = compile_text(
        f'#include "kernel.h"\nHOST int zero;\nint main(void) {{ {statement} return zero; }}'
    )
    with Running(machine_library, program.elf) as dpu:
        assert dpu.launch() == FAULT
        assert FAULT_KINDS[dpu.machine.result.fault] == "bkp"
        assert dpu.machine.result.breakpoint == number
