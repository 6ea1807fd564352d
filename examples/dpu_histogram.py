# SPDX-License-Identifier: BSD-3-Clause
"""Count pixels on DPUs with one of the four kernels of dpu_histogram.c: see docs/dpu_profile.md.

``python examples/dpu_histogram.py STEP [DPUS]``
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from dpu import DpuSet
from dpu.compiler import Compiler

PIXELS, BINS, PIXEL_BITS, TASKLETS = 64 * 1024, 256, 12, 16
SOURCE = Path(__file__).with_name("dpu_histogram.c")


def build(step: int, folder: Path) -> Path:
    program = folder / f"histogram{step}.dpu"
    defines = {"STEP": step, "NR_TASKLETS": TASKLETS}
    Compiler().compile(SOURCE, output=program, defines=defines, options=["-O2", "-g"])
    return program


def draw_image(nr_dpus: int) -> np.ndarray:
    """Return pixels that are mostly dark, as in a photograph."""
    draws = np.random.default_rng(1).gamma(2.0, 400.0, (nr_dpus, PIXELS))
    return np.minimum(draws, (1 << PIXEL_BITS) - 1).astype(np.uint32)


def main(step: int, nr_dpus: int) -> int:
    """Return the cycles of the slowest DPU."""
    image = draw_image(nr_dpus)
    arguments = np.array([4 * PIXELS, 4 * PIXELS, BINS, 0], np.uint32)
    found = [bytearray(4 * BINS) for _ in range(nr_dpus)]
    with tempfile.TemporaryDirectory() as folder:
        program = build(step, Path(folder))
        with DpuSet(nr_dpus=nr_dpus, binary=str(program)) as dpus:
            dpus.copy("DPU_INPUT_ARGUMENTS", arguments)
            dpus.copy("__sys_used_mram_end", list(image))
            dpus.exec()
            dpus.copy(found, "__sys_used_mram_end", offset=4 * PIXELS)
            cycles: int = dpus.report.cycles
    for pixels, histogram in zip(image, found, strict=True):
        expected = np.bincount(pixels * BINS >> PIXEL_BITS, minlength=BINS)
        assert np.array_equal(np.frombuffer(histogram, np.uint32), expected), "wrong counts"
    return cycles


if __name__ == "__main__":
    cycles = main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print(f"step {sys.argv[1]}: {cycles} cycles")
