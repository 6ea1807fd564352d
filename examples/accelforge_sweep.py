# SPDX-License-Identifier: BSD-3-Clause
"""Choose the size of a buffer: map two matrix products to machines that differ in it.

    python examples/accelforge_sweep.py
    python examples/accelforge_sweep.py --plot sweep.svg
    python examples/accelforge_sweep.py --size 128 --workers 4

For each size of the buffer, the mapper looks for the mapping with the least energy. The more the
buffer holds, the less often the same values are fetched from main memory. Where main memory is not
touched for the tensor between the products, the mapping is a fused one.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import accelforge as af
from accelforge.util.units import size_text, with_unit

# Of main memory, for each bit; of the buffer, and for each operation, it is 1.
MAIN_ENERGY = 100


class Point(NamedTuple):
    """Cost of the best mapping for one size of the buffer."""

    size: int
    energy: dict[str, float]
    fused: bool


def find_best(spec: af.Spec) -> Point:
    """Map a specification."""
    size = int(spec.arch.find("GlobalBuffer").size)
    result = spec.map_workload_to_arch(print_progress=False)
    best = result[min(range(len(result)), key=result.energy(list_if_one_mapping=True).__getitem__)]
    moved = best.actions(per_tensor=True)
    between = moved.get(("MainMemory", "T1", "read"), 0) + moved.get(
        ("MainMemory", "T1", "write"), 0
    )
    return Point(size, best.energy(per_component=True), between == 0)


def make_specs(matrix: int) -> list[af.Spec]:
    """Make a specification for each size of the buffer, in bits."""
    specs = []
    for exponent in range(4, 17):
        spec = af.Spec.from_yaml(
            af.examples.arches.simple,
            af.examples.workloads.basic.matmuls,
            N_EINSUMS=2,
            M=matrix,
            KN=matrix,
            GlobalBufferSize=2**exponent,
            MainMemoryEnergy=MAIN_ENERGY,
        )
        spec.mapper.metrics = af.Metrics.ENERGY
        specs.append(spec)
    return specs


def plot(points: list[Point], path: str) -> None:
    """Draw the energy of each component over the size of the buffer."""
    from accelforge.plotting.figures import clean, label_axis, pyplot

    figure, axis = pyplot().subplots(figsize=(6, 4))
    sizes = [point.size for point in points]
    names = list(points[0].energy)
    axis.stackplot(
        sizes, [[point.energy[name] for point in points] for name in names], labels=names, alpha=0.8
    )
    fused = next((point.size for point in points if point.fused), None)
    if fused is not None:
        axis.axvline(fused, color="black", linestyle=":", label="fused from here on")
    axis.set_xscale("log", base=2)
    axis.set_xlabel("Size of the buffer (bits)")
    label_axis(axis.yaxis, "Energy (units)", "")
    clean(axis)
    axis.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=32, help="rows and columns of the matrices")
    parser.add_argument("--workers", type=int, default=1, help="processes that map")
    parser.add_argument("--plot", metavar="FILE", help="write a picture (.png, .svg, .pdf)")
    options = parser.parse_args(arguments)

    specs = make_specs(options.size)
    found: list[Point]
    if options.workers > 1:
        with ProcessPoolExecutor(options.workers) as executor:
            found = af.sweep(find_best, specs, executor=executor)
    else:
        found = af.sweep(find_best, specs)

    print(f"  {'buffer':>10}{'energy':>12}{'of it main memory':>20}")
    for point in found:
        total = sum(point.energy.values())
        share = point.energy["MainMemory"] / total
        line = f"  {size_text(point.size):>10}{with_unit(total, ''):>12}{share:>20.0%}"
        print(line + "  fused" * point.fused)
    if options.plot:
        plot(found, options.plot)
        print(f"  the plot is in {options.plot}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
