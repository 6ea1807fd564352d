# SPDX-License-Identifier: BSD-3-Clause
"""Searches Einsums in two rounds: the first finds good mappings, the second looks for better ones.

The searches of Einsums know nothing of one another. What each of them costs at least, and what a
good mapping of all of them costs, leaves little to search for in the second round.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from accelforge._search import METRICS
from accelforge.frontend.spec import Spec
from accelforge.mapper.FFM.incumbents import Incumbents
from accelforge.mapper.FFM.joining import join_groups
from accelforge.mapper.FFM.limits import Limits
from accelforge.mapper.FFM.mapspace import EinsumSpace, objectives_of
from accelforge.mapper.FFM.outcome import Outcome, Searched
from accelforge.mapper.FFM.pmappings import MultiEinsumPmappings
from accelforge.mapper.FFM.searches import search_spaces

__all__ = ["search_in_rounds", "two_rounds_pay_off"]

Floats = NDArray[np.float64]

# Choices of tiles at each loop in the first round, and its share of the time.
_WIDTH = 2
_SHARE_OF_TIME = 0.25

# More incumbents cost more than they save.
_MOST_INCUMBENTS = 64


def two_rounds_pay_off(spec: Spec, spaces: list[EinsumSpace]) -> bool:
    """Say whether two rounds find what one does and are likely faster.

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
        As in `search_spaces`.

    Returns
    -------
    list of Outcome
        One for each mapspace. Pmappings that are part of worse mappings only may be missing.
    """
    first = search_spaces(
        spaces,
        threads=threads,
        limits=limits,
        executor=executor,
        label=label,
        width=_WIDTH,
        share_of_time=_SHARE_OF_TIME,
    )
    if all(outcome.complete for outcome in first):
        return first
    second = search_spaces(
        spaces,
        threads=threads,
        limits=limits,
        executor=executor,
        label=label and f"{label}, second round",
        incumbents=_find_incumbents(spec, spaces, first, limits),
    )
    return [
        new if new.complete else replace(new, groups=[*new.groups, *old.groups])
        for new, old in zip(second, first, strict=True)
    ]


def _find_incumbents(
    spec: Spec, spaces: list[EinsumSpace], outcomes: list[Outcome], limits: Limits
) -> list[Incumbents] | None:
    """Join what was found; return what that means to each search, or None if nothing joins."""
    jobs: dict[str, list[Searched]] = {}
    for space, outcome in zip(spaces, outcomes, strict=True):
        jobs.setdefault(space.einsum, []).append(Searched(space, outcome))
    groups = {
        name: [group for job in found for group in job.outcome.groups]
        for name, found in jobs.items()
    }
    if not all(groups.values()):
        return None
    metrics = spec.mapper.metrics
    pmappings = MultiEinsumPmappings(spec, groups, jobs, objectives_of(metrics))
    joined = join_groups(pmappings, metrics, limits)
    if joined is None:
        return None

    names = objectives_of(metrics)
    points = np.zeros((len(joined.objectives), len(METRICS)))
    for column, name in enumerate(names):
        points[:, METRICS.index(name)] = joined.objectives[:, column]
    step = -(-len(points) // _MOST_INCUMBENTS)
    least = {name: _least(found) for name, found in jobs.items()}
    rest = {
        name: np.sum([own for other, own in least.items() if other != name], axis=0)
        for name in least
    }
    return [
        Incumbents(
            np.ascontiguousarray(points[::step]),
            rest[space.einsum],
            tuple(name in joined.compared for name in METRICS),
            joined.product,
            outcome.low,
        )
        for space, outcome in zip(spaces, outcomes, strict=True)
    ]


def _least(jobs: list[Searched]) -> Floats:
    """Return what an Einsum costs at least."""
    lows = [job.outcome.low for job in jobs if job.outcome.low is not None]
    if len(lows) < len(jobs) or not all(map(len, lows)):
        return np.zeros(len(METRICS))
    least: Floats = np.min([low.min(axis=0) for low in lows], axis=0)
    return least
