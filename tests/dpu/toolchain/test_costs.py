# SPDX-License-Identifier: BSD-3-Clause
"""The run time with the instruction counts of UPMEM's: who asks for it, and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpu import DpuSet
from dpu.compiler import Compiler
from dpu.reports import RunTime
from dpu.toolchain import BuildOptions, ToolchainError
from dpu.toolchain.arguments import parse
from dpu.toolchain.frontend.wide_products import call_wide_products

LOOP = """
#include <defs.h>
#include <stdint.h>
__host uint32_t rounds;
__host TYPE scalar, numbers[64];
int main(void)
{
    for (uint32_t r = 0; r < rounds; r++)
        for (uint32_t i = 0; i < 64; i++)
            numbers[i] = numbers[i] OPERATION scalar;
    return 0;
}
"""
# Instructions that the published rates imply: 350 MHz / MOPS.
IMPLIED = {
    ("int64_t", "*"): 137,
    ("int64_t", "/"): 250,
    ("float", "+"): 71,
    ("float", "*"): 183,
    ("float", "/"): 1029,
    ("double", "+"): 105,
    ("double", "*"): 660,
    ("double", "/"): 2188,
}


@pytest.mark.parametrize(("words", "costs"), [([], "offchip"), (["--costs=upmem"], "upmem")])
def test_the_option_is_parsed(words: list[str], costs: str) -> None:
    assert parse([*words, "a.c"]).options.costs == costs


def test_other_costs_are_refused() -> None:
    with pytest.raises(ToolchainError, match="costs must be offchip or upmem, not 'intel'"):
        BuildOptions(costs="intel").check()


def test_products_of_variables_are_calls() -> None:
    ir = "  %3 = mul nuw nsw i64 %2, %1, !dbg !5\n  %4 = mul i64 %3, 10\n  %5 = mul i32 %a, %b\n"
    assert call_wide_products(ir) == (
        "  %3 = call i64 @__muldi3(i64 %2, i64 %1), !dbg !5\n"
        "  %4 = mul i64 %3, 10\n  %5 = mul i32 %a, %b\n\ndeclare i64 @__muldi3(i64, i64)\n"
    )
    assert call_wide_products("  %4 = mul i64 %3, 10\n") == "  %4 = mul i64 %3, 10\n"


def count(program: Path, kind: str) -> tuple[float, RunTime]:
    """Instructions of an operation with its part of the loop, and the run time in the report."""
    import numpy as np

    form = {"int64_t": np.int64, "float": np.float32, "double": np.float64}[kind]
    with DpuSet(1, binary=str(program)) as dpus:
        counts = []
        for rounds in (0, 1):
            dpus.rounds = rounds.to_bytes(4, "little")
            dpus.scalar = form(1 << 20).tobytes()
            dpus.numbers = np.arange(1_500_000_000, 1_500_000_064).astype(form).tobytes()
            dpus.exec()
            counts.append(dpus.report.instructions)
        return (counts[1] - counts[0]) / 64, dpus.report[0].runtime


@pytest.mark.parametrize(("kind", "operation"), IMPLIED)
def test_costs_are_near_the_published_rates(
    kind: str, operation: str, tmp_path: Path, toolchain: Callable[..., object]
) -> None:
    source = tmp_path / "loop.c"
    source.write_text(LOOP)
    counts = {}
    for costs, runtime in (("offchip", RunTime.OFFCHIP), ("upmem", RunTime.UPMEM_COSTS)):
        program = tmp_path / f"{costs}.dpu"
        Compiler(costs=costs).compile(
            source, program, defines={"TYPE": kind, "OPERATION": operation}
        )
        counts[costs], shown = count(program, kind)
        assert shown is runtime
    assert counts["upmem"] == pytest.approx(IMPLIED[kind, operation], rel=0.15)
    # Products of integers cost about the same.
    assert (kind == "int64_t" and operation == "*") or counts["offchip"] < counts["upmem"]
