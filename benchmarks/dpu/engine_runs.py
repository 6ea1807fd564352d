# SPDX-License-Identifier: BSD-3-Clause
"""Runs launches for `engines.py`: a process for each library and engine.

Each line of its input is a program, a profile, a number of rounds (0: as before) and of DPUs, with
tabs between them. Each line of its output is what a launch has taken, as JSON.
"""

from __future__ import annotations

import json
import resource
import struct
import sys
import time
from pathlib import Path

from dpu import DpuSet

# Kernels (kernels/workloads.c) whose DPUs can have different data.
WORKLOADS = "vector_add reduction histogram scan choose gemv sort search transpose match sparse"
WORKLOADS += " checksum divide real"


def mapped_code() -> tuple[int, int, int]:
    """Count the modules of translated code in memory, their bytes, and those of instructions."""
    modules, total, executable = set(), 0, 0
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, access, _, _, inode, *name = line.split(maxsplit=5)
        if not name or not name[0].startswith("/memfd:host-code"):
            continue
        first, end = (int(word, 16) for word in place.split("-"))
        modules.add(inode)
        total += end - first
        executable += end - first if "x" in access else 0
    return len(modules), total, executable


def main() -> None:
    sets: dict[tuple[str, ...], DpuSet] = {}
    for line in sys.stdin:
        program, profile, rounds, count = line.rstrip("\n").split("\t")
        key = program, profile, count
        if key not in sets:
            sets[key] = DpuSet(int(count), profile=profile, binary=program)
            if int(count) > 1 and Path(program).stem in WORKLOADS.split():
                sets[key].copy("seed", [struct.pack("<I", i) for i in range(int(count))])
        dpus = sets[key]
        if int(rounds):
            dpus.rounds = struct.pack("<I", int(rounds))
        wall, processor = time.perf_counter(), time.process_time()
        dpus.exec()
        processor, wall = time.process_time() - processor, time.perf_counter() - wall
        modules, mapped, executable = mapped_code()
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = {
            "instructions": dpus.report.instructions,
            "seconds": processor,
            "wall": wall,
            "compiler": children.ru_utime + children.ru_stime,
            "modules": modules,
            "mapped": mapped,
            "executable": executable,
        }
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
