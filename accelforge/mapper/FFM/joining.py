# SPDX-License-Identifier: BSD-3-Clause
"""Joins pmappings of all Einsums to mappings, and evaluates these."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accelforge._problem.totals import TOTALS, UNITS
from accelforge.frontend.mapper.metrics import Metrics, metric_of
from accelforge.mapper.FFM.group import PmappingGroup
from accelforge.mapper.FFM.limits import Limits
from accelforge.mapper.FFM.mappings import Mappings
from accelforge.mapper.FFM.mapspace import objectives_of
from accelforge.mapper.FFM.pmappings import MultiEinsumPmappings
from accelforge.mapper.FFM.results import ResultTable
from accelforge.util.exceptions import MapperLimitWarning
from accelforge.util.interruptible import interruptible
from accelforge.util.parallel import get_n_parallel_jobs
from accelforge.util.progress import Progress, say
from accelforge.util.units import with_unit

__all__ = ["Joined", "join", "join_groups"]

_USAGE = "resource_usage"
_PRODUCT = "energy_delay_product"
_PACKAGE = "accelforge."
# By how much sums of the same costs in another order differ, at most.
_ROUNDING = 1e-12


def join(
    pmappings: MultiEinsumPmappings,
    metrics: Metrics,
    *,
    require_all_einsums: bool,
    row_filter: Callable[[Any], Any] | None,
    print_progress: bool,
    info_metrics: Metrics,
    limits: Limits,
) -> Mappings:
    """Join pmappings.

    Parameters
    ----------
    pmappings : MultiEinsumPmappings
        Those of each Einsum.
    metrics : Metrics
        The objectives.
    require_all_einsums : bool
        Whether each Einsum of the workload must have pmappings.
    row_filter : callable, optional
        Takes a table of mappings as a DataFrame, and says for each row whether to keep it.
    print_progress : bool
        Whether to print progress.
    info_metrics : Metrics
        What is reported of the mappings.
    limits : Limits
        When to stop.
    """
    names = _einsums(pmappings, require_all_einsums)
    groups = [pmappings.einsum2pmappings[name] for name in names]
    columns = [name for name in pmappings.objectives if name != _USAGE]
    front = _front(metrics, pmappings.objectives)
    table = ResultTable(pmappings, groups, names, info_metrics)
    if print_progress:
        say(f"Joining the pmappings of {len(names)} Einsum{'s' if len(names) > 1 else ''}")
    table.groups, joined = _run(pmappings, groups, table.problem(), front, limits)

    parts: list[Mappings] = []
    count = len(joined.objectives)
    label = "Evaluating mappings" if print_progress and count > 1 else None
    with Progress(count, label) as progress:
        for objectives, group, row in zip(
            joined.objectives.tolist(), joined.groups.tolist(), joined.rows.tolist(), strict=True
        ):
            claimed = dict(zip(columns, objectives, strict=True))
            parts.append(table.row(list(zip(group, row, strict=True)), claimed))
            progress.update()
    result = Mappings.concat(parts)
    result.total_mappings = _product(pmappings.n_evaluated_pmappings(per_einsum=True), names)
    result.valid_mappings = _product(pmappings.n_valid_pmappings(per_einsum=True), names)
    result.bounds = _bounds(pmappings, names, columns, joined, metrics)
    if result.bounds is not None:
        _warn(limits, result)
    if row_filter is not None:
        result = result._update(data=_filtered(result.data, row_filter))
    if print_progress:
        say(f"Found {len(result)} Pareto-optimal mapping{'s' if len(result) != 1 else ''}")
    return result


@dataclass(frozen=True)
class Joined:
    """Costs of the mappings that pmappings join to.

    Attributes
    ----------
    objectives : ndarray
        ``(mappings, columns)``, the columns being those of the pmappings.
    compared : list of str
        The columns that mappings are compared by.
    product : bool
        Whether they are compared by energy times latency, too.
    """

    objectives: NDArray[np.float64]
    compared: list[str]
    product: bool


def join_groups(pmappings: MultiEinsumPmappings, metrics: Metrics, limits: Limits) -> Joined | None:
    """Join pmappings of all Einsums, without making mappings of them; None if nothing fits.

    Parameters
    ----------
    pmappings : MultiEinsumPmappings
        Those of each Einsum.
    metrics : Metrics
        The objectives.
    limits : Limits
        When to stop.
    """
    names = list(pmappings.einsum2pmappings)
    groups = list(pmappings.einsum2pmappings.values())
    front = _front(metrics, pmappings.objectives)
    table = ResultTable(pmappings, groups, names, metrics)
    try:
        joined = _call(pmappings, groups, table.problem(), front, limits, limits.deadline)
    except (TimeoutError, ValueError):
        return None
    compared = [name for name in front if name != _PRODUCT]
    return Joined(joined.objectives, compared, _PRODUCT in front)


def _call(
    pmappings: MultiEinsumPmappings,
    groups: list[list[PmappingGroup]],
    problem: dict[str, Any],
    front: list[str],
    limits: Limits,
    deadline: float,
) -> Any:
    from accelforge import _join

    mapper = pmappings.spec.mapper

    def join_until(end: float, *, here: bool = False) -> Any:
        return _join.join(
            groups,
            problem,
            [name for name in pmappings.objectives if name != _USAGE],
            front,
            threads=get_n_parallel_jobs(),
            stop=limits.stop,
            deadline=end,
            memory_limit=limits.memory,
            objective_tolerance=mapper.objective_tolerance,
            resource_usage_tolerance=mapper.resource_usage_tolerance,
            here=here,
        )

    # Most joins take less time than starting a thread for them.
    soon = time.monotonic() + _AT_ONCE
    if soon < deadline:
        try:
            joined = join_until(soon, here=True)
        except TimeoutError:
            joined = None
        if joined is not None and joined.complete:
            return joined
    return interruptible(limits.stop, lambda: join_until(deadline))


# Seconds that Ctrl-C may have to wait.
_AT_ONCE = 0.01


def _run(
    pmappings: MultiEinsumPmappings,
    groups: list[list[PmappingGroup]],
    problem: dict[str, Any],
    front: list[str],
    limits: Limits,
) -> tuple[list[list[PmappingGroup]], Any]:
    """Join groups; return those that were joined, and the result.

    If nothing is joined when the time is over, only pmappings without fused loops are.
    """
    try:
        return groups, _call(pmappings, groups, problem, front, limits, limits.deadline)
    except TimeoutError:
        pass
    except ValueError:
        if _is_complete(pmappings):
            raise
    few = [[_best_rows(group) for group in found if not group.loops] for found in groups]
    try:
        end = time.monotonic() + max(1.0, limits.seconds * _GRACE)
        joined = _call(pmappings, few, problem, front, limits, end)
    except (TimeoutError, ValueError) as error:
        raise ValueError(
            f"the mapper reached its {limits} before it found a mapping. Raise the limits of "
            f"spec.mapper"
        ) from error
    unknown = np.zeros(joined.objectives.shape[1])
    return few, replace(joined, complete=False, bound=unknown, edp_bound=0.0)


# More time than the limit, as a share of it, for a first mapping.
_GRACE = 0.1


def _best_rows(group: PmappingGroup) -> PmappingGroup:
    """Return the rows that are best in one objective, and the one that takes the least memory."""
    usage = sum(
        (
            *group.reservations.values(),
            *group.persistent.values(),
            *(s[2] for s in group.shared.values()),
        ),
        np.zeros(len(group)),
    )
    rows = sorted({*np.argmin(group.objectives, axis=0).tolist(), int(np.argmin(usage))})
    return replace(
        group,
        objectives=group.objectives[rows],
        tiles=group.tiles[rows],
        reservations={at: shares[rows] for at, shares in group.reservations.items()},
        persistent={at: shares[rows] for at, shares in group.persistent.items()},
        shared={t: (m, d, shares[rows]) for t, (m, d, shares) in group.shared.items()},
        template=group.template[rows],
        full_tiles=[group.full_tiles[row] for row in rows],
    )


def _is_complete(pmappings: MultiEinsumPmappings) -> bool:
    """Say whether the searches of all Einsums looked at everything."""
    return all(job.outcome.complete for jobs in pmappings.einsum2jobs.values() for job in jobs)


def _einsums(pmappings: MultiEinsumPmappings, require_all: bool) -> list[str]:
    """Return the Einsums to map, and check that they have pmappings."""
    every = pmappings.spec.workload.einsum_names
    names = [name for name in every if require_all or name in pmappings.einsum2pmappings]
    for name in names:
        if not any(len(group) for group in pmappings.einsum2pmappings.get(name, ())):
            pmappings._raise_without_pmappings(name)
    if not names:
        raise ValueError("there are no pmappings to join")
    return names


def _front(metrics: Metrics, known: list[str]) -> list[str]:
    """Return what no mapping of the result beats another one in."""
    missing = [name for name in objectives_of(metrics) if name not in known]
    if missing:
        raise ValueError(
            f"the pmappings were chosen by {', '.join(known)}, and cannot be joined by "
            f"{', '.join(missing)}. Set spec.mapper.metrics before make_pmappings()"
        )
    front = [total.name for total in TOTALS if metrics & metric_of(total.name)]
    return [*front, *([_USAGE] if metrics & Metrics.RESOURCE_USAGE else [])]


def _product(counts: dict[str, float], names: list[str]) -> int:
    return math.prod(max(round(counts.get(name, 0)), 1) for name in names)


def _filtered(data: Any, row_filter: Callable[[Any], Any]) -> Any:
    return data[row_filter(data)].reset_index(drop=True)


# --- bounds ---------------------------------------------------------------------------------------


def _bounds(
    pmappings: MultiEinsumPmappings,
    names: list[str],
    columns: list[str],
    joined: Any,
    metrics: Metrics,
) -> dict[str, float] | None:
    """Return what no mapping can be better than, or None if the best were found."""
    searched = _is_complete(pmappings)
    if searched and joined.complete:
        return None
    least = [
        sum(_least(pmappings, name, column) for name in names) for column in range(len(columns))
    ]
    if searched:
        least = [max(a, b) for a, b in zip(least, joined.bound, strict=True)]
    if len(columns) == 1 and not metrics & (Metrics.ENERGY_DELAY_PRODUCT | Metrics.RESOURCE_USAGE):
        # The limit came after the best was found, but for the rounding of sums.
        best = float(joined.objectives[:, 0].min())
        if best <= least[0] * (1 + _ROUNDING):
            return None
    bounds = dict(zip(columns, least, strict=True))
    if metrics & Metrics.ENERGY_DELAY_PRODUCT:
        bounds[_PRODUCT] = bounds["energy"] * bounds["latency"]
        if searched and math.isfinite(joined.edp_bound):
            bounds[_PRODUCT] = max(bounds[_PRODUCT], joined.edp_bound)
    return {f"Total<SEP>{name}": value for name, value in bounds.items()}


def _least(pmappings: MultiEinsumPmappings, name: str, column: int) -> float:
    """Return what no pmapping of an Einsum is better than."""
    groups: list[PmappingGroup] = pmappings.einsum2pmappings[name]
    found = [float(group.objectives[:, column].min()) for group in groups if len(group)]
    unknown = [
        job.outcome.bound[column] if job.outcome.bound else 0.0
        for job in pmappings.einsum2jobs[name]
        if not job.outcome.complete
    ]
    return min([*found, *unknown])


def _warn(limits: Limits, result: Mappings) -> None:
    said = []
    for name, bound in (result.bounds or {}).items():
        if name in result.columns:
            best = min(result._table()[name])
            total = name.partition("<SEP>")[2]
            found, least = (with_unit(value, UNITS[total], 6) for value in (best, bound))
            said.append(
                f"the best {total.replace('_', ' ')} found is {found}, and none is below {least}"
            )
    where = "Ctrl-C" if limits.interrupted else f"its {limits}"
    warnings.warn(
        f"the mapper stopped at {where} before it had looked at everything: {'; '.join(said)}",
        MapperLimitWarning,
        stacklevel=_caller(),
    )


def _caller() -> int:
    """Return how many calls above the warning the first one is that is not of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
