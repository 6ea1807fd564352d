# SPDX-License-Identifier: BSD-3-Clause
"""Small specifications for the mapper."""

from __future__ import annotations

import io
import types
from typing import Any, Self

import pytest

import accelforge as af
from accelforge.util import progress


class Terminal(io.StringIO):
    """A screen."""

    def isatty(self) -> bool:
        return True

    @classmethod
    def seen(cls, monkeypatch: pytest.MonkeyPatch) -> Self:
        """Make one that progress bars take for stderr, which pytest puts its own in place of."""
        screen = cls()
        monkeypatch.setattr(progress, "sys", types.SimpleNamespace(stderr=screen))
        return screen


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


def chain_of(count: int, *, buffer: float = 400, size: int = 4) -> af.Spec:
    """Return a chain of matrix products, with a memory that intermediate tensors may stay in."""
    sizes = {"M": size, **{f"N{number}": size for number in range(count + 1)}}
    expensive = {"actions": [{"name": n, "energy": 10, "throughput": 1} for n in ("read", "write")]}
    main = af.arch.Memory(
        name="Main",
        size=float("inf"),
        tensors={"keep": "~Intermediates", "may_keep": "All"},
        **expensive,
        **COSTS,
    )
    given = spec(
        main,
        memory("Buffer", buffer, keep="~Main", may_keep="All"),
        mac(),
        einsums=[
            f"T{n + 1}[m, n{n + 1}] = T{n}[m, n{n}] * W{n}[n{n}, n{n + 1}]" for n in range(count)
        ],
        rank_sizes=sizes,
    )
    given.mapper.metrics = af.Metrics.ENERGY | af.Metrics.LATENCY
    return given


def rows(result: Any) -> list[list[Any]]:
    """Return the totals of mappings, and the mappings themselves as text."""
    return [
        [part.energy(), part.latency(), part.mapping().to_yaml()]
        for part in (result[number] for number in range(len(result)))
    ]


def rows_of_mapped(given: af.Spec) -> list[list[Any]]:
    """Map a specification."""
    return rows(given.map_workload_to_arch(print_progress=False))
