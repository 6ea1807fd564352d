# SPDX-License-Identifier: BSD-3-Clause
"""Count accesses of a matrix product with SCALE-Sim; see systolic.py.

``PYTHON scalesim_peer.py`` gets a case as JSON, and prints how many elements of each operand the
array reads from its buffers and writes to them, as JSON. SCALE-Sim counts the accesses of a run.
"""

import contextlib
import csv
import io
import json
import os
import sys
import tempfile
from pathlib import Path

from scalesim.scale_sim import scalesim

CONFIGURATION = """[general]
run_name = run
[architecture_presets]
ArrayHeight: {side}
ArrayWidth: {side}
IfmapSramSzkB: 1024
FilterSramSzkB: 1024
OfmapSramSzkB: 1024
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Dataflow: {dataflow}
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
"""


def main():
    case = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("run.cfg").write_text(CONFIGURATION.format(**case))
        sizes = "{M}, {N}, {K}".format(**case["sizes"])
        Path("layers.csv").write_text(f"Layer, M, N, K,\nlayer, {sizes},\n")
        factors = 20
        Path("layout.csv").write_text(f"Layer,{'factor,' * factors}\nlayer,{'1,' * factors}\n")
        with contextlib.redirect_stdout(io.StringIO()):
            scalesim(
                save_disk_space=True,
                verbose=False,
                config="run.cfg",
                topology="layers.csv",
                layout="layout.csv",
                input_type_gemm=True,
            ).run_scale(top_path="out")
        with open("out/run/DETAILED_ACCESS_REPORT.csv") as file:
            (row,) = csv.DictReader(file, skipinitialspace=True)
    print(
        json.dumps(
            {
                name: int(float(row[name]))
                for name in row
                if name and ("Reads" in name or "Writes" in name)
            }
        )
    )


main()
