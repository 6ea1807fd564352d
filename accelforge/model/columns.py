# SPDX-License-Identifier: BSD-3-Clause
"""Names and order of the columns of results."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from accelforge._problem.totals import TOTALS
from accelforge.frontend.mapper.metrics import Metrics, metrics_with
from accelforge.frontend.mapping.annotations import annotate

if TYPE_CHECKING:
    from accelforge.frontend.mapping import Mapping as MappingTree
    from accelforge.frontend.spec import Spec
    from accelforge.frontend.workload import Workload

__all__ = ["SEPARATOR", "MappingOf", "columns_of"]

SEPARATOR = "<SEP>"


def columns_of(
    result: Any,
    metrics: Metrics,
    einsum_names: list[str],
    mapping: Any,
    mapping_of_einsum: Mapping[str, Any] | None = None,
) -> dict[str, list[Any]]:
    """Turn a result of the engine into columns with one row.

    Parameters
    ----------
    result : Result
        Of the engine.
    metrics : Metrics
        What is reported.
    einsum_names : list of str
        The Einsums, in order.
    mapping : callable
        Returns the mapping, as a cell of the table.
    mapping_of_einsum : mapping, optional
        Such a cell for each Einsum; without it, all have `mapping`.
    """
    totals: dict[str, Any] = {}
    first: dict[str, list[Any]] = {}
    of_einsum: dict[str, dict[str, list[Any]]] = {name: {} for name in einsum_names}
    done: dict[tuple[Any, ...], float] = {}
    reported = {family for family, (wanted, _) in _FAMILIES.items() if metrics & wanted}
    for column, value in zip(result.columns, result.numbers, strict=True):
        family = column[0]
        if family == "total":
            totals[column[1]] = value
        elif family == "reservation":
            first[f"reservation{SEPARATOR}{column[1]}{SEPARATOR}-1{SEPARATOR}right"] = [value]
        elif family in _FAMILIES:
            if family == "action":
                done[column[1:]] = value
            if family not in reported:
                continue
            # Actions that are not done have no energy, not even one of zero.
            if family == "energy" and done.get(column[1:], 1) == 0:
                continue
            name = _cached_name(column, _FAMILIES[family][1])
            of_einsum[column[1]][name] = [value]

    columns = dict(first)
    for name, wanted in _FIRST.items():
        if metrics & wanted:
            columns[f"Total{SEPARATOR}{name}"] = [totals[name]]

    for einsum, found in of_einsum.items():
        columns.update(found)
        columns[f"{einsum}{SEPARATOR}mapping"] = [(mapping_of_einsum or {}).get(einsum, mapping)]

    for name, wanted in _LAST.items():
        if metrics & wanted:
            columns[f"Total{SEPARATOR}{name}"] = [totals[name]]
    columns[f"Total{SEPARATOR}mapping"] = [mapping]
    return columns


def _name(column: tuple[Any, ...], prefix: str) -> str:
    parts = (column[2], "leak") if column[-1] == "leak" else column[2:]
    return SEPARATOR.join((column[1], prefix, *(str(part) for part in parts)))


_cached_name = functools.lru_cache(maxsize=1 << 14)(_name)

# Metrics that each family of the engine's columns is reported for, and the family's name.
_FAMILIES = {
    "usage_spatial": (Metrics.ACTIONS, f"usage{SEPARATOR}spatial"),
    "usage_memory": (Metrics.DETAILED_MEMORY_USAGE, f"usage{SEPARATOR}memory"),
    "action": (Metrics.ACTIONS, "action"),
    "energy": (Metrics.ACTIONS, "energy"),
    "latency": (Metrics.ACTIONS, "latency"),
}

# Totals before and after the columns of the Einsums, with the metrics that they are reported for.
_ORDERED = sorted(TOTALS, key=lambda total: total.column)
_FIRST = {total.name: metrics_with(total.name) for total in _ORDERED if total.column >= 0}
_LAST = {total.name: metrics_with(total.name) for total in _ORDERED if total.column < 0}


class MappingOf:
    """Returns the mapping of a specification when it is called.

    Parameters
    ----------
    spec : Spec
        The specification.
    workload : Workload
        Its workload, evaluated.
    problem : dict
        What was evaluated.
    """

    def __init__(self, spec: Spec, workload: Workload, problem: dict[str, Any]) -> None:
        self._spec = spec
        self._workload = workload
        self.problem = problem

    def __call__(self) -> MappingTree:
        """Return the mapping, with numbers of iterations and reservations."""
        return annotate(self._spec.mapping, self._workload)

    def render(self, **kwargs: Any) -> str:
        """Draw the mapping."""
        return self().render(**kwargs)

    def _repr_svg_(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        return f"<mapping {self._spec.mapping.compact_str()[:60]}>"
