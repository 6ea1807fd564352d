# SPDX-License-Identifier: BSD-3-Clause
"""Count pairs of bytes in Python's standard library on several ranks, with allreduce.

    mpiexec -n 4 python examples/accl_allreduce.py
    python examples/accl_allreduce.py --start 4

Every rank reads its share of the files. One allreduce adds the counts up, another finds the
longest line, and each rank can say how many bits a byte of Python costs when the byte before it is
known. The second form starts the ranks itself: by mpiexec, or where there is no MPI as processes
that find each other by the name of a job.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import sysconfig
import uuid
from pathlib import Path

import numpy as np

from accl import ACCLReduceFunctions, accl

PAIRS = 256 * 256
FILES = 160


def find_files() -> list[Path]:
    """List source files of the standard library, the same on every rank."""
    return sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:FILES]


def count_pairs(files: list[Path]) -> tuple[np.ndarray, int]:
    """Count each pair of bytes in files, and find the longest line."""
    counts, longest = np.zeros(PAIRS, np.int64), 0
    for path in files:
        data = np.frombuffer(path.read_bytes(), np.uint8).astype(np.int64)
        counts += np.bincount(data[:-1] * 256 + data[1:], minlength=PAIRS)
        ends = np.flatnonzero(data == ord("\n"))
        longest = max(longest, int(np.diff(ends, prepend=-1).max(initial=0)) - 1)
    return counts, longest


def bits_per_byte(counts: np.ndarray) -> float:
    """Compute the entropy of a byte whose predecessor is known."""
    table = counts.reshape(256, 256).astype(np.float64)
    before = table.sum(axis=1, keepdims=True)
    seen = table > 0
    share = np.broadcast_to(before, table.shape)[seen] / table[seen]
    return float((table[seen] * np.log2(share)).sum() / table.sum())


def open_rank(options: argparse.Namespace) -> accl:
    """Open this process's rank: by the job's name, or as the launcher numbers it."""
    if options.job is not None:
        return accl(options.ranks, options.rank, bufsize=65536, job=options.job)
    from mpi4py import MPI

    return accl.from_comm(MPI.COMM_WORLD, bufsize=65536)


def run_rank(options: argparse.Namespace) -> int:
    with open_rank(options) as device:
        world = device.communicators[0]
        rank, ranks = world.local_rank, len(world.ranks)
        files = find_files()
        counts, longest = count_pairs(files[rank::ranks])
        mine, total = device.allocate((PAIRS,), np.int64), device.allocate((PAIRS,), np.int64)
        mine[:] = counts
        device.allreduce(mine, total, func=ACCLReduceFunctions.SUM)
        line = device.allocate((1,), np.int64)
        line[:] = longest
        device.allreduce(line, line, func=ACCLReduceFunctions.MAX)
        if rank == 0:
            want, longest_of_all = count_pairs(files)
            same = np.array_equal(total, want) and int(line[0]) == longest_of_all
            print(f"{total.sum()} pairs of bytes in {len(files)} files, counted on {ranks} ranks")
            print(f"a byte of Python costs {bits_per_byte(np.asarray(total)):.3f} bits")
            print(f"the longest line has {int(line[0])} characters")
            print("OK: the same as on one rank" if same else "FAILED: one rank counts otherwise")
            return 0 if same else 1
    return 0


def commands(ranks: int) -> list[list[str]]:
    """List what to run: mpiexec once, or one process for each rank."""
    launcher = Path(sys.executable).parent / "mpiexec"
    program = [sys.executable, str(Path(__file__).resolve())]
    if launcher.exists() and importlib.util.find_spec("mpi4py") is not None:
        return [[str(launcher), "-n", str(ranks), *program]]
    job = f"accl_allreduce-{uuid.uuid4().hex}"
    words = [*program, "--job", job, "--ranks", str(ranks), "--rank"]
    return [[*words, str(rank)] for rank in range(ranks)]


def start(ranks: int) -> tuple[int, str]:
    """Run all ranks; give the worst status, and what they printed."""
    # Open MPI, where mpiexec is its own, refuses these two without being told.
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        for command in commands(ranks)
    ]
    printed = [process.communicate()[0] for process in started]
    return max(abs(process.returncode) for process in started), "".join(printed)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--start", type=int, metavar="N", help="start N ranks")
    parser.add_argument("--job", help="name of the job, if there is no MPI")
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--ranks", type=int, default=1)
    options = parser.parse_args()
    if options.start is None:
        return run_rank(options)
    status, printed = start(options.start)
    print(printed, end="")
    return status


if __name__ == "__main__":
    sys.exit(main())
