#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# AccelForge without Graphviz.
#
# Guess: a search needs Graphviz only where a picture of its mapping is asked for.
# Seen: map_workload_to_arch() draws each mapping that it found into mapping.svg in the working
#   directory, and ends with FileNotFoundError where there is no program dot, after the search. Any
#   program of that name will do.
# Why it matters: pip cannot install Graphviz. What was computed, possibly for hours, is lost, and
#   the message does not speak of the mapper; several searches in one folder write one file.
# Versions: accelforge 1.0.467; Python 3.12 or later.
set -eu
"${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 12))' ||
    { echo "set PYTHON to Python 3.12 or later" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check accelforge==1.0.467
cd "$work"  # The search writes a picture into the working directory.

cat > search.py <<'P'
import os

import accelforge as af

af.set_n_parallel_jobs(1)
spec = af.Spec.from_yaml(
    af.examples.arches.simple, af.examples.workloads.matmuls, N_EINSUMS=1, M=64, KN=64
)
try:
    outcome = f"{len(spec.map_workload_to_arch(print_progress=False))} mapping"
except FileNotFoundError as error:
    outcome = f"FileNotFoundError: {error}"
print(outcome, "and wrote mapping.svg" if os.path.exists("mapping.svg") else "and wrote nothing")
P
# Nothing but the environment is on PATH.
mkdir bin without with
(cd without && PATH="$work/bin" "$work/venv/bin/python" -W ignore ../search.py) > log
printf '#!/bin/sh\necho "<svg/>"\n' > bin/dot
chmod +x bin/dot
(cd with && PATH="$work/bin" "$work/venv/bin/python" -W ignore ../search.py) >> log
cat log
printf '%s\n' 'FileNotFoundError: [Errno 2] "dot" not found in path. and wrote mapping.svg' \
    '1 mapping and wrote mapping.svg' | cmp -s log - || { echo changed >&2; exit 1; }
