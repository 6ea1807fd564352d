# SPDX-License-Identifier: BSD-3-Clause
"""Each rank's part: an operation that no transport makes, twice, and an allreduce after it.

mpiexec -n N python run_planted.py NUMBER
"""

from __future__ import annotations

import json
import sys

import numpy as np
from mpi4py import MPI

from accl import ACCLError, accl
from tests.accl.mpi.pretended_hosts import pretend_hosts

WORLD = MPI.COMM_WORLD


def main() -> None:
    """Rank 0 prints each rank's errors, and its sum."""
    pretend_hosts(WORLD)
    device = accl.from_comm(WORLD)
    source, total = (device.allocate((4,), dtype=np.int32) for _ in range(2))
    source[:] = WORLD.rank + 1
    address, errors = device.communicators[0].addr, []
    for _ in range(2):
        try:
            device.call_sync(int(sys.argv[1]), 4, address, addr_0=source, addr_2=total)
        except ACCLError as error:
            errors.append(str(error))
    device.allreduce(source, total)
    device.deinit()

    everywhere = WORLD.gather((errors, int(total[0])))
    if everywhere is not None:
        print(json.dumps(everywhere), flush=True)


main()
