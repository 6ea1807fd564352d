# SPDX-License-Identifier: BSD-3-Clause
"""Small specifications for the mapper."""

from __future__ import annotations

from typing import Any

import accelforge as af

COSTS = {"leak_power": 0, "area": 0}


def memory(name: str, size: float = 1000, **tensors: Any) -> af.arch.Memory:
    actions = [{"name": action, "energy": 1, "throughput": 1} for action in ("read", "write")]
    return af.arch.Memory(name=name, size=size, tensors=tensors, actions=actions, **COSTS)


def toll(name: str, **tensors: Any) -> af.arch.Toll:
    actions = [{"name": "read", "energy": 1, "throughput": 1}]
    return af.arch.Toll(name=name, direction="down", tensors=tensors, actions=actions, **COSTS)


def mac(**fields: Any) -> af.arch.Compute:
    actions = [{"name": "compute", "energy": 1, "throughput": 1}]
    return af.arch.Compute(name="MAC", actions=actions, **{**COSTS, **fields})


def spec(*nodes: Any, einsums: Any = ("Z[m] = A[m, k]",), **workload: Any) -> af.Spec:
    given: dict[str, Any] = {
        "rank_sizes": {"M": 4, "K": 2},
        "bits_per_value": {"All": 8},
        **workload,
    }
    return af.Spec(
        arch=af.Arch(nodes=list(nodes)), workload=af.Workload(einsums=list(einsums), **given)
    )
