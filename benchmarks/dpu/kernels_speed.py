# SPDX-License-Identifier: BSD-3-Clause
"""Compiled kernels as a measure of the simulator: used by `speed.py`."""

from __future__ import annotations

import math
import os
import statistics
import struct
import subprocess
import time
from pathlib import Path

from benchmarks.harness import HERE, Report, Sample
from dpu import DpuSet
from dpu.compiler import Compiler

SOURCE = HERE / "dpu/kernels" / "workloads.c"
WORKLOADS = ["vector_add", "reduction", "histogram", "scan", "choose", "gemv", "sort", "search"]
WORKLOADS += ["transpose", "match", "sparse", "checksum", "divide", "real"]
TASKLETS = 16
# Million instructions a second on one core, in the geometric mean.
TARGET = 250.0


def expected(workload: str, rounds: int, folder: str) -> list[int]:
    """Compute the sums on the host."""
    program = Path(folder, f"{workload}-host")
    command = [os.environ.get("CC", "gcc"), "-O1", "-w", "-fwrapv", "-DHOST"]
    command += [f"-DNR_TASKLETS={TASKLETS}", f"-DWORKLOAD={workload}", str(SOURCE)]
    subprocess.run([*command, "-o", str(program)], check=True)
    done = subprocess.run([program, str(rounds)], capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


def launch(dpus: DpuSet, rounds: int) -> tuple[int, float]:
    """Run a kernel; return instructions and seconds of processor time, as one core has it."""
    dpus.rounds = struct.pack("<I", rounds)
    start = time.process_time()
    dpus.exec()
    return dpus.report.instructions, time.process_time() - start


def measure(workload: str, folder: str, quick: bool) -> Sample:
    """Run a kernel some times and return million instructions a second."""
    program = f"{folder}/{workload}.dpu"
    defines = {"NR_TASKLETS": TASKLETS, "WORKLOAD": workload}
    Compiler().compile(str(SOURCE), program, defines=defines, options=["-w"])
    with DpuSet(1, binary=program) as dpus:
        instructions, _ = launch(dpus, 4)
        base, _ = launch(dpus, 0)
        goal = 10_000_000 if quick else 40_000_000
        rounds = max(8, goal * 4 // max(1, instructions - base))
        launch(dpus, rounds)
        found = bytearray(4 * TASKLETS)
        dpus.copy(found, "sums")
        if list(struct.unpack(f"<{TASKLETS}I", found)) != expected(workload, rounds, folder):
            raise RuntimeError(f"{workload}: the kernel computed something else")
        runs = [launch(dpus, rounds) for _ in range(3 if quick else 7)]
    return Sample.of([count / seconds / 1e6 for count, seconds in runs])


def measure_kernels(report: Report, folder: str, quick: bool) -> None:
    """Add a row for each kernel and one for their geometric mean."""
    report.section(f"compiled kernels in {TASKLETS} tasklets, which take different branches")
    medians = []
    for workload in WORKLOADS:
        try:
            sample = measure(workload, folder, quick)
        except subprocess.CalledProcessError as error:
            report.skip(workload, (error.stderr or str(error)).strip().partition("\n")[0])
            return
        medians.append(sample.median)
        report.add(workload, sample, "M/s")
    mean = math.exp(statistics.fmean(map(math.log, medians)))
    report.add("geometric mean", Sample(mean, mean, mean, mean, 1), "M/s", at_least=TARGET)
