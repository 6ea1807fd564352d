# SPDX-License-Identifier: BSD-3-Clause
"""Check that dpu works on this machine: ``python -m dpu.selftest``."""

from __future__ import annotations

import io
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from dpu import DpuSet, asm, library_info
from dpu.compiler import Compiler
from dpu.errors import DpuError
from dpu.toolchain import ToolchainError, find_toolchain
from offchip.checks import Check, Skipped, main, require

__all__ = ["CHECKS"]

DPUS = 8
BLOCK = 64 * 1024
LOOPS = 200_000

# Tasklet 0 counts down from `loops`, and writes three times that into `result`. Address 0 of WRAM
# is never used, as the vendor's compiler does not either.
ASSEMBLY = f"""
    .globl NR_TASKLETS
    .set NR_TASKLETS, 1
    .text
    .globl main
main:
    move r0, {LOOPS}
    move r1, 0
.Lagain:
    add r1, r1, 3
    sub r0, r0, 1
    jneq r0, 0, .Lagain
    move r2, result
    sw r2, 0, r1
    stop
    .section .data.__sys_host
    .align 8
    .globl result
    .type result, @object
    .size result, 8
result: .space 8
    .section .mram.noinit
    .align 8
    .globl block
    .type block, @object
    .size block, {BLOCK}
block: .space {BLOCK}
"""

SOURCE = """
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#include <stdint.h>

BARRIER_INIT(all_wrote, NR_TASKLETS);

__mram_noinit uint8_t block[65536];
__host uint32_t result;
uint32_t sums[NR_TASKLETS];

int main(void)
{
    __dma_aligned uint8_t part[256];

    for (unsigned at = me() * sizeof part; at < sizeof block; at += NR_TASKLETS * sizeof part) {
        mram_read(block + at, part, sizeof part);
        for (unsigned i = 0; i < sizeof part; i++)
            sums[me()] += part[i];
    }
    barrier_wait(&all_wrote);

    if (me() == 0)
        for (unsigned i = 0; i < NR_TASKLETS; i++)
            result += sums[i];
    return 0;
}
"""


def _library() -> str:
    info = library_info()
    return f"{info['kind']}, {info['path']}"


def _assembled() -> bytes:
    return asm.assemble(io.StringIO(ASSEMBLY))


def _allocate() -> str:
    with DpuSet(nr_dpus=DPUS) as dpus:
        require(len(dpus) == DPUS, f"{len(dpus)} DPUs were allocated instead of {DPUS}")
    return f"{DPUS} DPUs allocated and freed"


def _transfers() -> str:
    blocks = np.random.default_rng(0).integers(0, 256, (DPUS, BLOCK), np.uint8)
    with DpuSet(nr_dpus=DPUS, binary=_assembled()) as dpus:
        dpus.copy("block", list(blocks))
        back = [bytearray(BLOCK) for _ in range(DPUS)]
        start = time.perf_counter()
        dpus.copy(back, "block")
        seconds = time.perf_counter() - start
    require(
        all(bytes(one) == other.tobytes() for one, other in zip(back, blocks, strict=True)),
        "what was read from MRAM is not what was written",
    )
    return f"{DPUS} x {BLOCK // 1024} KiB there and back, {blocks.nbytes / seconds / 1e9:.1f} GB/s"


def _program() -> str:
    with DpuSet(nr_dpus=DPUS, binary=_assembled()) as dpus:
        start = time.perf_counter()
        dpus.exec()
        seconds = time.perf_counter() - start
        results = [view.cast("I")[0] for view in dpus.result.data()]
        report = dpus.report if library_info()["kind"] == "soft" else None
    require(set(results) == {3 * LOOPS}, f"the DPUs counted {results}, each should be {3 * LOOPS}")
    if report is None:
        return "right"
    return (
        f"right; {report.instructions / seconds / 1e6:.0f} M instructions/s simulated, "
        f"modelled time {report.seconds * 1e3:.1f} ms"
    )


def _c_program() -> str:
    try:
        compiler = find_toolchain()
    except ToolchainError as error:
        raise Skipped(f"no C compiler for DPUs: {error}") from error
    blocks = np.random.default_rng(1).integers(0, 256, (DPUS, BLOCK), np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "selftest.c", Path(folder) / "selftest.dpu"
        source.write_text(SOURCE)
        Compiler().compile(source, output=program, defines={"NR_TASKLETS": 16})
        with DpuSet(nr_dpus=DPUS, binary=program) as dpus:
            dpus.copy("block", list(blocks))
            dpus.exec()
            sums = [view.cast("I")[0] for view in dpus.result.data()]
    want = blocks.sum(axis=1, dtype=np.uint32).tolist()
    require(sums == want, f"the sums are {sums}, they should be {want}")
    return f"16 tasklets on {DPUS} DPUs: right; {compiler.describe()}"


def _fault() -> str:
    broken = ASSEMBLY.replace("move r2, result", "move r2, 0x7ffffff8")
    with DpuSet(nr_dpus=1, binary=asm.assemble(io.StringIO(broken))) as dpus:
        try:
            dpus.exec()
        except DpuError:
            return "reported as an exception; this process lives"
    raise AssertionError("a program that writes outside WRAM raised no DpuError")


#: The checks by what they check.
CHECKS: dict[str, Check] = {
    "the library is found": _library,
    "DPUs are allocated": _allocate,
    "memory is written and read": _transfers,
    "a program in assembly": _program,
    "a program in C": _c_program,
    "a program that faults": _fault,
}

if __name__ == "__main__":
    sys.exit(main("dpu", CHECKS))
