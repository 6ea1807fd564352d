#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Cycles of SCALE-Sim for a matrix product.
#
# Guess: a fold on R x C cells takes 2 R + C + T - 2 cycles, as in its authors' paper, for each
#   dataflow (T: length of the dimension that streams).
# Seen: weight stationary does. Output stationary takes R + C + T - 2, since the results leave the
#   array at no cost. "Total Cycles" is one less than the sum, once per layer.
# Why it matters: comparisons of dataflows favour output stationary, here by 20 % per fold, and
#   other models of systolic arrays differ from these figures.
# Versions: scalesim 3.0.0, numpy 2.3.5.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check scalesim==3.0.0 numpy==2.3.5

cd "$work"
cat > layers.csv <<'C'
Layer, M, N, K,
small, 32, 32, 64,
large, 64, 64, 64,
C
{
    echo "Layer,$(printf 'factor,%.0s' $(seq 20))"
    for layer in small large; do
        echo "$layer,$(printf '1,%.0s' $(seq 20))"
    done
} > layout.csv
for dataflow in os ws; do
    cat > $dataflow.cfg <<C
[general]
run_name = $dataflow
[architecture_presets]
ArrayHeight: 32
ArrayWidth: 32
IfmapSramSzkB: 1024
FilterSramSzkB: 1024
OfmapSramSzkB: 1024
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Dataflow: $dataflow
Bandwidth: 10
ReadRequestBuffer: 32
WriteRequestBuffer: 32
[layout]
IfmapCustomLayout: False
IfmapSRAMBankBandwidth: 10
IfmapSRAMBankNum: 10
IfmapSRAMBankPort: 2
FilterCustomLayout: False
FilterSRAMBankBandwidth: 10
FilterSRAMBankNum: 10
FilterSRAMBankPort: 2
[sparsity]
SparsitySupport: false
SparseRep: ellpack_block
OptimizedMapping: false
BlockSize: 8
RandomNumberGeneratorSeed: 40
[run_presets]
InterfaceBandwidth: CALC
UseRamulatorTrace: False
C
done
venv/bin/python -W ignore - <<'P'
import contextlib
import csv
import io
from scalesim.scale_sim import scalesim

# Array of 32 x 32: 2 folds and 4 of weight stationary, 1 and 4 of output stationary.
WANTED = {
    "ws": [2 * (2 * 32 + 32 + 32 - 2) - 1, 4 * (2 * 32 + 32 + 64 - 2) - 1],
    "os": [1 * (32 + 32 + 64 - 2) - 1, 4 * (32 + 32 + 64 - 2) - 1],
}
for dataflow in ("os", "ws"):
    with contextlib.redirect_stdout(io.StringIO()):
        scalesim(
            save_disk_space=True,
            verbose=False,
            config=f"{dataflow}.cfg",
            topology="layers.csv",
            layout="layout.csv",
            input_type_gemm=True,
        ).run_scale(top_path="out")
    with open(f"out/{dataflow}/COMPUTE_REPORT.csv") as file:
        seen = [int(row["Total Cycles"]) for row in csv.DictReader(file, skipinitialspace=True)]
    print(f"{dataflow}: 32 x 32 x 64 (M, N, K) takes {seen[0]} cycles, 64 x 64 x 64 {seen[1]}")
    assert seen == WANTED[dataflow], "changed"
P
