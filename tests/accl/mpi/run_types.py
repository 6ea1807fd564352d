# SPDX-License-Identifier: BSD-3-Clause
"""Script of each rank: reductions of every element type, compared with NumPy.

mpiexec -n N python run_types.py auto|packets|hosts
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys

from mpi4py import MPI

from accl import accl
from tests.accl.reference_types import TYPES, check_types

world = MPI.COMM_WORLD
names = TYPES
if importlib.util.find_spec("ml_dtypes") is None:
    names = tuple(name for name in names if name != "bfloat16")
else:
    import ml_dtypes  # noqa: F401
if sys.argv[1] == "hosts":
    os.environ["ACCL_HOST"] = f"host {world.rank % 2}"

device = accl.from_comm(world, transport="packets" if sys.argv[1] == "packets" else "auto")
device.set_timeout(60_000)
found = world.gather(check_types(device, world.rank, world.size, names))
device.deinit()
if found is not None:
    print(json.dumps([text for part in found for text in part]), flush=True)
