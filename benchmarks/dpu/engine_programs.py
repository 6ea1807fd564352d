# SPDX-License-Identifier: BSD-3-Clause
"""Measure the engines with programs of PrIM, used by `engines.py`.

Host programs and DPU programs are those of a folder that somebody has built for one DPU and 16
tasklets. Only the launches are timed (launch_time.c).
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import ROOT, Sample, compile_c

LIMIT = 600.0

_COMMON = "./bin/host_code -w 0 -e 4"
# Of each folder, a command that launches its program for some tenths of a second.
COMMANDS = {
    "VA": f"{_COMMON} -i 2621440 -x 1",
    "GEMV": "./bin/gemv_host -m 2048 -n 1024 -w 0 -e 4",
    "SEL": f"{_COMMON} -i 2621440 -x 1",
    "UNI": f"{_COMMON} -i 2621440 -x 1",
    "BS": "./bin/bs_host -i 65536 -w 0 -e 2",
    "TS": "./bin/ts_host -n 16384 -w 0 -e 2",
    "HST-S": f"{_COMMON} -b 256 -x 1 -i 983040",
    "HST-L": f"{_COMMON} -b 256 -x 1 -i 393216",
    "RED": f"{_COMMON} -i 5242880 -x 1",
    "SCAN-SSA": f"{_COMMON} -i 2621440 -x 1",
    "SCAN-RSS": f"{_COMMON} -i 2621440 -x 1",
    "TRNS": f"{_COMMON} -p 64 -o 64 -x 1 -m 8 -n 4",
    "MLP": "./bin/mlp_host -m 1024 -n 1024 -w 0 -e 4",
    "NW": "./bin/nw_host -w 0 -e 4 -n 256",
}


@dataclass(frozen=True)
class Library:
    """A libdpu, and the profile that it runs with."""

    folder: Path
    profile: str


class Hosts:
    """Host programs of a folder, with a library that times their launches."""

    def __init__(self, root: Path, temporary: str) -> None:
        self.root = root.resolve()
        flags = [f"-I{ROOT / 'include' / 'dpu'}", "-fvisibility=hidden", "-ldl"]
        self.timer = compile_c("dpu/launch_time.c", temporary, shared=True, flags=flags)

    def names(self) -> list[str]:
        """List the programs that are there."""
        return [
            name
            for name, command in COMMANDS.items()
            if (self.root / name / command.split()[0]).exists()
        ]

    def seconds(self, name: str, library: Library) -> float:
        """Run a program, and return the seconds of processor time that its launches took."""
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": str(library.folder),
            "LD_PRELOAD": f"{self.timer} {library.folder / 'libdpu.so'}",
            "UPMEM_PROFILE": library.profile,
            "DPU_SOFT_QUIET": "1",
            "DPU_SOFT_THREADS": "1",
        }
        done = subprocess.run(
            COMMANDS[name].split(),
            cwd=self.root / name,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=LIMIT,
        )
        lines = [line.split() for line in done.stderr.decode(errors="replace").splitlines()]
        return next(float(words[1]) for words in lines if words[:1] == ["launches"])


def speeds(
    hosts: Hosts, name: str, libraries: dict[str, Library], quick: bool
) -> dict[str, Sample]:
    """Run one program with all libraries, which alternate; launches a second."""
    figures: dict[str, list[float]] = {library: [] for library in libraries}
    for library in libraries.values():
        hosts.seconds(name, library)
    for _ in range(3 if quick else 7):
        for key, library in libraries.items():
            figures[key].append(1 / hosts.seconds(name, library))
    return {key: Sample.of(values) for key, values in figures.items()}
