# SPDX-License-Identifier: BSD-3-Clause
"""Measure how fast dpu is on this machine: ``python -m dpu.bench``."""

from __future__ import annotations

import io
import sys
import zlib
from collections.abc import Iterator
from functools import partial

import numpy as np

from dpu import DpuSet, library_info
from offchip.measurements import Measurement, Series, compare, main

__all__ = ["SERIES"]

INSTRUCTIONS = 2_000_000
SIZES = (4 << 10, 64 << 10, 1 << 20)

# Each tasklet runs a loop of four instructions.
LOOP = """
    .globl NR_TASKLETS
    .set NR_TASKLETS, {tasklets}
    .text
    .globl main
main:
    move r0, {count}
    move r1, 0
.Lagain:
    add r1, r1, r0
    xor r2, r1, r0
    sub r0, r0, 1
    jneq r0, 0, .Lagain
    stop
    .section .mram.noinit
    .align 8
    .globl block
    .type block, @object
    .size block, {size}
block: .space {size}
"""


def _program(tasklets: int) -> io.StringIO:
    count = INSTRUCTIONS // 4 // tasklets
    return io.StringIO(LOOP.format(tasklets=tasklets, count=count, size=max(SIZES)))


def _launches() -> Iterator[Measurement]:
    """Simulate a launch, beside zlib's checksum of as many bytes as it has instructions."""
    data = bytes(INSTRUCTIONS)
    # One engine throughout: by itself the twin would change to translated code on the way.
    profile = "softEngine=drift" if library_info()["kind"] == "soft" else ""
    for tasklets in (1, 8, 16):
        with DpuSet(nr_dpus=1, asm_source=_program(tasklets), profile=profile) as dpus:
            yield compare(
                f"launch of {INSTRUCTIONS // 1_000_000} M instructions",
                dpus.exec,
                lambda: zlib.adler32(data),
                against="zlib.adler32, a byte per instruction",
                x=tasklets,
                x_unit="tasklets",
                repeat=3,
            )


def _copies() -> Iterator[Measurement]:
    """Copy to and from the MRAM of a DPU, beside a copy in this process."""
    with DpuSet(nr_dpus=1, asm_source=_program(1)) as dpus:
        for size in SIZES:
            ours, other = np.ones(size, np.uint8), np.zeros(size, np.uint8)
            for name, work in (
                ("copy to MRAM", partial(dpus.copy, "block", ours)),
                ("copy from MRAM", partial(dpus.copy, ours, "block")),
            ):
                yield compare(
                    name,
                    work,
                    partial(np.copyto, other, ours),
                    against="numpy.copyto",
                    x=size,
                    x_unit="B",
                    repeat=max(1, (4 << 20) // size),
                )


SERIES: tuple[Series, ...] = (_launches, _copies)

if __name__ == "__main__":
    sys.exit(main("dpu", SERIES))
