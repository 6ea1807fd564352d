# SPDX-License-Identifier: BSD-3-Clause
"""Says why an Einsum has no pmappings, and what to do about it."""

from __future__ import annotations

import math
from typing import Any

from accelforge.mapper.FFM.outcome import Searched

__all__ = ["why_none"]


def why_none(jobs: list[Searched]) -> str:
    """Return the reasons as text.

    Parameters
    ----------
    jobs : list of Searched
        The searches of the Einsum.
    """
    if not jobs:
        return (
            "no compute is enabled for it, or no memory may hold its tensors. Look at enabled of "
            "the computes, and at keep, may_keep and back of the memories"
        )
    if not all(job.outcome.complete for job in jobs):
        return (
            "the mapper reached a limit before it found one. Raise time_limit and memory_limit of "
            "spec.mapper"
        )
    lines = [line for job in jobs for line in _too_small(job)]
    if not lines and not any(job.outcome.templates for job in jobs):
        return (
            "there is no template that the constraints allow. Look at tensor_order_options, "
            "reuse and loop_bounds of the components, and at max_loops of spec.mapper"
        )
    lines = list(dict.fromkeys(lines)) or [
        "no pmapping satisfies all constraints and limits and has a finite energy and latency"
    ]
    return ". ".join([*lines, "Give memories more size, or let fewer tensors be kept there"])


def _too_small(job: Searched) -> list[str]:
    """Return the memories that are too small for one value of each tensor that they hold."""
    mapspace = job.space.mapspace
    levels = {level["component"]: level for level in mapspace["problem"]["einsums"][0]["levels"]}
    least: dict[str, tuple[float, list[str]]] = {}
    for placement in mapspace["placements"]:
        for memory, tensors in _held(placement).items():
            level = levels[memory]
            needed = sum(level["tensors"][tensor]["bits_per_value"] for tensor in tensors)
            least[memory] = min(least.get(memory, (math.inf, [])), (needed, tensors))
    in_all = set.intersection(*(set(_held(p)) for p in mapspace["placements"]))
    return [
        f"{memory} is too small: its size is {levels[memory]['size']:g} bits, and one value each "
        f"of {', '.join(tensors)} takes {needed:g}"
        for memory, (needed, tensors) in least.items()
        if memory in in_all and needed > _size(levels[memory])
    ]


def _held(placement: dict[str, Any]) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for holder in placement["holders"]:
        result.setdefault(holder["component"], []).append(holder["tensor"])
    return result


def _size(level: dict[str, Any]) -> float:
    return float(level.get("size", "inf"))
