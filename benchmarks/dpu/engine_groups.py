# SPDX-License-Identifier: BSD-3-Clause
"""Launches of many DPUs, short launches and small transfers beside another version of the library.

Used by `engines.py`. Both take turns, with the engine that each chooses itself, and with translated
code, as earlier launches have it made.
"""

from __future__ import annotations

import math
import statistics
import time
from pathlib import Path

from benchmarks.dpu.engine_process import Runner
from benchmarks.dpu.kernels_speed import TASKLETS
from benchmarks.harness import Report, Sample
from dpu.compiler import Compiler

DPUS = 64
# Instructions of a launch of all DPUs together, of a short launch of one, and of small transfers.
INSTRUCTIONS, SHORT, TRANSFERS = 1_500_000_000, 8_000, 40_000_000
# So many are enough for a program to be translated.
TRANSLATED = 60_000_000
# Ratios to the baseline.
TARGETS = {"kernels": 2.0, "short": 1.4, "transfers": 1.8}
LEAST = 0.95

SHORT_SOURCE = """
#include <defs.h>
#include <stdint.h>
__host uint32_t rounds, sums[NR_TASKLETS];
int main(void)
{
    uint32_t id = me(), sum = id;
    for (uint32_t i = 0; i < rounds; i++)
        sum ^= (sum << 3) + i;
    sums[id] = sum;
    return 0;
}
"""

# A search goes on from what it has read.
TRANSFER_SOURCE = """
#include <defs.h>
#include <mram.h>
#include <stdint.h>
#define WORDS 65536
__host uint32_t rounds, sums[NR_TASKLETS];
__mram_noinit uint32_t numbers[WORDS];
static uint32_t __dma_aligned blocks[NR_TASKLETS][64];
int main(void)
{
    uint32_t id = me(), sum = id;
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t at = (sum * 2654435761u + i) % (WORDS - 64) & ~1u;
        mram_read(&numbers[at], blocks[id], SIZE);
        sum += blocks[id][0] ^ blocks[id][1];
        if ((sum & 7) == 0)
            mram_write(blocks[id], &numbers[at], 8);
    }
    sums[id] = sum;
    return 0;
}
"""


def compile_text(folder: str, name: str, source: str, **defines: int) -> str:
    """Compile a program that stands here; return its path."""
    text, program = Path(folder, f"{name}.c"), f"{folder}/{name}.dpu"
    text.write_text(source)
    Compiler().compile(str(text), program, defines={"NR_TASKLETS": TASKLETS, **defines})
    return program


def rounds_of(runner: Runner, program: str, instructions: int) -> int:
    """Find the rounds after which all DPUs together have executed so many instructions."""
    few, more = (runner.launch(program, rounds).instructions for rounds in (1, 9))
    return max(1, 1 + (instructions - few) * 8 // max(1, more - few))


def compare(
    python: str, baseline: str, program: str, dpus: int, instructions: int, quick: bool
) -> list[Sample]:
    """Measure processor time in nanoseconds an instruction: of the baseline, and of ours."""
    found: tuple[list[float], list[float]] = ([], [])
    with Runner(baseline, "", dpus=dpus) as theirs, Runner(python, "", dpus=dpus) as ours:
        rounds = rounds_of(theirs, program, instructions)
        for runner in (theirs, ours):
            for _ in range(TRANSLATED // instructions):
                runner.launch(program, rounds)
            for _ in range(3):
                runner.launch(program, rounds)
                time.sleep(0.7)  # what is compiled or loaded in the background is ready then
        for _ in range(5 if quick else 15):
            launches = [runner.launch(program, rounds) for runner in (theirs, ours)]
            if launches[0].instructions != launches[1].instructions:
                raise RuntimeError(f"{program}: both executed another number of instructions")
            for values, launch in zip(found, launches, strict=True):
                values.append(1e9 * launch.seconds / launch.instructions)
    return [Sample.of(values) for values in found]


def add(report: Report, name: str, samples: list[Sample], ratio: float) -> float:
    """Add a row whose target is a time of at most 1 / `ratio` of the baseline's."""
    theirs, ours = samples
    report.add(name, ours, "ns", baseline=theirs, ratio_at_most=1 / ratio)
    return theirs.median / ours.median


def measure_groups(
    report: Report, programs: dict[str, str], folder: str, baseline: str, python: str, quick: bool
) -> None:
    """Add the rows: nanoseconds of processor time an instruction."""
    report.section(f"{DPUS} DPUs of the same program, with different data", "baseline")
    ratios = [
        add(report, name, compare(python, baseline, program, DPUS, INSTRUCTIONS, quick), LEAST)
        for name, program in programs.items()
    ]
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    name = "geometric mean of the speed-ups"
    report.add(name, Sample(mean, mean, mean, mean, 1), "", at_least=TARGETS["kernels"])

    report.section(f"launches of {SHORT} instructions a DPU", "baseline")
    program = compile_text(folder, "short", SHORT_SOURCE)
    for dpus in (DPUS, 40 * DPUS):
        samples = compare(python, baseline, program, dpus, dpus * SHORT, quick)
        add(report, f"{dpus} DPUs", samples, TARGETS["short"])

    report.section("one DPU, small transfers", "baseline")
    for size in (8, 64, 256):
        program = compile_text(folder, f"transfers{size}", TRANSFER_SOURCE, SIZE=size)
        samples = compare(python, baseline, program, 1, TRANSFERS, quick)
        add(report, f"reads of {size} bytes", samples, TARGETS["transfers"])
