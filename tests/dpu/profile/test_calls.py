# SPDX-License-Identifier: BSD-3-Clause
"""Calls in profiles: who calls whom, how often, and what passes in it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpu.compiler import Compiler
from dpu.profile import ProgramFigures, load, program_figures, report
from dpu.profile.callgrind import callgrind
from dpu.profile.costs import Cost
from dpu.toolchain import Toolchain

from .programs import command, run

TASKLETS, TIMES, DEPTH = 3, 10, 5

SOURCE = """
#include <defs.h>
#include <stdint.h>
#include <mram.h>
#include "inlined.h"

#define APART __attribute__((noinline))

__host uint32_t counter;
__mram_noinit uint32_t block[64];
static __dma_aligned uint32_t near[NR_TASKLETS][64];
volatile uint32_t seen[NR_TASKLETS];

APART static void leaf(unsigned int tasklet)
{
    mram_read(block, near[tasklet], sizeof block);
    seen[tasklet] = add_up(near[tasklet]);
}

APART static void middle(unsigned int tasklet)
{
    leaf(tasklet);
    seen[tasklet]++;
    leaf(tasklet);
    seen[tasklet]++;
}

APART static void deep(unsigned int tasklet, unsigned int depth)
{
    seen[tasklet] += depth;
    if (depth != 0)
        deep(tasklet, depth - 1);
    seen[tasklet] += depth;
}

APART static void last(unsigned int tasklet)
{
    seen[tasklet]++;
    middle(tasklet);
}

int main(void)
{
    for (int i = 0; i < TIMES; i++)
        middle(me());
    deep(me(), DEPTH);
    last(me());
    seen[me()]++;
    return 0;
}
"""
INLINED = """
static inline uint32_t add_up(const uint32_t *values)
{
    uint32_t sum = 0;
    for (int i = 0; i < 64; i++)
        sum += values[i];
    return sum;
}
"""


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory, toolchain: Toolchain) -> ProgramFigures:
    """Profile of two launches on two DPUs."""
    folder = tmp_path_factory.mktemp("calls")
    (folder / "calls.c").write_text(SOURCE)
    (folder / "inlined.h").write_text(INLINED)
    program, file = folder / "calls.dpu", folder / "calls.dpuprofile"
    Compiler().compile(
        folder / "calls.c",
        output=program,
        includes=[folder],
        defines={"NR_TASKLETS": TASKLETS, "TIMES": TIMES, "DEPTH": DEPTH},
        options=["-O2", "-g"],
    )
    done = run(command(program, 2, 2), DPU_PROFILE=f"file={file}")
    assert done.returncode == 0, done.stderr
    [found] = program_figures(load([file]))
    return found


def test_calls_are_counted(figures: ProgramFigures) -> None:
    arcs, runs = figures.calls.arcs(), 2 * 2 * TASKLETS
    assert arcs["main", "middle"][0] == runs * TIMES
    assert arcs["middle", "leaf"][0] == runs * (TIMES + 1) * 2
    assert arcs["main", "deep"][0] == arcs["main", "last"][0] == runs
    # The same for a call and for a jump as the last deed of a function.
    assert arcs["last", "middle"][0] == runs
    assert arcs["deep", "deep"] == (runs * DEPTH, Cost())


def test_what_passes_in_calls_is_what_their_functions_cost(figures: ProgramFigures) -> None:
    graph = figures.calls
    arcs, own, inclusive = graph.arcs(), graph.own, graph.inclusive
    for name in ("leaf", "deep"):
        assert inclusive[name] == own[name]
    assert arcs["middle", "leaf"][1] == inclusive["leaf"]
    assert inclusive["middle"].cycles == sum(
        arcs[caller, "middle"][1].cycles for caller in ("main", "last")
    )
    assert arcs["main", "last"][1] == inclusive["last"]
    parts = [own["middle"].cycles, arcs["middle", "leaf"][1].cycles]
    assert inclusive["middle"].cycles == sum(parts)
    assert inclusive["main"].cycles == own["main"].cycles + sum(
        arcs["main", name][1].cycles for name in ("middle", "deep", "last")
    )
    whole = sum(cost.cycles for cost in own.values())
    assert inclusive[figures.code.function(0)].cycles == whole
    assert all(cost.cycles <= whole for cost in inclusive.values())


def test_the_report_has_both(figures: ProgramFigures) -> None:
    text = report(figures)
    row = re.search(r"^ +(\d+) +[\d.]+ +(\d+) .* main$", text, re.M)
    assert row is not None
    graph = figures.calls
    assert int(row[1]) == graph.inclusive["main"].cycles and int(row[2]) == graph.own["main"].cycles
    assert re.search(rf"^ +{2 * 2 * TASKLETS * TIMES} .* main -> middle$", text, re.M)


def test_inlined_code_belongs_to_its_function(figures: ProgramFigures) -> None:
    lines = callgrind(figures).splitlines()
    begin = lines.index("fn=leaf")
    assert lines[begin - 1].endswith("/calls.c")
    others = [i for i, line in enumerate(lines) if line.startswith("fn=") and i > begin]
    body = lines[begin : min(others, default=None)]
    inside = next(i for i, line in enumerate(body) if re.fullmatch("fi=.*/inlined.h", line))
    assert any(re.fullmatch("fe=.*/calls.c", line) for line in body[inside:])
    assert sum(line == "fn=leaf" for line in lines) == 1


def annotated(tmp_path: Path, figures: ProgramFigures, *options: str) -> str:
    """Return what callgrind_annotate says of a profile."""
    program = shutil.which("callgrind_annotate")
    if program is None:
        pytest.skip("there is no callgrind_annotate")
    file = tmp_path / "callgrind.out"
    file.write_text(callgrind(figures))
    done = subprocess.run(
        [program, "--threshold=100", "--auto=no", *options, str(file)],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def functions_of(text: str) -> Iterator[tuple[str, int, int]]:
    """List functions with instructions and cycles."""
    for row in re.findall(r"^ *([\d,]+)(?: \([^)]*\))? +([\d,]+).*?:(\w+)(?: \[.*)?$", text, re.M):
        yield row[2], int(row[0].replace(",", "")), int(row[1].replace(",", ""))


@pytest.mark.parametrize("inclusive", ["no", "yes"])
def test_callgrind_annotate_adds_up_the_same(
    tmp_path: Path, figures: ProgramFigures, inclusive: str
) -> None:
    text = annotated(tmp_path, figures, f"--inclusive={inclusive}")
    # A function has a row for each of the files that its code comes from.
    rows: dict[str, list[tuple[int, int]]] = {}
    for name, instructions, cycles in functions_of(text):
        rows.setdefault(name, []).append((instructions, cycles))
    expected = figures.calls.inclusive if inclusive == "yes" else figures.calls.own
    for name in ("main", "middle", "leaf", "deep", "last"):
        found = [max(rows[name])] if inclusive == "yes" else rows[name]
        sums = tuple(sum(column) for column in zip(*found, strict=True))
        assert sums == (expected[name].instructions, expected[name].cycles)


def test_callgrind_annotate_shows_callers_and_callees(
    tmp_path: Path, figures: ProgramFigures
) -> None:
    text = annotated(tmp_path, figures, "--tree=both", "--inclusive=yes")
    runs = 2 * 2 * TASKLETS
    assert re.search(rf"> .*:leaf \({runs * (TIMES + 1) * 2}x\)", text)
    assert re.search(rf"< .*:middle \({runs * (TIMES + 1) * 2}x\)", text)
