# SPDX-License-Identifier: BSD-3-Clause
"""Runs launches for `engines.py`: a process for each library and engine, on one core.

Each line of its input is a program, a profile and a number of rounds; each line of its output is
the number of instructions of a launch, and the seconds of processor time that it took.
"""

from __future__ import annotations

import struct
import sys
import time

from dpu import DpuSet


def main() -> None:
    sets: dict[tuple[str, str], DpuSet] = {}
    for line in sys.stdin:
        program, profile, rounds = line.rstrip("\n").split("\t")
        key = program, profile
        if key not in sets:
            sets[key] = DpuSet(1, profile=profile, binary=program)
        dpus = sets[key]
        if rounds:
            dpus.rounds = struct.pack("<I", int(rounds))
        start = time.process_time()
        dpus.exec()
        seconds = time.process_time() - start
        print(dpus.report.instructions, seconds, flush=True)


if __name__ == "__main__":
    main()
