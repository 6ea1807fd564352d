# SPDX-License-Identifier: BSD-3-Clause
"""Components that leak while a compute is used, and the fan-outs that gate them.

A fan-out that can be gated multiplies the leak of its node, and of all nodes after it, by its usage
divided once more by the fan-out. That is what AccelForge does, and results are comparable only so;
dividing twice looks like a mistake, and a warning says so.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from accelforge.frontend.arch import Arch, Array, Compute, Fork, Hierarchical, Leaf

__all__ = ["Gate", "gates_of"]


class Gate(NamedTuple):
    """Factor of the leak of a component: a number, and usages of fan-outs."""

    share: float = 1.0
    dimensions: tuple[tuple[str, str], ...] = ()

    def times(self, other: Gate) -> Gate:
        """Combine two."""
        return Gate(self.share * other.share, self.dimensions + other.dimensions)


_OPEN = Gate()
_SHUT = Gate(0.0)


def gates_of(arch: Arch, compute: str) -> dict[str, Gate]:
    """Find out what gates each component.

    Parameters
    ----------
    arch : Arch
        Evaluated.
    compute : str
        The compute that is used.
    """
    gates, _ = _walk(arch, compute)
    if any(gate.dimensions for gate in gates.values()):
        warnings.warn(
            "power_gateable: usage is divided by the fan-out twice, as AccelForge does; leakage is "
            "underestimated if only a part of the instances is used",
            UserWarning,
            stacklevel=2,
        )
    return gates


def _walk(branch: Any, compute: str) -> tuple[dict[str, Gate], Gate]:
    result: dict[str, Gate] = {}
    running = _OPEN
    found = False
    has_compute = branch._contains(compute)
    for node in branch.nodes:
        if isinstance(node, Fork):
            inside = node._contains(compute)
            found |= inside
            gates, _ = _walk(node, compute)
            gates = {name: gate.times(running) for name, gate in gates.items()}
            if node.non_forked_power_gateable and inside:
                running = _SHUT
            if node.forked_power_gateable and not inside:
                gates = dict.fromkeys(gates, _SHUT)
            result.update(gates)
        elif isinstance(node, (Hierarchical, Array)):
            found |= node._contains(compute)
            gates, inner = _walk(node, compute)
            result.update({name: gate.times(running) for name, gate in gates.items()})
            running = running.times(inner)
        elif isinstance(node, Leaf):
            for spatial in getattr(node, "spatial", ()):
                if spatial.power_gateable:
                    unused = found or not has_compute
                    gate = _SHUT if unused else Gate(1.0, ((node.name, spatial.name),))
                    running = running.times(gate)
            result[node.name] = running
            found |= isinstance(node, Compute) and node.name == compute

    return result, running
