# SPDX-License-Identifier: BSD-3-Clause
"""Measure how fast dpu is on this machine: ``python -m dpu.bench``."""

from __future__ import annotations

import contextlib
import ctypes
import io
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from dpu import DpuSet, library_info
from dpu.compiler import Compiler
from dpu.toolchain import ToolchainError, find_toolchain
from offchip.baselines import NoBaseline, c_library, missing_compiler
from offchip.measurements import Baseline, Effort, Measurement, Missing, Series, compare, main

__all__ = ["SERIES"]

TIMES = 160_000
SIZES = (4 << 10, 64 << 10, 1 << 20)
NATIVE = "native code by gcc -O2, one thread"

# The DPU's tasklets share the work that the host does in one go.
KERNEL = """
#include <stdint.h>

static uint32_t mix(uint32_t x, long times)
{
    for (long i = 0; i < times; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    return x;
}

#ifdef HOST
void run(int tasklets, uint32_t *results)
{
    for (int i = 0; i < tasklets; i++)
        results[i] = mix(i + 1, TIMES / tasklets);
}
#else
#include <defs.h>

__host uint32_t results[NR_TASKLETS];

int main(void)
{
    results[me()] = mix(me() + 1, TIMES / NR_TASKLETS);
    return 0;
}
#endif
"""

BLOCK = """
    .globl NR_TASKLETS
    .set NR_TASKLETS, 1
    .text
    .globl main
main:
    stop
    .section .mram.noinit
    .align 8
    .globl block
    .type block, @object
    .size block, {size}
block: .space {size}
"""


def _launches(effort: Effort) -> Iterator[Measurement | Missing]:
    """Execute a compiled kernel, beside the same C for this processor."""
    name = f"{TIMES:,} xorshifts"
    try:
        find_toolchain()
    except ToolchainError:
        yield Missing(name, NATIVE, "pip install 'offchip[toolchain]'")
        return
    engines = {"": "as it is"}
    if library_info()["kind"] == "soft":
        engines = {"softEngine=drift": "interpreted", "softEngine=translated": "translated"}
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="offchip-bench-")))
        source = folder / "mix.c"
        source.write_text(KERNEL)
        try:
            native = stack.enter_context(c_library(KERNEL, ["-DHOST", f"-DTIMES={TIMES}"]))
        except NoBaseline as error:
            yield missing_compiler(name, NATIVE, error)
            return

        for tasklets in (1, 8, 16):
            program = folder / f"mix{tasklets}.dpu"
            defines = {"NR_TASKLETS": tasklets, "TIMES": TIMES}
            Compiler().compile(source, program, defines=defines)
            want = np.zeros(tasklets, np.uint32)
            run = partial(native.run, tasklets, want.ctypes.data_as(ctypes.c_void_p))
            for profile, how in engines.items():
                with DpuSet(nr_dpus=1, binary=str(program), profile=profile) as dpus:
                    found = compare(
                        f"{name}, {how}",
                        dpus.exec,
                        [Baseline(NATIVE, run)],
                        x=tasklets,
                        x_unit="tasklets",
                        repeat=5,
                        effort=effort,
                    )
                    got = np.zeros_like(want)
                    dpus.copy(got, "results")
                    if not np.array_equal(got, want):
                        raise RuntimeError("the DPU gave another result than native code")
                    yield from found


def _copies(effort: Effort) -> Iterator[Measurement]:
    """Copy to and from the MRAM of a DPU, beside a copy in this process."""
    with DpuSet(nr_dpus=1, asm_source=io.StringIO(BLOCK.format(size=max(SIZES)))) as dpus:
        for size in SIZES:
            ours, other = np.ones(size, np.uint8), np.zeros(size, np.uint8)
            for name, work in (
                ("copy to MRAM", partial(dpus.copy, "block", ours)),
                ("copy from MRAM", partial(dpus.copy, ours, "block")),
            ):
                yield from compare(
                    name,
                    work,
                    [Baseline("memcpy", partial(np.copyto, other, ours))],
                    x=size,
                    x_unit="B",
                    repeat=max(1, (4 << 20) // size),
                    effort=effort,
                )


SERIES: tuple[Series, ...] = (_launches, _copies)

if __name__ == "__main__":
    sys.exit(main("dpu", SERIES))
