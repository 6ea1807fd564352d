# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are assembled, linked and run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpu.asm import Source, assemble
from dpu.elf.program import ProgramFile
from dpu.objdump import source_of
from tests.dpu.asm.programs_to_run import Runner

# The machine is built here without sanitizers; tests/dpu/unit runs it with them.
pytestmark = pytest.mark.nosanitize

Run = Callable[[bytes], Runner]

SUM = """
        .section .mram
        .globl  numbers
numbers:
        .rept   16
        .long   NUMBER
        .endr
        .section .dpu_host, "aw", @progbits
        .globl  total, who
        .p2align 2
total:  .long   0
who:    .space  4 * 24
        .bss
buffer: .space  8 * 8 * 24
lock_owner: .long 0
        .section .atomic, "aw", @nobits
lock:   .zero   1
        .text
        .globl  main
        .type   main, @function
        // Each tasklet adds two numbers to the sum.
main:   sw      r22, 0, r23
        add     r22, r22, 8

        lsl     r1, id, 3                   // where its numbers are
        move    r2, buffer
        add     r2, r2, r1
        move    r3, numbers
        add     r3, r3, r1
        ldma    r2, r3, 0
        lw      r4, r2, 0
        lw      r5, r2, 4
        add     r4, r4, r5
        acquire zero, lock, nz, .
        lw      r6, zero, total
        add     r6, r6, r4
        sw      zero, total, r6
        release zero, lock, nz, . + 1
        move    r0, who
        lsl_add r0, r0, id, 2
        sw_id   r0, 0, 256
        call    r23, leaf
        add     r22, r22, -8
        lw      r23, r22, 0
        jump    r23
        .size   main, . - main
leaf:   jump    r23
"""


def test_tasklets_sum_up_numbers_in_mram(runner: Run) -> None:
    text = SUM.replace("NUMBER", "3")
    program = assemble(Source("sum.s", text, preprocess=False), nr_tasklets=8)
    run = runner(program)
    for _ in range(2):
        run.launch()
    assert run.words("total") == [2 * 8 * 6]
    assert run.words("who")[:9] == [256 | i for i in range(8)] + [0]
    assert run.symbol("NR_TASKLETS").value == 8


def test_what_objdump_writes_runs_the_same(runner: Run) -> None:
    text = SUM.replace("NUMBER", "7")
    program = assemble(Source("sum.s", text, preprocess=False), nr_tasklets=4)
    again = assemble(Source("again.s", source_of(ProgramFile(program)), preprocess=False))
    assert ProgramFile(again).words() == ProgramFile(program).words()
    run = runner(again)
    run.launch()
    assert run.words("total") == [4 * 14]


def test_a_program_without_main_starts_with_its_first_instruction(runner: Run) -> None:
    text = """
        .section .dpu_host
        .globl  result
result: .quad   0
        .text
        .globl  start
start:  move    r0, 10
        move    r1, 0
1:      add     r1, r1, r0
        add     r0, r0, -1, nz, 1b
        sw      zero, result, r1
        sw      id, result + 4, -5
        stop
"""
    run = runner(assemble(Source("plain.s", text, preprocess=False)))
    assert run.symbol("start").value == 0x80000000
    run.launch()
    assert run.words("result") == [55, 0xFFFF_FFFB]


@pytest.mark.parametrize("tasklets", [1, 2, 11, 24])
def test_every_tasklet_has_a_stack_of_its_own(runner: Run, tasklets: int) -> None:
    text = """
        .section .dpu_host
        .globl  stacks
stacks: .space  4 * 24
        .text
main:   lsl     r0, id, 2
        sw      r0, stacks, r22
        sd      r22, 0, d22
        jump    r23
"""
    program = assemble(
        Source("stacks.s", text, preprocess=False), nr_tasklets=tasklets, stack_size=256
    )
    run = runner(program)
    run.launch()
    first = run.symbol("__sys_stack_thread_0").value
    assert first % 8 == 0
    found = run.words("stacks")
    assert found[:tasklets] == [first + 256 * i for i in range(tasklets)]
    assert not any(found[tasklets:])
    assert run.symbol("__sys_heap_pointer_reset").value == first + 256 * tasklets


def test_the_start_code_empties_the_print_buffer_and_frees_atomic_bits(runner: Run) -> None:
    text = """
        .section .data.immediate_memory, "aw", @progbits
        .p2align 3
        .globl  __stdout_buffer_state
__stdout_buffer_state:
        .long   1234, 1
        .section .atomic
        .zero   3
last:   .zero   1
        .text
        .globl  main
main:   acquire zero, last, nz, .
        jump    r23
"""
    run = runner(assemble(Source("state.s", text, preprocess=False)))
    for bit in (199, 200, 203, 204):
        run.machine.set_atomic(bit, True)
    run.launch()
    state = run.symbol("__stdout_buffer_state").value
    assert state == 8
    assert bytes(run.machine.wram[state : state + 8]) == bytes(8)
    # Those of others are left alone; the program keeps what it took.
    assert run.machine.atomic == {199, 203, 204}


def test_functions_are_called_by_pointers_and_tables(runner: Run) -> None:
    text = """
        .data
table:  .long   first, second
        .section .dpu_host
        .globl  result
result: .space  8
        .text
        .globl  start
start:  lw      r0, zero, table + 4
        call    r23, r0
        sw      zero, result, r1
        move    r0, first
        call    r23, r0
        sw      zero, result + 4, r1
        stop
first:  move    r1, 111
        jump    r23
second: move    r1, 222
        jump    r23
"""
    run = runner(assemble(Source("table.s", text, preprocess=False)))
    run.launch()
    assert run.words("result") == [222, 111]


def test_sources_are_linked_to_one_program(runner: Run) -> None:
    first = """
        .globl  main
        .type   main, @function
main:   move    r14, r23
        call    r23, helper
        sw      zero, shared, r0
        jump    r14
local:  nop
        .comm   area, 16, 8
        .weak   answer
answer: move    r0, 1
        jump    r23
"""
    second = """
        .globl  helper, shared, answer
helper: move    r15, r23
        call    r23, answer
        jump    r15
local:  nop
answer: move    r0, 42
        jump    r23
        .comm   area, 32, 8
        .section .dpu_host
shared: .long   0
"""
    program = assemble([Source("a.s", first, False), Source("b.s", second, False)])
    run = runner(program)
    run.launch()
    assert run.words("shared") == [42]
    assert run.symbol("area").size == 32
    assert [one.name for one in run.program.symbols].count("local") == 2
