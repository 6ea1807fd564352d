# SPDX-License-Identifier: BSD-3-Clause
"""Measure what the engines of the simulator reach, beside another build of the library.

`--baseline PYTHON` is the interpreter of a virtual environment with another version of the package.
`--prim FOLDER` has programs of PrIM, built for one DPU and 16 tasklets (engine_programs.py).
"""

from __future__ import annotations

import contextlib
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

from benchmarks.dpu import engine_costs, engine_groups, engine_programs
from benchmarks.dpu.engine_process import Runner
from benchmarks.dpu.kernels_speed import SOURCE, TASKLETS, WORKLOADS
from benchmarks.harness import Report, Sample, arguments
from dpu.compiler import Compiler

ENGINES = ["turns", "drift", "translated"]
# Beside the baseline: of the geometric mean over the kernels, and of each kernel.
TARGETS = {"drift": 1.15, "translated": 4.5}
PROGRAM_TARGETS = {"drift": 2.2, "translated": 4.5}
LEAST = 0.95
PARTS = ["speeds", "profile", "cold", "translation", "dpus", "groups"]
# Profiled launches beside others in turns.
PROFILE_TARGET = 0.3


def speeds(runners: dict[str, Runner], program: str, quick: bool) -> dict[str, Sample]:
    """Measure one program in all, which alternate."""
    first = next(iter(runners.values()))
    base = first.launch(program, 0).instructions
    few = first.launch(program, 4).instructions
    goal = 5_000_000 if quick else 40_000_000
    rounds = max(8, goal * 4 // max(1, few - base))
    figures: dict[str, list[float]] = {name: [] for name in runners}
    counts = {runner.launch(program, rounds).instructions for runner in runners.values()}
    if len(counts) != 1:
        raise RuntimeError(f"{program}: the engines executed {counts} instructions")
    for _ in range(5 if quick else 9):
        for name, runner in runners.items():
            launch = runner.launch(program, rounds)
            figures[name].append(launch.instructions / launch.seconds / 1e6)
    return {name: Sample.of(values) for name, values in figures.items()}


def add_speeds(
    report: Report,
    found: dict[str, dict[str, Sample]],
    unit: str,
    targets: dict[str, float],
    least: float = LEAST,
) -> None:
    """Add a section for each engine: its speeds with all programs, beside those of the first.

    Engines with a target are to reach it in the mean, and `least` with each program.
    """
    base, *others = next(iter(found.values()))
    for other in others:
        report.section(f"{other}, {TASKLETS} tasklets, one core", base)
        ratios = []
        for name, samples in found.items():
            ratios.append(samples[other].median / samples[base].median)
            report.add(
                name,
                samples[other],
                unit,
                baseline=samples[base],
                ratio_at_least=least if other in targets else None,
            )
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        report.add(
            "geometric mean of the ratios",
            Sample(mean, mean, mean, mean, 1),
            "",
            at_least=targets.get(other),
        )


def measure_programs(report: Report, root: Path, baseline: str | None, quick: bool) -> None:
    """Measure programs of PrIM."""
    libraries = {
        name: engine_programs.Library(library_of(sys.executable), f"softEngine={name}")
        for name in ("drift", "translated")
    }
    if baseline:
        libraries = {"baseline": engine_programs.Library(library_of(baseline), ""), **libraries}
    found = {}
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as folder:
        hosts = engine_programs.Hosts(root, folder)
        for name in hosts.names():
            try:
                found[name] = engine_programs.speeds(hosts, name, libraries, quick)
            except (OSError, subprocess.SubprocessError) as error:
                report.skip(name, str(error).partition("\n")[0])
    if found:
        add_speeds(report, found, "1/s", PROGRAM_TARGETS if baseline else {})


def library_of(python: str) -> Path:
    """Find the libdpu of an interpreter's packages."""
    code = "import dpu, pathlib; print(pathlib.Path(dpu.__file__).parent / 'lib')"
    done = subprocess.run([python, "-c", code], cwd="/", check=True, capture_output=True, text=True)
    return Path(done.stdout.strip())


def compile_kernels(folder: str) -> dict[str, str]:
    """Compile all kernels; return their programs."""
    programs = {}
    for workload in WORKLOADS:
        programs[workload] = f"{folder}/{workload}.dpu"
        defines: dict[str, str | int | None] = {"NR_TASKLETS": TASKLETS, "WORKLOAD": workload}
        Compiler().compile(str(SOURCE), programs[workload], defines=defines, options=["-w"])
    return programs


def measure_kernels(
    report: Report, programs: dict[str, str], baseline: str | None, quick: bool
) -> None:
    """Measure kernels in all engines."""
    with contextlib.ExitStack() as stack:
        made = {name: Runner(sys.executable, f"softEngine={name}") for name in ENGINES}
        if baseline:
            made = {"baseline": Runner(baseline, ""), **made}
        runners = {name: stack.enter_context(runner) for name, runner in made.items()}
        found = {name: speeds(runners, path, quick) for name, path in programs.items()}
        add_speeds(report, found, "M/s", TARGETS if baseline else {})


def measure_profiling(report: Report, programs: dict[str, str], folder: str, quick: bool) -> None:
    """Measure what recording a profile leaves of the speed of turns."""
    # Each program has a set, and so a rank, of its own: only the first would be in 0-63.
    recorded = {**os.environ, "DPU_PROFILE": f"dpus=all,file={folder}/%p.dpuprofile"}
    plain = {name: value for name, value in os.environ.items() if name != "DPU_PROFILE"}
    with (
        Runner(sys.executable, "softEngine=turns", plain) as turns,
        Runner(sys.executable, "softEngine=turns", recorded) as profiled,
    ):
        runners = {"turns": turns, "profiled": profiled}
        found = {name: speeds(runners, path, quick) for name, path in programs.items()}
    if not list(Path(folder).glob("*.dpuprofile")):
        raise RuntimeError("no profile was recorded")
    add_speeds(report, found, "M/s", {"profiled": PROFILE_TARGET}, PROFILE_TARGET)


def measure_costs(
    report: Report, programs: dict[str, str], parts: list[str], baseline: str | None, quick: bool
) -> None:
    """Measure what does not depend on how long a launch is, and launches of many DPUs."""
    if "cold" in parts and baseline:
        engine_costs.cold_launches(report, programs, baseline, sys.executable, quick)
    if "translation" in parts:
        engine_costs.translations(report, programs, sys.executable)
    if "dpus" in parts:
        for engine in ("drift", "translated"):
            engine_costs.many_dpus(report, programs, engine, sys.executable, quick)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--baseline", metavar="PYTHON", help="with another version of the package")
    parser.add_argument("--programs", metavar="FILE", nargs="*", default=[], help="more programs")
    parser.add_argument("--prim", metavar="FOLDER", type=Path, help="programs of PrIM, built")
    parser.add_argument("--only", choices=PARTS, help="this part of the tables, without PrIM")
    options = parser.parse_args()
    report = Report("dpu_engines", "how fast are the engines of the simulator?")
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as folder:
        programs = compile_kernels(folder)
        parts = [options.only] if options.only else PARTS
        if "speeds" in parts:
            more = {Path(name).stem: name for name in options.programs}
            measure_kernels(report, {**programs, **more}, options.baseline, options.quick)
        if "profile" in parts:
            measure_profiling(report, programs, folder, options.quick)
        measure_costs(report, programs, parts, options.baseline, options.quick)
        if "groups" in parts and options.baseline:
            engine_groups.measure_groups(
                report, programs, folder, options.baseline, sys.executable, options.quick
            )
    if options.prim is not None and not options.only:
        measure_programs(report, options.prim, options.baseline, options.quick)
    report.finish(options.json)


if __name__ == "__main__":
    main()
