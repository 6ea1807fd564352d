# SPDX-License-Identifier: BSD-3-Clause
"""Compare modelled times of PrIM's programs with those measured on a server.

The public repository 852866031/prim-benchmarks-insight has prebuilt host programs, DPU programs by
the vendor's compiler, and what the hosts printed. The hosts run here with this libdpu. That its
profiles belong to the programs beside them is not stated there, nor is the machine.
"""

from __future__ import annotations

import csv
import os
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import dpu
from benchmarks.harness import Report, Sample

LIMIT = 1200.0


@dataclass(frozen=True)
class Program:
    """A host program: its folder and arguments, and what each of its launches took.

    ``fitted`` is the constant that was taken from it.
    """

    folder: str
    command: str
    milliseconds: tuple[float, ...]
    fitted: str = ""


_COMMON = "./bin/host_code -w 0 -e 1"
# 60 DPUs, 16 tasklets.
PROGRAMS = (
    Program("GEMV", "./bin/gemv_host -m 8192 -n 1024", (9.131667,), "launch"),
    Program("HST-L", f"{_COMMON} -b 256 -x 1", (7.398,), "launch"),
    Program("HST-S", f"{_COMMON} -b 256 -x 1", (2.551,)),
    Program("RED", f"{_COMMON} -i 6553600 -x 1", (2.772,), "launch"),
    Program("SCAN-RSS", f"{_COMMON} -i 3932160 -x 1", (1.039, 3.144)),
    Program("SCAN-SSA", f"{_COMMON} -i 3932160 -x 1", (3.284, 1.878)),
    Program("SEL", f"{_COMMON} -i 3932160 -x 1", (2.566,)),
    Program("TS", "./bin/ts_host -n 524288", (249.577667,)),
    # The host in bin is for 64 DPUs: as many elements for each as with 60.
    Program("VA", f"{_COMMON} -i 2796544 -x 1", (1.604,)),
    Program("UNI", f"{_COMMON} -i 3932160 -x 1", (1.863,)),
)
# The host in bin is for 64 DPUs, and the profile is of 60: it has this share of the queries.
BINARY_SEARCH = Program("BS", "./bin/bs_host -i 262144", (43.655667,), "page crossing")
QUERIES = 4096 / 4384


def launch_times(program: Program, root: Path) -> list[list[float]]:
    """Run a host; return the milliseconds of each of its kernels, one for each repetition."""
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as folder:
        report = Path(folder) / "report.csv"
        library = Path(dpu.__file__).parent / "lib"
        subprocess.run(
            program.command.split(),
            cwd=root / program.folder,
            env={**os.environ, "LD_LIBRARY_PATH": str(library), "DPU_SOFT_REPORT": str(report)},
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=LIMIT,
        )
        lines = [line for line in report.read_text().splitlines() if not line.startswith("#")]
    times = [
        1e3 * float(row["seconds"]) for row in csv.DictReader(lines) if row["event"] == "launch"
    ]
    kernels = len(program.milliseconds)
    return [times[kernel::kernels] for kernel in range(kernels)]


def programs(report: Report, root: Path) -> None:
    """Compare the times of all programs."""
    report.section("programs of the vendor's compiler, 60 DPUs, 16 tasklets", "measured")
    errors = []
    for program in (*PROGRAMS, BINARY_SEARCH):
        try:
            kernels = launch_times(program, root)
        except (OSError, subprocess.SubprocessError) as error:
            report.skip(program.folder, str(error).partition("\n")[0])
            continue
        for number, (times, measured) in enumerate(zip(kernels, program.milliseconds, strict=True)):
            found = statistics.mean(times)
            if program is BINARY_SEARCH:
                found /= QUERIES
            errors.append(100 * (found - measured) / measured)
            name = program.folder if len(kernels) == 1 else f"{program.folder} {number + 1}"
            report.add(
                f"{name} (fitted: {program.fitted})" if program.fitted else name,
                Sample(found, found, found, found, len(times)),
                "ms",
                baseline=Sample(measured, measured, measured, measured, 1),
                error_percent=errors[-1],
                fitted=int(bool(program.fitted)),
            )

    if errors:
        sizes = [abs(error) for error in errors]
        report.section(
            f"errors: {max(sizes):.1f} % at most, {statistics.mean(sizes):.1f} % in the mean"
        )
