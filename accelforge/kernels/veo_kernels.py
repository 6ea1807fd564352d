# SPDX-License-Identifier: BSD-3-Clause
"""Kernels for veo, which run in its worker on a core of this host, and are predicted for that."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from accelforge.devices import HostFigures, calibrate, host
from accelforge.devices.calibration import cache_sizes
from accelforge.devices.host_programs import HostProgram
from accelforge.frontend.spec import Spec
from accelforge.prediction import (
    Kernel,
    Measurement,
    compute,
    hold,
    loop,
    make_spec,
    phases,
)

__all__ = ["VeoDgemm", "VeoStencil", "veo_dgemm", "veo_stencil"]

Array = np.ndarray[Any, Any]

SOURCES = Path(__file__).parent / "veo"
RUNS = 300
SOURCE = f"processor time, best of {RUNS}"
# Rows and vectors of a tile in registers, by bytes of a vector: as in dgemm.c.
TILES = {64: (8, 3), 32: (4, 3), 16: (4, 2)}


class VeoDgemm(Kernel):
    """A product of square matrices of doubles; `veo_dgemm` makes one.

    Parameters
    ----------
    size : int
        Rows and columns.
    figures : HostFigures, optional
        What the prediction is made from; by default what `calibrate` measures.
    """

    def __init__(self, size: int, figures: HostFigures | None = None) -> None:
        super().__init__(
            f"dgemm {size}", "loads that compete with arithmetic, and the end of each tile"
        )
        self.size, self.figures = size, figures
        random = np.random.default_rng(6)
        self.a, self.b = random.random((2, size, size))

    def spec(self) -> Spec:
        """Return the specification: matrices in L2, a panel of A in L1, a tile in registers."""
        figures = self.figures or calibrate()
        rows, vectors = TILES[figures.vector_bytes]
        columns = vectors * figures.vector_bytes // 8
        return make_spec(
            host(figures),
            ["P[m, k] = A[m, k]", "Q[k, n] = B[k, n]", "C[m, n] = P[m, k] * Q[k, n]"],
            dict.fromkeys("MNK", self.size),
            64,
            [
                hold("L2", "A", "B", "P", "Q", "C"),
                phases(
                    [loop("m"), loop("k"), compute("FMA", "P")],
                    [loop("k"), loop("n"), compute("FMA", "Q")],
                    [
                        loop("m", rows),
                        hold("L1", "P"),
                        loop("n", columns),
                        hold("Registers", "C"),
                        loop("k"),
                        hold("Registers", "Q", "P"),
                        loop("m"),
                        loop("n"),
                        compute("FMA", "C"),
                    ],
                ),
            ],
        )

    def run(self) -> Measurement:
        """Run it on this host, and check the product."""
        with HostProgram(SOURCES / "dgemm.c") as program:
            a, b, c = (program.put(matrix) for matrix in (self.a, self.b, np.zeros_like(self.a)))
            room = program.put(np.zeros(2 * self.a.size))
            seconds = program.call("time_dgemm", RUNS, a, b, c, room, self.size)
            _check(self, program.get(c, self.a), self.a @ self.b)
        return Measurement(seconds, SOURCE)


class VeoStencil(Kernel):
    """A stencil of three by three weights on doubles; `veo_stencil` makes one.

    Parameters
    ----------
    rows, columns : int
        Of the result.
    figures : HostFigures, optional
        What the prediction is made from; by default what `calibrate` measures.
    """

    def __init__(self, rows: int, columns: int, figures: HostFigures | None = None) -> None:
        super().__init__(
            f"stencil {rows}x{columns}", "stores, and results that are written to L2 behind them"
        )
        self.shape, self.figures = (rows, columns), figures
        random = np.random.default_rng(7)
        self.a, self.w = random.random((rows + 2, columns + 2)), random.random((3, 3))

    def spec(self) -> Spec:
        """Return the specification: arrays in L2, some rows in L1, weights in registers."""
        figures = self.figures or calibrate()
        rows, columns = self.shape
        return make_spec(
            host(figures, unaligned=True),
            ["Z[i, j] = A[Y: i + d, X: j + e] * W[d, e]"],
            {"I": rows, "J": columns, "D": 3, "E": 3},
            64,
            [
                hold("L2", "A", "W", "Z"),
                loop("i", 4),
                hold("L1", "A"),
                hold("Registers", "W"),
                loop("i"),
                loop("j", 4 * figures.vector_bytes // 8),
                hold("Registers", "Z"),
                loop("d"),
                loop("e"),
                loop("j"),
                compute("FMA", "Z"),
            ],
        )

    def run(self) -> Measurement:
        """Run it on this host, and check the result."""
        rows, columns = self.shape
        with HostProgram(SOURCES / "stencil.c") as program:
            result = np.zeros(self.shape)
            a, w, z = (program.put(array) for array in (self.a, self.w, result))
            seconds = program.call("time_stencil", RUNS, a, w, z, rows, columns)
            expected = sum(
                self.w[d, e] * self.a[d : d + rows, e : e + columns]
                for d in range(3)
                for e in range(3)
            )
            _check(self, program.get(z, result), np.asarray(expected))
        return Measurement(seconds, SOURCE)


def _check(kernel: Kernel, found: Array, expected: Array) -> None:
    if not np.allclose(found, expected, rtol=1e-12):
        raise RuntimeError(f"{kernel.name} computed something else than NumPy")


def _second_level(figures: HostFigures | None) -> int:
    """Return the bytes of the second level of the cache."""
    return cache_sizes()[1] if figures is None else figures.l2_size


def veo_dgemm(size: int | None = None, *, figures: HostFigures | None = None) -> VeoDgemm:
    """Return a product of square matrices of doubles.

    Parameters
    ----------
    size : int, optional
        Rows and columns, a multiple of 24; by default the largest up to 240 of which three matrices
        fit into the second level of the cache.
    figures : HostFigures, optional
        What the prediction is made from; by default what `accelforge.devices.calibrate` measures.
    """
    if size is None:
        fitting = math.isqrt(_second_level(figures) // (3 * 8))
        size = min(240, max(24, fitting // 24 * 24))
    if size < 24 or size % 24:
        raise ValueError(f"size must be a multiple of 24, not {size}")
    return VeoDgemm(size, figures)


def veo_stencil(
    rows: int | None = None, columns: int = 512, *, figures: HostFigures | None = None
) -> VeoStencil:
    """Return a stencil of three by three weights on doubles.

    Parameters
    ----------
    rows, columns : int
        Of the result, multiples of 4 and of 32; by default, as many rows, up to 64, as fit into the
        second level of the cache together with what they are made from.
    figures : HostFigures, optional
        What the prediction is made from; by default what `accelforge.devices.calibrate` measures.
    """
    if columns < 32 or columns % 32:
        raise ValueError(f"columns must be a multiple of 32, not {columns}")
    if rows is None:
        # (rows + 2) * (columns + 2) values are read, rows * columns written; there are 9 weights.
        fitting = (_second_level(figures) // 8 - 9 - 2 * (columns + 2)) // (2 * columns + 2)
        rows = min(64, max(4, fitting // 4 * 4))
    if rows < 4 or rows % 4:
        raise ValueError(f"rows must be a multiple of 4, not {rows}")
    return VeoStencil(rows, columns, figures)
