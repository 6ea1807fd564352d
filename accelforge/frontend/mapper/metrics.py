# SPDX-License-Identifier: BSD-3-Clause
"""Metrics: objectives of the mapper, and columns of results."""

from __future__ import annotations

from enum import Flag

__all__ = ["Metrics"]


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
        return bool(self & (Metrics.DYNAMIC_ENERGY | _TOTAL_ENERGY))

    def includes_leak_energy(self) -> bool:
        """Say whether leak energy is included, alone or as part of the total."""
        return bool(self & (Metrics.LEAK_ENERGY | _TOTAL_ENERGY))

    def includes_latency(self) -> bool:
        """Say whether latency is included, alone or in the energy-delay product."""
        return bool(self & (Metrics.LATENCY | Metrics.ENERGY_DELAY_PRODUCT))

    def includes_energy(self) -> bool:
        """Say whether total energy is included, alone or in the energy-delay product."""
        return bool(self & _TOTAL_ENERGY)


_TOTAL_ENERGY = Metrics.ENERGY | Metrics.ENERGY_DELAY_PRODUCT
