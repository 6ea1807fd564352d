# SPDX-License-Identifier: BSD-3-Clause
"""Choose the tile of a matrix-vector product on a DPU by its prediction, and measure all tiles.

    python examples/accelforge_gemv.py
    python examples/accelforge_gemv.py --rows 256 --columns 2048

A tasklet fetches a block of the vector and the same block of some rows. Small blocks take more
transfers, and large ones do not fit into WRAM. The model says what each choice takes; then the C
program runs with each of them on the simulated DPU. The compiler unrolls loops over 8 values, which
the model does not know.
"""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple

import accelforge as af
from accelforge.kernels import DpuKernel, dpu_gemv

BLOCKS = (2, 4, 8, 32, 128, 256, 512)
ROWS = (1, 4)


class Choice(NamedTuple):
    """A tile that fits, and what the model says of it."""

    block: int
    rows: int
    seconds: float
    transfers: float
    kernel: DpuKernel


def predict(rows: int, columns: int) -> tuple[list[Choice], list[str]]:
    """Predict all tiles; return those that fit, and why others do not."""
    choices, refused = [], []
    for block in BLOCKS:
        for tile in ROWS:
            kernel = dpu_gemv(rows, columns, block=block, tile=tile)
            try:
                result = kernel.spec().evaluate_mapping()
            except af.InvalidMappingError as error:
                refused.append(f"blocks of {block}, {tile} row(s): {str(error).partition(';')[0]}")
                continue
            transfers = result.latency(per_component=True)["MRAM"]
            choices.append(Choice(block, tile, result.latency(), transfers, kernel))
    return choices, refused


def choose(choices: list[Choice]) -> Choice:
    """Take the fastest tile; of those that are as fast, the one with the shortest transfers."""
    fastest = min(choice.seconds for choice in choices)
    return min(
        (choice for choice in choices if choice.seconds < 1.01 * fastest),
        key=lambda choice: choice.transfers,
    )


def search(chosen: Choice) -> float:
    """Ask the mapper for the fastest of all mappings, with transfers of the chosen size."""
    spec = chosen.kernel.spec()
    spec.mapper.metrics = af.Metrics.LATENCY
    seconds: float = spec.map_workload_to_arch(print_progress=False).latency()
    return seconds


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=64, help="of the matrix, a multiple of 64")
    parser.add_argument("--columns", type=int, default=1024, help="a multiple of 512")
    options = parser.parse_args(arguments)

    choices, refused = predict(options.rows, options.columns)
    chosen = choose(choices)
    measured = {}
    print(f"  {'block':>5}{'rows':>6}{'predicted':>12}{'measured':>12}{'error':>9}")
    for choice in choices:
        seconds = choice.kernel.run().seconds
        measured[choice.block, choice.rows] = seconds
        print(
            f"  {choice.block:>5}{choice.rows:>6}{choice.seconds * 1e3:>9.3f} ms"
            f"{seconds * 1e3:>9.3f} ms{choice.seconds / seconds - 1:>+9.1%}"
            f"{'  chosen' if choice is chosen else ''}"
        )
    for reason in refused:
        print(f"  not possible: {reason}")

    print(f"  no mapping is predicted to take less than {search(chosen) * 1e3:.3f} ms")
    best = min(measured, key=lambda tile: measured[tile])
    lost = measured[chosen.block, chosen.rows] / measured[best] - 1
    print(
        f"  the fastest: {best[0]} values, {best[1]} row(s); the chosen one takes {lost:.1%} longer"
    )
    return 0 if lost < 0.2 else 1


if __name__ == "__main__":
    sys.exit(main())
