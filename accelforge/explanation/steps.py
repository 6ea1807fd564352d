# SPDX-License-Identifier: BSD-3-Clause
"""The next changes of throughputs, sizes, fan-outs and tiles that have an effect."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from accelforge.explanation.facts import Change, EinsumLimit, Step
from accelforge.explanation.limits import ROOM, einsum_limits
from accelforge.explanation.loops import LoopPlace, loops_of
from accelforge.explanation.trials import Places, Trials

__all__ = ["find_steps"]

Row = Mapping[tuple[Any, ...], float]

# Least effect, as a fraction; less is rounding.
_EFFECT = 1e-9
# An Einsum that waits for one thing only: there is no end to what a faster one gains.
_DOUBLE = 2.0
# Names of Einsums that are written out.
_MOST_NAMES = 3


@dataclass
class _Plan:
    """Changes to try; `numbers` has those of all paths, `changes` what is told."""

    numbers: dict[str, float] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    def add(
        self,
        component: str,
        quantity: str,
        unit: str,
        numbers: Mapping[str, tuple[float, float]],
    ) -> None:
        """Add a number that stands at several paths, before and after."""
        first = next(iter(numbers))
        self.numbers.update({path: after for path, (_, after) in numbers.items()})
        self.changes.append(Change(component, quantity, *numbers[first], unit, first))


def find_steps(
    row: Row, places: Places, trials: Trials, limits: tuple[EinsumLimit, ...]
) -> tuple[Step, ...]:
    """Find the steps; those with the largest effect on energy times latency come first.

    Parameters
    ----------
    row : mapping
        The evaluation.
    places : Places
        Of the problem.
    trials : Trials
        Evaluates it.
    limits : tuple of EinsumLimit
        What Einsums wait for.
    """
    plans = [*_faster(places, limits), *_other_tiles(places, trials)]
    for plan in plans:
        trials.add(plan.numbers)
    steps = []
    for plan, after in zip(plans, trials.run(), strict=True):
        if after is None or not _improves(row, after):
            continue
        steps.append(
            Step(
                kind=_kind(plan, places),
                changes=tuple(plan.changes),
                latency_before=row["total", "latency"],
                latency_after=after["total", "latency"],
                energy_before=row["total", "energy"],
                energy_after=after["total", "energy"],
                then=einsum_limits(after, places),
            )
        )
    return tuple(sorted(steps, key=lambda step: step.latency_after * step.energy_after))


def _improves(before: Row, after: Row) -> bool:
    return any(
        after["total", name] < before["total", name] * (1 - _EFFECT)
        for name in ("latency", "energy")
    )


def _kind(plan: _Plan, places: Places) -> str:
    kinds = set()
    for change in plan.changes:
        if change.quantity.startswith("throughput"):
            kinds.add("compute" if places.kinds[change.component] == "compute" else "bandwidth")
        elif change.component != "mapping":
            kinds.add("size" if change.quantity == "size" else "fan-out")
    for both in ({"compute", "bandwidth"}, {"size", "fan-out"}):
        if kinds == both:
            return "size and fan-out" if "size" in both else "bandwidth and compute"
    return kinds.pop() if kinds else "mapping"


def _faster(places: Places, limits: tuple[EinsumLimit, ...]) -> Iterator[_Plan]:
    """Make what an Einsum waits for as fast as it need be for it to wait for something else."""
    factors: dict[tuple[str, ...], float] = {}
    for limit in limits:
        factor = limit.latency / limit.next_latency if limit.next_latency > 0 else _DOUBLE
        factors[limit.components] = min(factor, factors.get(limit.components, math.inf))
    for components, factor in factors.items():
        plan = _Plan()
        for component in components:
            for action, numbers in places.actions(component, "throughput").items():
                finite = {p: (n, n * factor) for p, n in numbers.items() if math.isfinite(n)}
                if finite:
                    plan.add(component, f"throughput of {action}", "1/s", finite)
        if plan.numbers:
            yield plan


def _other_tiles(places: Places, trials: Trials) -> list[_Plan]:
    """Take the next tile of each loop, with the sizes and fan-outs that it needs."""
    room = {path: ROOM for c, kind in places.kinds.items() for path in places.sizes(c)}
    fanouts = {path: ROOM for _, _, numbers in places.fanouts() for path in numbers}
    moves: list[tuple[LoopPlace, float]] = []
    for loop in loops_of(places.problem):
        # A larger temporal tile is reused more; a smaller spatial one uses more instances.
        tile = loop.smaller() if loop.spatial else loop.larger()
        if tile is not None:
            moves.append((loop, tile))
            trials.add({**room, **fanouts, loop.path: tile})
    plans = []
    for (loop, tile), roomy in zip(moves, trials.run(), strict=True):
        if roomy is not None:
            plans.append(_needed(places, loop, tile, roomy))
    return plans


def _needed(places: Places, loop: LoopPlace, tile: float, roomy: Row) -> _Plan:
    plan = _Plan()
    word = "spatial" if loop.spatial else "temporal"
    of = f" of {_names(loop.einsums)}" if len(places.problem["einsums"]) > 1 else ""
    what = f"tile of the {word} loop over {loop.name}{of}"
    plan.add("mapping", what, "", {loop.path: (loop.tile, tile)})
    for component, kind in places.kinds.items():
        bits = roomy.get(("reservation", component), 0.0) * ROOM
        sizes = places.sizes(component)
        if kind == "memory" and any(size < bits for size in sizes.values()):
            plan.add(
                component, "size", "bit", {p: (size, max(size, bits)) for p, size in sizes.items()}
            )
    for component, dimension, numbers in places.fanouts():
        used = max(
            (
                roomy[column] * ROOM / _usage_scale(places, column)
                for column in roomy
                if column[0] == "usage_spatial" and column[2:] == (component, dimension)
            ),
            default=0.0,
        )
        if any(fanout < used for fanout in numbers.values()):
            more = {p: (fanout, max(fanout, used)) for p, fanout in numbers.items()}
            plan.add(component, f"fan-out {dimension}", "", more)
            # More instances of what is below leak more.
            factor = max(after / before for before, after in more.values())
            leaks = places.leaks(places.below[component])
            for path, power in leaks.items():
                plan.numbers[path] = plan.numbers.get(path, power) * factor
    return plan


def _names(einsums: list[str]) -> str:
    """Name Einsums, of many the first and the last."""
    einsums = list(dict.fromkeys(einsums))
    if len(einsums) > _MOST_NAMES:
        return f"{einsums[0]} to {einsums[-1]}"
    return " and ".join(einsums)


def _usage_scale(places: Places, column: tuple[Any, ...]) -> float:
    for _, level in places.levels[column[2]]:
        for dimension in level.get("spatial", ()):
            if dimension["name"] == column[3]:
                return float(dimension.get("usage_scale", 1)) or 1.0
    return 1.0
