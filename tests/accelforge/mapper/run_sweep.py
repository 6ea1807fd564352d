# SPDX-License-Identifier: BSD-3-Clause
"""Map several specifications on the ranks of MPI, and print what the mapper found as JSON.

mpiexec -n N python run_sweep.py
"""

from __future__ import annotations

import json

from mpi4py import MPI
from mpi4py.futures import MPICommExecutor

import accelforge as af
from tests.accelforge.mapper.small import chain_of, rows, rows_of_mapped


def main() -> None:
    """Let rank 0 hand out the work."""
    with MPICommExecutor(MPI.COMM_WORLD, root=0) as executor:
        if executor is None:
            return
        specs = [chain_of(3, buffer=size) for size in (200, 400, 800)]
        found = af.sweep(rows_of_mapped, specs, executor=executor)
        alone = chain_of(3, buffer=400)
        found.append(rows(alone.map_workload_to_arch(print_progress=False, executor=executor)))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
