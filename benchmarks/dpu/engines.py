# SPDX-License-Identifier: BSD-3-Clause
"""Measure what the engines of the simulator reach, beside another build of the library.

`--baseline PYTHON` is the interpreter of a virtual environment with another version of the package.
`--prim FOLDER` has programs of PrIM, built for one DPU and 16 tasklets (engine_programs.py).
"""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

from benchmarks.dpu import engine_programs
from benchmarks.dpu.kernels_speed import SOURCE, TASKLETS, WORKLOADS
from benchmarks.harness import HERE, Report, Sample, arguments
from dpu.compiler import Compiler

RUNS = HERE / "dpu" / "engine_runs.py"
ENGINES = ["turns", "drift", "translated"]
# Beside the baseline: of the geometric mean over the kernels, and of each kernel.
TARGETS = {"drift": 1.15, "translated": 4.5}
PROGRAM_TARGETS = {"drift": 2.2, "translated": 4.5}
LEAST = 0.95


class Runner:
    """A process that launches programs; to be used in `with`."""

    def __init__(self, python: str, profile: str) -> None:
        self.profile = profile
        # Not in the folder of this tree, whose package would be found first.
        self.process = subprocess.Popen(
            [python, str(RUNS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
        )

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.communicate()

    def launch(self, program: str, rounds: int) -> tuple[int, float]:
        """Return instructions and seconds of processor time."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{program}\t{self.profile}\t{rounds}\n")
        self.process.stdin.flush()
        instructions, seconds = self.process.stdout.readline().split()
        return int(instructions), float(seconds)


def speeds(runners: dict[str, Runner], program: str, quick: bool) -> dict[str, Sample]:
    """Measure one program in all, which alternate."""
    first = next(iter(runners.values()))
    base, _ = first.launch(program, 0)
    few, _ = first.launch(program, 4)
    goal = 5_000_000 if quick else 40_000_000
    rounds = max(8, goal * 4 // max(1, few - base))
    figures: dict[str, list[float]] = {name: [] for name in runners}
    counts = {runner.launch(program, rounds)[0] for runner in runners.values()}
    if len(counts) != 1:
        raise RuntimeError(f"{program}: the engines executed {counts} instructions")
    for _ in range(5 if quick else 9):
        for name, runner in runners.items():
            instructions, seconds = runner.launch(program, rounds)
            figures[name].append(instructions / seconds / 1e6)
    return {name: Sample.of(values) for name, values in figures.items()}


def add_speeds(
    report: Report, found: dict[str, dict[str, Sample]], unit: str, targets: dict[str, float]
) -> None:
    """Add a section for each engine: its speeds with all programs, beside those of the first."""
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
                ratio_at_least=LEAST if other in targets and base == "baseline" else None,
            )
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        report.add(
            "geometric mean of the ratios",
            Sample(mean, mean, mean, mean, 1),
            "",
            at_least=targets.get(other) if base == "baseline" else None,
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
        add_speeds(report, found, "1/s", PROGRAM_TARGETS)


def library_of(python: str) -> Path:
    """Find the libdpu of an interpreter's packages."""
    code = "import dpu, pathlib; print(pathlib.Path(dpu.__file__).parent / 'lib')"
    done = subprocess.run([python, "-c", code], cwd="/", check=True, capture_output=True, text=True)
    return Path(done.stdout.strip())


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--baseline", metavar="PYTHON", help="with another version of the package")
    parser.add_argument("--programs", metavar="FILE", nargs="*", default=[], help="more programs")
    parser.add_argument("--prim", metavar="FOLDER", type=Path, help="programs of PrIM, built")
    options = parser.parse_args()
    report = Report("dpu_engines", "how fast are the engines of the simulator?")
    runners = {name: Runner(sys.executable, f"softEngine={name}") for name in ENGINES}
    if options.baseline:
        runners = {"baseline": Runner(options.baseline, ""), **runners}
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as folder:
        programs = {}
        for workload in WORKLOADS:
            programs[workload] = f"{folder}/{workload}.dpu"
            defines: dict[str, str | int | None] = {"NR_TASKLETS": TASKLETS, "WORKLOAD": workload}
            Compiler().compile(str(SOURCE), programs[workload], defines=defines, options=["-w"])
        programs |= {Path(name).stem: name for name in options.programs}
        found = {name: speeds(runners, path, options.quick) for name, path in programs.items()}
        add_speeds(report, found, "M/s", TARGETS)
    for runner in runners.values():
        runner.process.communicate()
    if options.prim is not None:
        measure_programs(report, options.prim, options.baseline, options.quick)
    report.finish(options.json)


if __name__ == "__main__":
    main()
