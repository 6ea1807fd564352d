# SPDX-License-Identifier: BSD-3-Clause
"""Predict what a chain of matrix products costs on an accelerator, fused and not fused.

    python examples/accelforge_matmuls.py
    python examples/accelforge_matmuls.py --products 4 --buffer 65536

The specifications come with the package. Unfused, every product reads its input from main memory
and writes its output there; fused, they take turns on one row at a time, so that what lies between
two products never leaves the buffer.
"""

from __future__ import annotations

import argparse
import sys

import accelforge as af

MAPPINGS = ("unfused_matmuls_to_simple", "fused_matmuls_to_simple")


def evaluate(mapping: str, products: int, buffer: float) -> af.mapper.FFM.Mappings:
    """Evaluate one of the mappings."""
    spec = af.Spec.from_yaml(
        af.examples.arches.simple,
        af.examples.workloads.basic.matmuls,
        getattr(af.examples.mappings, mapping),
        N_EINSUMS=products,
        GlobalBufferSize=buffer,
        MainMemoryEnergy=100,
    )
    return spec.evaluate_mapping()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--products", type=int, default=2, help="matrix products in the chain")
    parser.add_argument("--buffer", type=float, default=2**20, help="size of the buffer in bits")
    options = parser.parse_args(arguments)

    print(f"  {'mapping':<28}{'energy':>14}{'of it main memory':>20}{'buffer used':>14}")
    for mapping in MAPPINGS:
        try:
            result = evaluate(mapping, options.products, options.buffer)
        except af.InvalidMappingError as error:
            print(f"  {mapping:<28}does not fit: {error}")
            continue
        energy = result.energy(per_component=True)
        used = result.resource_usage()["GlobalBuffer"]
        print(
            f"  {mapping:<28}{result.energy():>14.4g}"
            f"{energy['MainMemory'] / result.energy():>20.0%}{used:>14.0%}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
