# SPDX-License-Identifier: BSD-3-Clause
"""Limits of each Einsum, and totals of each component, of an evaluated mapping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accelforge.explanation.facts import EinsumLimit, FanoutUse, LevelTotals, MemoryUse
from accelforge.explanation.trials import Places

__all__ = ["ROOM", "einsum_limits", "fanout_uses", "level_totals", "memory_uses"]

Row = Mapping[tuple[Any, ...], float]

# A size that holds everything; a power of two, so that shares of it times it are exact.
ROOM = float(1 << 90)
# Latencies that differ by less are equal.
_EQUAL = 1e-9


def einsum_limits(row: Row, places: Places) -> tuple[EinsumLimit, ...]:
    """Find out what each Einsum waits for.

    Parameters
    ----------
    row : mapping
        An evaluation.
    places : Places
        Of its problem.
    """
    busy: dict[str, dict[str, float]] = {}
    for column, value in row.items():
        if column[0] == "latency":
            busy.setdefault(column[1], {})[column[2]] = value
    found = []
    for einsum, components in busy.items():
        latency = row["latency_einsum", einsum]
        slowest = tuple(c for c, time in components.items() if time >= latency * (1 - _EQUAL))
        others = {c: time for c, time in components.items() if c not in slowest}
        after = max(others, key=lambda c: others[c], default=None)
        kinds = {"compute" if places.kinds[c] == "compute" else "bandwidth" for c in slowest}
        found.append(
            EinsumLimit(
                einsum=einsum,
                latency=latency,
                components=slowest,
                kind=" and ".join(sorted(kinds)),
                busy=components,
                next=after,
                next_latency=others[after] if after is not None else 0.0,
            )
        )
    return tuple(found)


def memory_uses(row: Row, places: Places, roomy: Row | None) -> tuple[MemoryUse, ...]:
    """Find out how full memories are.

    Parameters
    ----------
    row : mapping
        An evaluation.
    places : Places
        Of its problem.
    roomy : mapping or None
        An evaluation with memories of `ROOM` bits, which has the bits of infinite memories too.
    """
    found = []
    for component, kind in places.kinds.items():
        if kind != "memory":
            continue
        size = min(places.sizes(component).values())
        share = row.get(("reservation", component), 0.0)
        used = share * size if share else 0.0
        if roomy is not None:
            used = roomy.get(("reservation", component), 0.0) * ROOM
        found.append(MemoryUse(component, size, used))
    return tuple(found)


def fanout_uses(row: Row, places: Places) -> tuple[FanoutUse, ...]:
    """Find out how many instances are used.

    Parameters
    ----------
    row : mapping
        An evaluation.
    places : Places
        Of its problem.
    """
    found = []
    for einsum in places.problem["einsums"]:
        for level in einsum["levels"]:
            for dimension in level.get("spatial", ()):
                column = "usage_spatial", einsum["name"], level["component"], dimension["name"]
                fanout, scale = float(dimension["fanout"]), float(dimension.get("usage_scale", 1))
                used = row[column] * fanout / scale if scale else 0.0
                found.append(FanoutUse(*column[1:], fanout=fanout, used=used))
    return tuple(found)


def level_totals(row: Row, places: Places) -> tuple[LevelTotals, ...]:
    """Sum up what each component does.

    Parameters
    ----------
    row : mapping
        An evaluation.
    places : Places
        Of its problem.
    """
    names = dict.fromkeys(
        [*places.kinds, *(c["name"] for c in places.problem.get("components", ()))]
    )
    busy, energy, leaks = (
        dict.fromkeys(names, 0.0),
        dict.fromkeys(names, 0.0),
        dict.fromkeys(names, 0.0),
    )
    actions: dict[str, dict[str, float]] = {name: {} for name in names}
    for column, value in row.items():
        if column[0] == "latency":
            busy[column[2]] += value
        elif column[0] == "energy":
            (leaks if column[-1] == "leak" else energy)[column[2]] += value
        elif column[0] == "action":
            own = actions[column[2]]
            own[column[4]] = own.get(column[4], 0.0) + value
    latency = row["total", "latency"]
    return tuple(
        LevelTotals(
            component=name,
            kind=places.kinds.get(name, "component"),
            busy=busy[name],
            utilisation=busy[name] / latency if latency else 0.0,
            energy=energy[name],
            leak_energy=leaks[name],
            actions=actions[name],
            used=row.get(("reservation", name)),
        )
        for name in names
    )
