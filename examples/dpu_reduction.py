# SPDX-License-Identifier: BSD-3-Clause
"""Add up numbers on DPUs with one of the five kernels of dpu_reduction.c: see docs/dpu_profile.md.

``python examples/dpu_reduction.py STEP [DPUS]``
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from dpu import DpuSet
from dpu.compiler import Compiler

NUMBERS = 64 * 1024
SOURCE = Path(__file__).with_name("dpu_reduction.c")


def build(step: int, folder: Path) -> Path:
    program = folder / f"reduction{step}.dpu"
    defines = {"STEP": step, "NR_TASKLETS": 16 if step >= 3 else 4}
    Compiler().compile(SOURCE, output=program, defines=defines)
    return program


def main(step: int, nr_dpus: int) -> int:
    """Return the cycles of the slowest DPU."""
    shape = (nr_dpus, NUMBERS)
    numbers = np.random.default_rng(1).integers(0, 1 << 32, shape, np.uint32)
    totals = [bytearray(8) for _ in range(nr_dpus)]
    with tempfile.TemporaryDirectory() as folder:
        program = build(step, Path(folder))
        with DpuSet(nr_dpus=nr_dpus, binary=str(program)) as dpus:
            dpus.copy("numbers", list(numbers))
            dpus.exec()
            dpus.copy(totals, "total")
            cycles: int = dpus.report.cycles
    found = np.frombuffer(b"".join(totals), np.uint64)
    assert np.array_equal(found, numbers.sum(axis=1, dtype=np.uint64)), "wrong sums"
    return cycles


if __name__ == "__main__":
    cycles = main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print(f"step {sys.argv[1]}: {cycles} cycles")
