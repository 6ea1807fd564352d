# SPDX-License-Identifier: BSD-3-Clause
"""Searches Einsums in rounds: the first find good mappings, the last looks for better ones.

The searches of Einsums know nothing of one another. What each of them costs at least, and what a
good mapping of all of them costs, leaves little to search for in the next round.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from accelforge._search import METRICS
from accelforge.mapper.FFM.costs import Costs, add_costs, least_beside
from accelforge.mapper.FFM.incumbents import Incumbents
from accelforge.mapper.FFM.joining import join_groups
from accelforge.mapper.FFM.limits import Limits
from accelforge.mapper.FFM.mapspace import EinsumSpace, objectives_of
from accelforge.mapper.FFM.outcome import Outcome, Searched
from accelforge.mapper.FFM.pmappings import MultiEinsumPmappings
from accelforge.mapper.FFM.searches import search_spaces
from accelforge.mapper.FFM.standing import standing_text

if TYPE_CHECKING:
    from accelforge.frontend.spec import Spec

__all__ = ["search_in_rounds", "two_rounds_pay_off"]

Floats = NDArray[np.float64]

# Choices of tiles at each loop in all rounds but the last, and the share of the time of each.
_WIDTHS = (2, 16, 64)
_SHARE_OF_TIME = 0.1

# More incumbents cost more than they save.
_MOST_INCUMBENTS = 64

# The last round's share of the time; the rest is for the join.
_SHARE_OF_SEARCH = 0.8

# In place of infinity, which is no number to add to or to multiply.
_MOST_COST = 1e100


def two_rounds_pay_off(spec: Spec, spaces: list[EinsumSpace]) -> bool:
    """Say whether several rounds find what one does, and may be faster.

    Parameters
    ----------
    spec : Spec
        Its mapper has the metrics and tolerances.
    spaces : list of EinsumSpace
        The mapspaces of all Einsums.
    """
    mapper = spec.mapper
    exact = not mapper.objective_tolerance and not mapper.resource_usage_tolerance
    several = len({space.einsum for space in spaces}) > 1
    return several and exact and "resource_usage" not in objectives_of(mapper.metrics)


def search_in_rounds(
    spec: Spec,
    spaces: list[EinsumSpace],
    *,
    threads: int,
    limits: Limits,
    executor: Executor | None = None,
    label: str | None = None,
) -> list[Outcome]:
    """Search mapspaces for what the best mappings of all Einsums together are made of.

    Parameters
    ----------
    spec : Spec
        Not evaluated.
    spaces : list of EinsumSpace
        The mapspaces of all Einsums that are mapped.
    threads, limits, executor, label
        As in `search_spaces`. Ctrl-C stops the limits, and leaves what was found.

    Returns
    -------
    list of Outcome
        One for each mapspace. Pmappings that are part of worse mappings only may be missing.
    """

    def search(
        numbers: list[int], label: str | None, width: int, share: float, known: _Known
    ) -> list[Outcome]:
        return search_spaces(
            [spaces[number] for number in numbers],
            threads=threads,
            limits=limits,
            executor=executor,
            label=label,
            width=width,
            incumbents=known.incumbents and [known.incumbents[number] for number in numbers],
            share_of_time=share,
            work=known.work and [known.work[number] for number in numbers],
            note=known.note,
        )

    def find_better() -> None:
        for width in _WIDTHS[1:]:
            if limits.stopped or all(outcome.complete for outcome in outcomes):
                return
            known = _find_incumbents(spec, spaces, outcomes, limits)
            named = label and f"{label}, {width} choices of tiles"
            wider = search(every, named, width, _SHARE_OF_TIME, known)
            outcomes[:] = [_both(*pair) for pair in zip(wider, outcomes, strict=True)]

        turns = [every] if executor is not None else _turns(spaces, outcomes)
        for turn, numbers in enumerate(turns):
            if limits.stopped:
                return
            known = _find_incumbents(spec, spaces, outcomes, limits)
            named = label and f"{label}, exactly, {turn + 1} of {len(turns)}"
            share = _SHARE_OF_SEARCH / (len(turns) - turn)
            found = search(numbers, named, 0, share, known)
            for number, outcome in zip(numbers, found, strict=True):
                outcomes[number] = _both(outcome, outcomes[number])

    every = list(range(len(spaces)))
    outcomes = search(every, label, _WIDTHS[0], _SHARE_OF_TIME, _Known())
    try:
        find_better()
    except KeyboardInterrupt:
        limits.stop[0] = 1
    return outcomes


@dataclass(frozen=True)
class _Known:
    """Results of the rounds so far, for the next one.

    Attributes
    ----------
    incumbents : list of Incumbents, optional
        One for each mapspace; None if nothing joins.
    work : list of float, optional
        How much each mapspace took to search.
    note : str
        The best mapping, and the bound on what is left.
    """

    incumbents: list[Incumbents] | None = None
    work: list[float] | None = None
    note: str = ""


def _both(new: Outcome, old: Outcome) -> Outcome:
    """Put what two rounds say of a mapspace together."""
    low = old.low
    if low is not None and new.low is not None and low.shape == new.low.shape:
        low = np.maximum(low, new.low)
    else:
        low = new.low
    return replace(
        new,
        groups=new.groups if new.complete else [*new.groups, *old.groups],
        low=low,
        valid=new.valid + old.valid,
        evaluated=new.evaluated + old.evaluated,
    )


def _turns(spaces: list[EinsumSpace], outcomes: list[Outcome]) -> list[list[int]]:
    """List the mapspaces that are not searched exactly yet: what is soon done first.

    What is known of these helps with the others. Those that differ in names only are one search.
    """
    alike: dict[bytes, list[int]] = {}
    for number, space in enumerate(spaces):
        if not outcomes[number].complete:
            alike.setdefault(space.identity, []).append(number)
    return sorted(alike.values(), key=lambda numbers: outcomes[numbers[0]].evaluated)


def _find_incumbents(
    spec: Spec, spaces: list[EinsumSpace], outcomes: list[Outcome], limits: Limits
) -> _Known:
    """Join what was found; return what that means to each search."""
    work = [float(outcome.evaluated + 1) for outcome in outcomes]
    jobs: dict[str, list[Searched]] = {}
    for space, outcome in zip(spaces, outcomes, strict=True):
        jobs.setdefault(space.einsum, []).append(Searched(space, outcome))
    groups = {
        name: [group for job in found for group in job.outcome.groups]
        for name, found in jobs.items()
    }
    if not all(groups.values()):
        return _Known(work=work)
    metrics = spec.mapper.metrics
    pmappings = MultiEinsumPmappings(spec, groups, jobs, objectives_of(metrics))
    joined = join_groups(pmappings, metrics, limits)
    if joined is None:
        return _Known(work=work)

    names = objectives_of(metrics)
    points = np.zeros((len(joined.objectives), len(METRICS)))
    for column, name in enumerate(names):
        points[:, METRICS.index(name)] = joined.objectives[:, column]
    step = -(-len(points) // _MOST_INCUMBENTS)
    costs = {name: _costs(found) for name, found in jobs.items()}
    beside = dict(zip(jobs, least_beside(list(costs.values()), len(METRICS)), strict=True))
    compared = tuple(name in joined.compared for name in METRICS)
    incumbents = [
        _incumbents(
            np.ascontiguousarray(points[::step]),
            compared,
            joined.product,
            outcome,
            beside[space.einsum],
        )
        for space, outcome in zip(spaces, outcomes, strict=True)
    ]
    bound = np.max([_least_sum(costs[name], beside[name]) for name in jobs], axis=0)
    product = None
    if joined.product:
        product = float(
            np.min(points[:, METRICS.index("energy")] * points[:, METRICS.index("latency")])
        )
    note = standing_text(points.min(axis=0).tolist(), bound.tolist(), compared, product)
    return _Known(incumbents, work, note)


def _least_sum(costs: Costs, beside: Costs) -> Floats:
    """Return what an Einsum and all others cost at least together."""
    sums: Floats = np.min([least + beside[backing] for backing, least in costs.items()], axis=0)
    return sums


def _incumbents(
    points: Floats, compared: tuple[bool, ...], product: bool, outcome: Outcome, beside: Costs
) -> Incumbents:
    """Make the incumbents of a search."""
    every = list(beside.values()) or [np.zeros(len(METRICS))]
    rest = np.minimum(np.min(every, axis=0), _MOST_COST)
    rests = None
    if outcome.backing_of is not None and len(outcome.backing_of) and () not in beside:
        kinds = np.array([beside[backing] for backing in outcome.backings])
        rests = np.minimum(kinds, _MOST_COST)[outcome.backing_of]
    return Incumbents(points, rest, compared, product, outcome.low, rests)


def _costs(jobs: list[Searched]) -> Costs:
    """Return what an Einsum costs at least, by where it holds the tensors that it shares."""
    lows = [job.outcome.low for job in jobs]
    if any(low is None or not len(low) for low in lows):
        return {(): np.zeros(len(METRICS))}
    costs: Costs = {}
    for job in jobs:
        outcome = job.outcome
        assert outcome.low is not None
        assert outcome.backing_of is not None
        # Tensors of a copy are one datum, wherever they are.
        copy = job.space.mapspace["problem"]["einsums"][0].get("is_copy_operation", False)
        for number, backing in enumerate(outcome.backings):
            least: Floats = outcome.low[outcome.backing_of == number].min(axis=0)
            add_costs(costs, () if copy else backing, least)
    return costs
