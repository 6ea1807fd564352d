# SPDX-License-Identifier: BSD-3-Clause
"""Kernels for a DPU: C programs, which are measured in simulated cycles.

The instructions of one compute are counted in the source: what a round of the inner loop loads,
computes and stores, one addition for each pointer that moves on, and one branch. What an operation
takes is measured by another program (`accelforge.kernels.operations`).
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from accelforge.devices import upmem_rank
from accelforge.frontend.spec import Spec
from accelforge.kernels.operations import INSTRUCTIONS
from accelforge.prediction import (
    Kernel,
    Measurement,
    compute,
    hold,
    loop,
    make_spec,
    phases,
    spread,
)

__all__ = ["DpuKernel", "dpu_gemv", "dpu_histogram", "dpu_matmul", "dpu_reduction", "dpu_scan"]

Array = np.ndarray[Any, Any]

SOURCES = Path(__file__).parent / "dpu"
TASKLETS = 16
CLOCK = 350e6
# Defaults of the simulator; the architecture has measured values in their place.
DMA_CYCLES = 0.5
LOAD = STORE = POINTER = BRANCH = INDEX = 1


class DpuKernel(Kernel):
    """A kernel for one DPU.

    Parameters
    ----------
    name : str
        Shown in tables.
    source : Path
        The C file.
    defines : mapping
        Its macros, NR_TASKLETS among them.
    inputs, expected : mapping
        What is written to variables of the DPU before the launch, and is in them after it.
    spec : Spec
        Architecture, workload and mapping.
    note : str
        What the prediction leaves out.
    """

    def __init__(
        self,
        name: str,
        source: Path,
        defines: Mapping[str, int],
        inputs: Mapping[str, Array],
        expected: Mapping[str, Array],
        spec: Spec,
        note: str = "",
    ) -> None:
        super().__init__(name, note)
        self.source = source
        self.defines = dict(defines)
        self.inputs = dict(inputs)
        self.expected = dict(expected)
        self._spec = spec

    def spec(self) -> Spec:
        """Return architecture, workload and mapping."""
        return self._spec

    def run(self) -> Measurement:
        """Run the program on one simulated DPU, and check what it computed."""
        from dpu import DpuSet

        program = _build(self.source, tuple(sorted(self.defines.items())))
        with DpuSet(nr_dpus=1, binary=program) as dpus:
            for name, data in self.inputs.items():
                dpus.copy(name, data)
            dpus.exec()
            report = dpus.report
            for name, data in self.expected.items():
                found = np.empty_like(data)
                dpus.copy(found, name)
                if not np.array_equal(found, data):
                    raise RuntimeError(f"{self.name} computed a wrong {name} on the DPU")
        return Measurement(report.seconds, f"{report.cycles} simulated cycles")


@cache
def _build(source: Path, defines: tuple[tuple[str, int], ...]) -> bytes:
    from dpu.compiler import Compiler

    with tempfile.TemporaryDirectory(prefix="accelforge-") as folder:
        output = Path(folder) / "kernel.dpu"
        try:
            Compiler().compile(source, output, defines=dict(defines))
        except subprocess.CalledProcessError as error:
            raise RuntimeError(
                f"{source.name} does not compile for a DPU: {error.stderr}"
            ) from error
        return output.read_bytes()


def _spec(
    tasklets: int,
    block: int,
    instructions: float | str,
    einsums: Sequence[str],
    sizes: Mapping[str, int],
    bits: int | Mapping[str, int],
    nodes: Sequence[Any],
) -> Spec:
    rank = upmem_rank(
        dpus=1,
        tasklets=tasklets,
        clock=CLOCK,
        block=block,
        instructions=instructions,
        dma_cycles=DMA_CYCLES,
    )
    return make_spec(rank, einsums, sizes, bits, nodes)


def _check_multiple(name: str, value: int, of: int) -> None:
    if of < 1:
        raise ValueError("tasklets, tile and block must be 1 or more")
    if value < of or value % of:
        raise ValueError(f"{name} must be a multiple of {of}, not {value}")


def dpu_gemv(
    rows: int = 128,
    columns: int = 1024,
    *,
    block: int = 256,
    tile: int = 4,
    tasklets: int = TASKLETS,
) -> DpuKernel:
    """Return a product of a matrix and a vector of 32-bit integers below 1024.

    Parameters
    ----------
    rows, columns : int
        Of the matrix.
    block : int
        Values that are fetched at a time, 2 to 512, an even number.
    tile : int
        Rows for which a block of the vector is fetched once.
    tasklets : int
        Threads, 1 to 24.
    """
    _check_multiple("rows", rows, tasklets * tile)
    _check_multiple("columns", columns, block)
    random = np.random.default_rng(1)
    matrix = random.integers(0, 1024, (rows, columns), np.int32)
    vector = random.integers(0, 1024, columns, np.int32)
    inner = 2 * (LOAD + POINTER) + INSTRUCTIONS["mul32"] + INSTRUCTIONS["add32"] + BRANCH
    spec = _spec(
        tasklets,
        4 * block,
        inner,
        ["Z[m] = A[m, k] * x[k]"],
        {"M": rows, "K": columns},
        32,
        [
            hold("MRAM", "A", "x", "Z"),
            spread("m", "Tasklet", "tasklets", rows // tasklets),
            loop("m", tile),
            hold("WRAM", "Z"),
            loop("k", block),
            hold("WRAM", "x"),
            loop("m"),
            hold("WRAM", "A"),
            hold("Registers", "Z"),
            loop("k"),
            compute("Pipeline", "Z"),
        ],
    )
    return DpuKernel(
        f"gemv {rows}x{columns}, blocks of {block}",
        SOURCES / "gemv.c",
        {"NR_TASKLETS": tasklets, "M": rows, "K": columns, "BLOCK": block, "ROWS": tile},
        {"A": matrix, "x": vector},
        {"Z": matrix @ vector},
        spec,
        "a product takes 10 to 13 instructions, fewer where one factor is small",
    )


def dpu_reduction(count: int = 1 << 18, *, block: int = 128, tasklets: int = TASKLETS) -> DpuKernel:
    """Return a sum of 64-bit integers.

    Parameters
    ----------
    count : int
        How many.
    block : int
        Numbers that are fetched at a time.
    tasklets : int
        Threads, 1 to 24.
    """
    _check_multiple("count", count, tasklets * block)
    numbers = np.random.default_rng(2).integers(-(2**40), 2**40, count)
    spec = _spec(
        tasklets,
        8 * block,
        LOAD + POINTER + INSTRUCTIONS["add64"] + BRANCH,
        ["s[t] = A[t, i]", "S[z] = s[t]"],
        {"T": tasklets, "I": count // tasklets, "Z": 1},
        64,
        [
            hold("MRAM", "A", "s", "S"),
            phases(
                [
                    spread("t", "Tasklet", "tasklets"),
                    hold("WRAM", "s"),
                    loop("i", block),
                    hold("WRAM", "A"),
                    hold("Registers", "s"),
                    loop("i"),
                    compute("Pipeline", "s"),
                ],
                [hold("WRAM", "S", "s"), loop("t"), loop("z"), compute("Pipeline", "S")],
            ),
        ],
    )
    return DpuKernel(
        f"reduction of {count}",
        SOURCES / "reduction.c",
        {"NR_TASKLETS": tasklets, "N": count, "BLOCK": block},
        {"A": numbers},
        {"S": numbers.sum(keepdims=True)},
        spec,
        "the compiler adds 64-bit numbers with three instructions here, not two",
    )


def dpu_histogram(
    count: int = 1 << 18, *, block: int = 1024, tasklets: int = TASKLETS
) -> DpuKernel:
    """Return counts of bytes, in a table for each tasklet.

    Parameters
    ----------
    count : int
        Bytes.
    block : int
        Bytes that are fetched at a time.
    tasklets : int
        Threads, 1 to 24.
    """
    _check_multiple("count", count, tasklets * block)
    data = np.random.default_rng(3).integers(0, 256, count, np.uint8)
    counting = 2 * LOAD + INDEX + INSTRUCTIONS["add32"] + STORE + POINTER + BRANCH
    merging = LOAD + INSTRUCTIONS["add32"] + POINTER + BRANCH
    spec = _spec(
        tasklets,
        block,
        f"{merging} if 'H' in All else {counting}",
        # A table is one value: which of its counts a byte belongs to makes no difference to the
        # time. The second Einsum has the same tables, count by count.
        ["table[t] = A[t, i]", "H[b] = counts[t, b]"],
        {"T": tasklets, "I": count // tasklets, "B": 256},
        {"A": 8, "table": 256 * 32, "counts": 32, "H": 32},
        [
            hold("MRAM", "A"),
            phases(
                [
                    spread("t", "Tasklet", "tasklets"),
                    hold("WRAM", "table"),
                    loop("i", block),
                    hold("WRAM", "A"),
                    hold("Registers", "A"),
                    loop("i"),
                    compute("Pipeline", "table"),
                ],
                [
                    spread("b", "Tasklet", "tasklets", -(-256 // tasklets)),
                    hold("WRAM", "H", "counts"),
                    loop("b"),
                    loop("t"),
                    compute("Pipeline", "H"),
                ],
            ),
        ],
    )
    return DpuKernel(
        f"histogram of {count} bytes",
        SOURCES / "histogram.c",
        {"NR_TASKLETS": tasklets, "N": count, "BLOCK": block},
        {"A": data},
        {"H": np.bincount(data, minlength=256).astype(np.uint32)},
        spec,
        "the loops over blocks, and the barrier",
    )


def dpu_scan(count: int = 1 << 18, *, block: int = 256, tasklets: int = TASKLETS) -> DpuKernel:
    """Return prefix sums of 32-bit integers.

    Parameters
    ----------
    count : int
        How many.
    block : int
        Numbers that are fetched at a time.
    tasklets : int
        Threads, 1 to 24.
    """
    _check_multiple("count", count, tasklets * block)
    numbers = np.random.default_rng(4).integers(0, 2**20, count, np.uint32)
    adding = LOAD + POINTER + INSTRUCTIONS["add32"] + BRANCH
    spec = _spec(
        tasklets,
        4 * block,
        f"{adding + STORE} if 'P' in All else {adding}",
        ["s[t] = A[t, i]", "P[t, i] = A[t, i] * s[t]"],
        {"T": tasklets, "I": count // tasklets},
        32,
        [
            hold("MRAM", "A", "s", "P"),
            phases(
                *(
                    [
                        spread("t", "Tasklet", "tasklets"),
                        hold("WRAM", "s"),
                        loop("i", block),
                        hold("WRAM", "A"),  # where the results replace the numbers
                        hold("Registers", "s"),
                        loop("i"),
                        compute("Pipeline", einsum),
                    ]
                    for einsum in "sP"
                )
            ),
        ],
    )
    return DpuKernel(
        f"scan of {count}",
        SOURCES / "scan.c",
        {"NR_TASKLETS": tasklets, "N": count, "BLOCK": block},
        {"A": numbers},
        {"P": numbers.cumsum(dtype=np.uint32)},
        spec,
        "the loops over blocks, and the barrier",
    )


def dpu_matmul(
    rows: int = 64, columns: int = 64, inner: int = 128, *, tile: int = 4, tasklets: int = TASKLETS
) -> DpuKernel:
    """Return a product of two matrices of 16-bit integers, of which the second is transposed.

    Parameters
    ----------
    rows, columns, inner : int
        Rows of the first matrix, columns of the second, and what they have in common.
    tile : int
        Rows that a tasklet keeps in WRAM.
    tasklets : int
        Threads, 1 to 24.
    """
    _check_multiple("rows", rows, tasklets * tile)
    _check_multiple("inner", inner, 4)
    random = np.random.default_rng(5)
    a = random.integers(-128, 128, (rows, inner)).astype(np.int16)
    b = random.integers(-128, 128, (columns, inner)).astype(np.int16)
    spec = _spec(
        tasklets,
        2 * inner,
        2 * (LOAD + POINTER) + INSTRUCTIONS["mul16"] + INSTRUCTIONS["add32"] + BRANCH,
        ["C[m, n] = A[m, k] * B[n, k]"],
        {"M": rows, "N": columns, "K": inner},
        {"A": 16, "B": 16, "C": 32},
        [
            hold("MRAM", "A", "B", "C"),
            spread("m", "Tasklet", "tasklets", rows // tasklets),
            loop("m", tile),
            hold("WRAM", "A", "C"),
            loop("n"),
            hold("WRAM", "B"),
            loop("m"),
            loop("k"),
            compute("Pipeline", "C"),
        ],
    )
    return DpuKernel(
        f"matmul {rows}x{columns}x{inner}",
        SOURCES / "matmul.c",
        {"NR_TASKLETS": tasklets, "M": rows, "N": columns, "K": inner, "TILE": tile},
        {"A": a, "B": b},
        {"C": a.astype(np.int32) @ b.T.astype(np.int32)},
        spec,
        "the loops over rows and columns",
    )
