# SPDX-License-Identifier: BSD-3-Clause
"""Messages of errors: where, what is wrong, and what would be right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpu.asm import AsmError, Source, assemble
from tests.dpu.asm.programs_to_run import build_text


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("nop\n  ad r0, r1, 1", "2:3", "unknown instruction 'ad'; did you mean 'a"),
        ("add r0, r1, d2", "1:5", "'add' does not take a register, a register, a pair"),
        ("add r0, r1, r2, mi", "1:17", "'mi' is not a condition"),
        ("add r0, r1, 1, sh32, 4", "1:16", "'sh32' is not a condition of it: true, z, nz"),
        ("add r0, r1, 0x1ffffffff", "1:13", "imm is -2147483648 to 4294967295"),
        ("lw r0, r1, 1 << 24", "1:12", "off is -8388608 to 16777215"),
        ("sw r1, 4096, 5", "1:8", "off is -2048 to 4095"),
        ("ldma r0, r1, 256", "1:14", "immDma is 0 to 255"),
        ("lsl r0, r1, 32", "1:13", "shift is 0 to 31"),
        ("jeq r0, 1024 * 2, 1", "1:9", "imm is -1024 to 2047"),
        ("jump 0x80000004", "1:6", "0x80000004 is not the address of an instruction"),
        ("add r24, r0, 1", "1:5", "does not take"),
        ("add r0 r1, 1", "1:8", "a comma is missing before 'r1'"),
        ("add r0, r1,", "1:12", "an operand is missing after the comma"),
        ("add r0, r1, (1 + 2", "1:19", "a closing parenthesis is missing"),
        ("add r0, r1, 1 +", "1:16", "an operand is missing"),
        ("add r0, r1, 08", "1:13", "'08' is not a number"),
        ("add r0, r1, 1 / 0", "1:15", "division by zero"),
        ("add r0, r1, 12ab", "1:13", "'12ab' is not a number"),
        ("move r0, nothing", "1:10", "undefined symbol 'nothing'"),
        ("counter: move r0, countr", "1:19", "did you mean 'counter'?"),
        ("jump 1f", "1:6", "undefined symbol '1'"),
        ("jump 1b", "1:6", "no label 1: before this"),
        ("a:\na:", "2:1", "'a' is defined twice, first at test.s:1:1"),
        ("r5:", "1:1", "'r5' is a register"),
        (".data\nadd r0, r1, 1", "2:1", "section .data is not for instructions"),
        (".bute 1", "1:1", "unknown directive '.bute'; did you mean '.byte'?"),
        (".data\n.byte 256", "2:7", "256 does not fit into 1 bytes"),
        (".data\n.byte a\n.set a, 300", "2:7", "300 does not fit into 1 bytes"),
        (".data\n.space a", "2:8", "undefined symbol 'a'"),
        (".data\n.space -1", "2:8", "-1 bytes cannot be added"),
        (".data\n.space 1 << 40", "2:8", "more than any memory"),
        (".p2align 40", "1:10", "2 to the power of 40 is not an alignment"),
        (".balign 3", "1:9", "3 is not an alignment"),
        (".section odd", "1:9", "nothing says where section 'odd' goes"),
        (".section .mram.noinit\n.long 5", "2:7", "has no contents"),
        (".type a, @thing", "1:11", "'thing' is not a symbol type"),
        ('.ascii "abc', "1:8", 'missing closing "'),
        (".ascii abc", "1:8", "'abc' is not a string"),
        (".if 1", "1", "missing .endif for this"),
        (".else", "1", ".else without .if"),
        (".rept 3", "1", "missing .endr for this .rept"),
        (".endm", "1:1", ".endm ends nothing"),
        (".macro m a:req\n.endm\nm", "3:2", "macro 'm' needs a value for 'a'"),
        (".macro m a\n.endm\nm 1, 2", "3:2", "macro 'm' takes 1 arguments, not 2"),
        (".macro m\nm\n.endm\nm", "4", "nested more than 100 deep"),
        (".rept 2000000\nnop\n.endr", "1:6", "too many"),
        ('.include "nothing.s"', "1:9", "file 'nothing.s' not found"),
        ('.error "no good"', "1:7", "no good"),
        ("/* text", "1", "unterminated comment"),
        ("nop @", "1:5", "'@' cannot begin an operand"),
        ("`", "1:1", "'`' cannot begin a statement"),
        ("add r0, r1, `", "1:13", "'`' means nothing here"),
        (".set a, b\n.set b, a\nmove r0, a", "3:10", "defined by itself"),
        (".set a, b\n.set a, a + 1", "2:6", "'a' would be defined by itself"),
        (".org 8\n.org 4", "2:6", "the position moves backwards"),
        (".popsection", "1:12", ".popsection without .pushsection"),
        ("move r0, a * b\n.data\na: .long 1\nb: .long 1", "", ""),
    ],
)
def test_errors_say_where_and_what(text: str, place: str, message: str) -> None:
    if not message:
        build_text(text)
        return
    with pytest.raises(AsmError) as caught:
        build_text(text)
    first = str(caught.value).split("\n")[0]
    assert first.startswith(f"test.s:{place}: error: "), first
    assert message in str(caught.value)


def test_all_errors_of_all_sources_are_said_at_once() -> None:
    with pytest.raises(AsmError) as caught:
        assemble([Source("a.s", "foo\nnop\nbar", False), Source("b.s", "baz", False)])
    places = [str(problem.location) for problem in caught.value.problems]
    assert places == ["a.s:1:1", "a.s:3:1", "b.s:1:1"]
    with pytest.raises(AsmError, match="and 30 further errors") as caught:
        build_text("foo\n" * 50)
    assert len(caught.value.problems) == 50


def test_symbols_are_undefined_or_defined_twice_across_sources() -> None:
    with pytest.raises(AsmError, match=r"b\.s has one that is local to it: say \.globl helper"):
        assemble([Source("a.s", "call r23, helper", False), Source("b.s", "helper: nop", False)])
    twice = ".globl a\na: nop\n"
    with pytest.raises(AsmError, match=r"b\.s:2:1: error: 'a' is defined twice, first at a\.s:2:1"):
        assemble([Source("a.s", twice, False), Source("b.s", twice, False)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".rept 4097\nnop\n.endr", r"IRAM is too small.*4097 instructions.* 4096 \(1 too many\)"),
        (".text\nnop\n.bss\nbig: .space 65537", "WRAM is too small: .*65537 in .bss.*'big'"),
        ("nop\n.section .mram.noinit\n.space 67108864\n.mram\n.byte 1", "MRAM is too small"),
        ("nop\n.atomic\n.zero 57", r"the atomic bits is too small.* 57 of them.*there are 56"),
        ("nop\n.section .data.immediate_memory\n.zero 2049", "the start of WRAM is too small"),
        ("", "the program has no instructions"),
        ("main: nop\n.set NR_TASKLETS, 25", "NR_TASKLETS is 25; a v1A has 1 to 24"),
        ("main: nop\n.set STACK_SIZE_DEFAULT, 5", "STACK_SIZE_TASKLET_0 is 5"),
        ("main: nop\n.set STACK_SIZE_DEFAULT, 65528", "65528 are stacks"),
    ],
)
def test_programs_that_do_not_fit_are_refused(text: str, message: str) -> None:
    with pytest.raises(AsmError, match=re.compile(message, re.DOTALL)):
        build_text(text)


def test_a_v1b_has_less_room() -> None:
    text = ".rept 3969\nnop\n.endr"
    build_text(text)
    with pytest.raises(AsmError, match="3969 instructions and there are 3968"):
        build_text(text, chip="v1B")
    with pytest.raises(AsmError, match="a v1B has 1 to 16"):
        build_text("nop", chip="v1B", nr_tasklets=17)
    assert build_text("nop", chip="v1B", nr_tasklets=16).chip == "v1B"
    with pytest.raises(AsmError, match="unknown chip 'v2'"):
        build_text("nop", chip="v2")


def test_sources_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(AsmError, match=r"missing\.s: error: cannot be read: No such file"):
        assemble(tmp_path / "missing.s")
    with pytest.raises(AsmError, match="cannot be read: Is a directory"):
        assemble(tmp_path)
    with pytest.raises(AsmError, match="no sources given"):
        assemble([])
