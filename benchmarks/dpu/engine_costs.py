# SPDX-License-Identifier: BSD-3-Clause
"""Costs of launches that are not long: used by `engines.py`.

Cold launches, translations, and many DPUs beside processes with one DPU each.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from benchmarks.dpu.engine_process import Runner
from benchmarks.harness import Report, Sample

# Instructions of a cold launch.
COLD = 100_000
COLD_KERNELS = ("vector_add", "reduction", "sort", "real")
DPUS, CORES = 64, 2
DPU_KERNELS = ("vector_add", "reduction", "search")
# Share that 64 DPUs reach of the throughput of two processes together.
SHARE = 0.9


def rounds_for(python: str, program: str, instructions: int) -> int:
    """Find the rounds after which a program has executed so many instructions."""
    with Runner(python, "softThreads=1") as runner:
        few = runner.launch(program, 1).instructions
        more = runner.launch(program, 9).instructions
    return max(1, 1 + (instructions - few) * 8 // max(1, more - few))


def first_launch(python: str, program: str, rounds: int) -> float:
    """Launch a program in a new process; microseconds of processor time."""
    with Runner(python, "") as runner:
        return 1e6 * runner.launch(program, rounds).seconds


def cold_launches(
    report: Report, programs: dict[str, str], baseline: str, python: str, quick: bool
) -> None:
    """Measure the first launch of a process, in which nothing is decoded or translated yet."""
    report.section(
        f"the first launch of a process, {COLD} instructions: processor time", "baseline"
    )
    for name in COLD_KERNELS:
        rounds = rounds_for(python, programs[name], COLD)
        pairs = [
            [first_launch(which, programs[name], rounds) for which in (baseline, python)]
            for _ in range(5 if quick else 15)
        ]
        theirs, ours = (Sample.of(values) for values in zip(*pairs, strict=True))
        report.add(name, ours, "us", baseline=theirs, ratio_at_most=1.0)


def translations(report: Report, programs: dict[str, str], python: str) -> None:
    """Measure what translating a program takes, with a cache that is empty, and then is not."""
    report.section("a translation: seconds of the compiler, and of loading what the cache has")
    for name, program in programs.items():
        with tempfile.TemporaryDirectory(prefix="offchip-bench-") as cache:
            environment = {**os.environ, "XDG_CACHE_HOME": cache}
            found = []
            for _ in range(2):
                with Runner(python, "softEngine=translated", environment) as runner:
                    found.append(runner.launch(program, 1))
            files = [path for path in Path(cache).rglob("*") if path.is_file()]
            cold, warm = found
            seconds = Sample.of([cold.compiler])
            report.add(
                name,
                seconds,
                "s",
                waited=cold.wall,
                from_cache=warm.wall,
                files=len(files),
                disk_kib=sum(path.stat().st_size for path in files) / 1024,
                memory_kib=warm.mapped / 1024,
                code_kib=warm.executable / 1024,
            )


def many_dpus(
    report: Report, programs: dict[str, str], engine: str, python: str, quick: bool
) -> None:
    """Compare one process of 64 DPUs on two cores with two processes of one DPU each."""
    report.section(
        f"{engine}: {DPUS} DPUs on {CORES} cores", f"{CORES} processes with one DPU each"
    )
    if len(os.sched_getaffinity(0)) < CORES:
        report.skip(engine, f"this process may use fewer than {CORES} cores")
        return
    for name in DPU_KERNELS:
        # One DPU of the two executes as much as 32 of the 64 do.
        rounds = rounds_for(python, programs[name], 8_000_000 if quick else 20_000_000)
        # The first launch is of an empty cache: what it translates is for all of them.
        with (
            tempfile.TemporaryDirectory(prefix="offchip-bench-") as cache,
            Runner(
                python,
                f"softEngine={engine},softThreads={CORES}",
                {**os.environ, "XDG_CACHE_HOME": cache},
                DPUS,
            ) as many,
            Runner(python, f"softEngine={engine},softThreads=1") as first,
            Runner(python, f"softEngine={engine},softThreads=1") as second,
        ):
            begun = many.launch(programs[name], rounds)
            few = (first, second)
            ours, theirs = [], []
            for turn in range(6 if quick else 16):
                launch = many.launch(programs[name], rounds)
                for runner in few:
                    runner.begin(programs[name], rounds * DPUS // CORES)
                both = [runner.end() for runner in few]
                if turn > 0:
                    ours.append(launch.instructions / launch.wall / 1e6)
                    theirs.append(sum(one.instructions / one.wall for one in both) / 1e6)
            report.add(
                name,
                Sample.of(ours),
                "M/s",
                baseline=Sample.of(theirs),
                ratio_at_least=SHARE,
                translations=begun.modules,
            )
