# SPDX-License-Identifier: BSD-3-Clause
"""Metrics: objectives of the mapper, and columns of results."""

from __future__ import annotations

import functools
from enum import Flag

from accelforge._problem.totals import TOTALS

__all__ = ["Metrics", "metric_of", "metrics_with"]


class Metrics(Flag):
    """Metrics used to optimise mappings, or reported by the model; they combine with ``|``."""

    LATENCY = 1
    """Time that the workload takes."""

    ENERGY = 2
    """Energy that the workload takes."""

    DYNAMIC_ENERGY = 4
    """The part of the energy that actions take."""

    LEAK_ENERGY = 8
    """The part of the energy that leaks."""

    RESOURCE_USAGE = 16
    """Usage of every resource, each for itself."""

    ACTIONS = 32
    """Numbers of actions. They are reported, but cannot be an objective."""

    DETAILED_MEMORY_USAGE = 64
    """Usage of memory by tensor and Einsum."""

    ENERGY_DELAY_PRODUCT = 128
    """Energy times latency."""

    @classmethod
    def all_metrics(cls) -> Metrics:
        """Return all of them."""
        result = cls.LATENCY
        for metric in cls:
            result |= metric
        return result

    def includes_dynamic_energy(self) -> bool:
        """Say whether dynamic energy is included, alone or as part of the total."""
        return bool(self & metrics_with("dynamic_energy"))

    def includes_leak_energy(self) -> bool:
        """Say whether leak energy is included, alone or as part of the total."""
        return bool(self & metrics_with("leak_energy"))

    def includes_latency(self) -> bool:
        """Say whether latency is included, alone or in the energy-delay product."""
        return bool(self & metrics_with("latency"))

    def includes_energy(self) -> bool:
        """Say whether total energy is included, alone or in the energy-delay product."""
        return bool(self & metrics_with("energy"))


def metric_of(name: str) -> Metrics:
    """Return the metric that is a total.

    Parameters
    ----------
    name : str
        Of the total.
    """
    return Metrics[name.upper()]


@functools.lru_cache(maxsize=100)
def metrics_with(name: str) -> Metrics:
    """Return the metrics that a total is reported for: its own, and those that it is part of.

    Parameters
    ----------
    name : str
        Of the total.
    """
    result = metric_of(name)
    for total in TOTALS:
        if name in total.parts:
            result |= metrics_with(total.name)
    return result
