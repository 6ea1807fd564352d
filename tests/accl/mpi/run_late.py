# SPDX-License-Identifier: BSD-3-Clause
"""Script of each rank: the last one does not call `accl.from_comm()` until the others gave up.

mpiexec -n N python run_late.py {timeout,interrupt}
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import threading

from mpi4py import MPI

from accl import ACCLError, accl

WORLD = MPI.COMM_WORLD


def try_to_meet(apart: MPI.Comm, end: str) -> str:
    """Give the error of a call that waits for the last rank."""
    if end == "interrupt":
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        accl.from_comm(apart, timeout=0.2 if end == "timeout" else math.inf)
    except (ACCLError, KeyboardInterrupt) as error:
        return f"{type(error).__name__} {error}".strip()
    return "no error"


def main() -> None:
    """Rank 0 prints each rank's error, and the number of ranks that met at last."""
    apart = WORLD.Dup()
    late = WORLD.rank == WORLD.size - 1
    said = "" if late else try_to_meet(apart, sys.argv[1])
    everywhere = WORLD.allgather(said)
    if late:
        # MPI's barrier, in which the others are, must end before MPI does.
        apart.Ibarrier().Wait()
    with accl.from_comm(WORLD) as device:
        met = len(device.communicators[0].ranks)
    if WORLD.rank == 0:
        print(json.dumps([everywhere, met]), flush=True)


main()
