# SPDX-License-Identifier: BSD-3-Clause
"""Measure how fast accelforge is on this machine: ``python -m accelforge.bench``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial

import accelforge as af
from offchip.measurements import Measurement, Series, compare, main

__all__ = ["SERIES"]


def _python() -> int:
    """Do what an interpreter takes a fixed time for."""
    total = 0
    for number in range(20_000):
        total += number % 7
    return total


def _evaluations() -> Iterator[Measurement]:
    """Evaluate mappings of chains of matrix products."""
    for products in (1, 2, 8):
        spec = af.Spec.from_yaml(
            af.examples.arches.simple,
            af.examples.workloads.basic.matmuls,
            af.examples.mappings.unfused_matmuls_to_simple,
            N_EINSUMS=products,
        )
        yield compare(
            "evaluate_mapping",
            spec.evaluate_mapping,
            _python,
            against="20,000 turns of a loop in Python",
            x=products,
            x_unit="products",
            repeat=5,
        )


def _searches() -> Iterator[Measurement]:
    """Search the best mapping of such chains."""
    for products in (1, 2):
        spec = af.Spec.from_yaml(
            af.examples.arches.simple, af.examples.workloads.basic.matmuls, N_EINSUMS=products
        )
        yield compare(
            "map_workload_to_arch",
            partial(spec.map_workload_to_arch, print_progress=False),
            _python,
            against="20,000 turns of a loop in Python",
            x=products,
            x_unit="products",
            repeat=2,
        )


SERIES: tuple[Series, ...] = (_evaluations, _searches)

if __name__ == "__main__":
    sys.exit(main("accelforge", SERIES))
