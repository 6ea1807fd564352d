#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Energy-delay products of AccelForge.
#
# Guess: the column has energy times latency, as floating-point numbers.
# Seen: where costs are whole numbers, energy and latency are int64, and so is their product, which
#   wraps around without a warning. One matrix multiplication of 1,024 on the example
#   architecture `simple` has 1.1e18 for 3.8e19; of 2,048 less than nothing.
# Why it matters: sorted by the product, the worst designs can come first. Compute it
#   from the two columns as float64, or write one cost as a fraction.
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
# It draws with Graphviz; any program of that name will do.
mkdir bin
printf '#!/bin/sh\necho "<svg/>"\n' > bin/dot
chmod +x bin/dot

PATH="$work/bin:$PATH" "$work/venv/bin/python" -W ignore - <<'P'
import accelforge as af

af.set_n_parallel_jobs(1)
for size in (512, 1024, 2048):
    spec = af.Spec.from_yaml(
        af.examples.arches.simple, af.examples.workloads.matmuls, N_EINSUMS=1, M=size, KN=size
    )
    spec.mapper.metrics = af.Metrics.ENERGY_DELAY_PRODUCT
    row = spec.map_workload_to_arch(print_progress=False).data.iloc[0]
    product = int(row["Total<SEP>energy_delay_product"])
    exact = int(row["Total<SEP>energy"]) * int(row["Total<SEP>latency"])
    print(f"{size}: {product:.3g}, energy times latency {exact:.3g}")
    assert (product - exact) % 2**64 == 0 and (product == exact) == (size == 512), "changed"
P
