# SPDX-License-Identifier: BSD-3-Clause
"""The control-flow graph of translated code: blocks, live registers, what is reached."""

from __future__ import annotations

import pytest

from dpu.toolchain.ir.code import Code
from dpu.toolchain.ir.flow_graph import Block, FlowGraph
from dpu.toolchain.ir.operands import Condition, Label, Register, code_label
from dpu.toolchain.ir.registers import RETURN

R0, R1, R2 = map(Register, range(3))


def loop() -> tuple[Code, Label]:
    """A loop that counts r0 down to zero and adds r1 to r2, and a return."""
    code = Code()
    code.load_immediate(R2, 0)
    again = code.new_label()
    code.place(again)
    code.emit("add", "rrr", R2, R2, R1)
    code.emit("add", "rri", R0, R0, 0xFFFF_FFFF)
    code.jump_if(Condition.NOT_ZERO, R0, 0, again)
    code.emit("call", "zri", 0, RETURN, 0)
    return code, again


def is_live(graph: FlowGraph, index: int, register: Register) -> bool:
    return bool(graph.live[index] >> register & 1)


def test_blocks_start_at_jump_targets_and_after_jumps() -> None:
    code, _ = loop()
    assert FlowGraph(code).blocks == [Block(0, 1), Block(1, 4), Block(4, 5)]


def test_successors_are_the_next_block_and_the_target() -> None:
    graph = FlowGraph(loop()[0])
    assert [list(graph.successors(block)) for block in graph.blocks] == [[1], [4, 1], []]


def test_a_register_is_live_around_a_loop_that_reads_it() -> None:
    graph = FlowGraph(loop()[0])
    assert [is_live(graph, index, R1) for index in range(5)] == [True] * 5
    assert [is_live(graph, index, R2) for index in range(5)] == [False] + [True] * 3 + [False]


def test_an_entry_starts_a_block_and_is_reached() -> None:
    code = Code()
    code.emit("call", "zri", 0, RETURN, 0)
    code.place(code_label(8))
    code.emit("nop", "")
    code.emit("call", "zri", 0, RETURN, 0)
    assert FlowGraph(code).unreachable() == {1, 2}
    code.entries.add(code_label(8))
    graph = FlowGraph(code)
    assert graph.unreachable() == set()
    assert graph.blocks == [Block(0, 1), Block(1, 3)]


def test_code_after_a_jump_is_not_reached() -> None:
    code = Code()
    end = code.new_label()
    code.jump(end)
    code.emit("nop", "")
    code.place(end)
    code.emit("call", "zri", 0, RETURN, 0)
    assert FlowGraph(code).unreachable() == {1}


def test_code_without_instructions_has_no_blocks() -> None:
    graph = FlowGraph(Code())
    assert (graph.blocks, graph.live, graph.unreachable()) == ([], [0], set())


@pytest.mark.parametrize("condition", Condition)
def test_negated_and_swapped_conditions_are_their_own_inverses(condition: Condition) -> None:
    if condition.negated is not None:
        assert condition.negated is not condition
        assert condition.negated.negated is condition
    if condition.swapped is not None:
        assert condition.swapped.swapped is condition
