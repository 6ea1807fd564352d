# SPDX-License-Identifier: BSD-3-Clause
"""Lower bounds of what the other Einsums cost beside a template of one of them.

Einsums that share a tensor hold it outermost in the same memory. So the least cost of all of them
is that of the best choice of a memory for each shared tensor, which is found Einsum by Einsum.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from accelforge.mapper.FFM.canonical import Backing

__all__ = ["Costs", "add_costs", "least_beside"]

Costs = dict[Backing, NDArray[np.float64]]
"""By where shared tensors are held, the least in each column."""

# Choices of memories that are told apart; beyond that, tensors may be anywhere.
_MOST = 64


def add_costs(costs: Costs, backing: Backing, least: NDArray[np.float64]) -> None:
    """Add what something costs at least.

    Parameters
    ----------
    costs : dict
        Changed.
    backing : tuple
        Where it holds shared tensors.
    least : ndarray
        Its costs.
    """
    known = costs.get(backing)
    costs[backing] = least if known is None else np.minimum(known, least)


def least_beside(einsums: list[Costs], columns: int) -> list[Costs]:
    """Return for each Einsum what all others cost at least, by where it holds shared tensors.

    Parameters
    ----------
    einsums : list of dict
        Costs of each Einsum.
    columns : int
        How many costs there are.
    """
    names = [{tensor for backing in costs for tensor, _ in backing} for costs in einsums]
    count = len(einsums)
    before = _sums(einsums, names, columns)
    after = _sums(einsums[::-1], names[::-1], columns)[::-1]
    return [
        {backing: _least(before[e], after[e], backing, columns) for backing in einsums[e]}
        for e in range(count)
    ]


def _sums(einsums: list[Costs], names: list[set[str]], columns: int) -> list[Costs]:
    """Return for each Einsum what those before it cost, by where they hold what comes later."""
    result: list[Costs] = []
    sums: Costs = {(): np.zeros(columns)}
    for number, costs in enumerate(einsums):
        later = set().union(*names[number:])
        sums = _project(sums, later)
        while len(sums) > _MOST:
            later = {tensor for backing in sums for tensor, _ in backing}
            later.discard(max(later))
            sums = _project(sums, later)
        result.append(sums)
        sums = _project(_joined(sums, costs), set().union(*names[number + 1 :]))
    return result


def _project(costs: Costs, tensors: Iterable[str]) -> Costs:
    """Tell apart where only some tensors are."""
    kept = set(tensors)
    result: Costs = {}
    for backing, least in costs.items():
        add_costs(result, tuple([pair for pair in backing if pair[0] in kept]), least)
    return result


def _joined(first: Costs, second: Costs) -> Costs:
    result: Costs = {}
    for a, least in first.items():
        places = dict(a)
        for b, more in second.items():
            if _agree(places, b):
                add_costs(result, tuple(sorted({**places, **dict(b)}.items())), least + more)
    return result


def _agree(places: dict[str, str], backing: Backing) -> bool:
    return all(places.get(tensor, memory) == memory for tensor, memory in backing)


def _least(before: Costs, after: Costs, backing: Backing, columns: int) -> NDArray[np.float64]:
    """Return the least sum of what agrees with a choice."""
    places = dict(backing)
    least = np.full(columns, np.inf)
    fitting = [(dict(b), costs) for b, costs in after.items() if _agree(places, b)]
    for a, costs in before.items():
        if not _agree(places, a):
            continue
        for others, more in fitting:
            if _agree(others, a):
                least = np.minimum(least, costs + more)
    return least
