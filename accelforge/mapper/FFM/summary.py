# SPDX-License-Identifier: BSD-3-Clause
"""Results in a few lines, as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from accelforge._problem.totals import OBJECTIVES, TOTALS
from accelforge.model.columns import SEPARATOR
from accelforge.util.tables import html_table
from accelforge.util.units import with_unit

if TYPE_CHECKING:
    from accelforge.mapper.FFM.mappings import Mappings

__all__ = ["summarize", "to_html"]

_PARTS = {part for total in TOTALS if total.is_objective for part in total.parts}
_UNITS = {total.name: total.unit for total in TOTALS if total.name not in _PARTS}
_MOST_ROWS = 20


def summarize(mappings: Mappings) -> str:
    """Say in one line what there is.

    Parameters
    ----------
    mappings : Mappings
        Any number of rows.
    """
    count = len(mappings)
    parts = [f"{count} mapping{'' if count == 1 else 's'} of {_names(mappings.einsum_names)}"]
    table = mappings._table()
    for name, unit in _UNITS.items():
        if name not in OBJECTIVES:
            continue
        rows = table.get(f"Total{SEPARATOR}{name}")
        if not rows:
            continue
        low, high = with_unit(min(rows), unit), with_unit(max(rows), unit)
        parts.append(f"{name} {low}" + (f" to {high}" if high != low else ""))
    models = _models(mappings)
    if models:
        parts.append(f"costs from {', '.join(dict.fromkeys(models.values()))}")
    return f"<Mappings: {', '.join(parts)}; {len(table)} columns>"


def _models(mappings: Mappings) -> dict[str, str]:
    """Return the model of each component that has costs from one."""
    found = {}
    for name, sources in mappings.cost_sources().items():
        models = dict.fromkeys(s for s in sources.values() if s not in ("given", "Dummy"))
        if models:
            found[name] = " and ".join(models)
    return found


def _names(names: Sequence[str]) -> str:
    if len(names) <= 3:
        return " and ".join(names)
    return f"{names[0]} to {names[-1]} ({len(names)} Einsums)"


def to_html(mappings: Mappings) -> str:
    """Make a compact table: of components for one mapping, of mappings for several.

    Parameters
    ----------
    mappings : Mappings
        Any number of rows.
    """
    if len(mappings) != 1:
        return _several(mappings)
    tables = [html_table(("", "total"), _totals(mappings)), _components(mappings)]
    body = "".join(f'<div style="margin-right: 2em">{table}</div>' for table in tables if table)
    return f'<div style="display: flex; align-items: flex-start; flex-wrap: wrap">{body}</div>'


def _totals(mappings: Mappings) -> list[Sequence[str]]:
    table = mappings._table()
    rows: list[Sequence[str]] = [
        (name.replace("_", " "), with_unit(table[f"Total{SEPARATOR}{name}"][0], unit))
        for name, unit in _UNITS.items()
        if f"Total{SEPARATOR}{name}" in table
    ]
    computes = mappings.n_computes()
    return [*rows, ("computations", f"{computes:,}")]


def _components(mappings: Mappings) -> str:
    energy = mappings.energy(per_component=True)
    latency = mappings.latency(per_component=True)
    usage = _usage(mappings)
    models = _models(mappings)
    total = sum(energy.values())
    rows = [
        (
            name,
            with_unit(energy.get(name, 0.0), "J"),
            f"{energy.get(name, 0.0) / total:.1%}" if total else "",
            with_unit(latency.get(name, 0.0), "s"),
            f"{usage[name]:.1%}" if name in usage else "",
            *([models.get(name, "")] if models else []),
        )
        for name in dict.fromkeys([*usage, *energy, *latency])
    ]
    heads = ("component", "energy", "of total", "busy for", "memory used")
    return html_table((*heads, *(["costs from"] if models else [])), rows)


def _usage(mappings: Mappings) -> dict[str, Any]:
    try:
        usage: dict[str, Any] = mappings.resource_usage()
    except ValueError:
        return {}
    return usage


def _several(mappings: Mappings) -> str:
    table = mappings._table()
    columns = [
        (name.replace("_", " "), unit, table[f"Total{SEPARATOR}{name}"])
        for name, unit in _UNITS.items()
        if f"Total{SEPARATOR}{name}" in table
    ]
    memories = [(name, rows) for name, rows in _usage(mappings).items() if any(rows)]
    rows = [
        (
            str(index),
            *(with_unit(values[index], unit) for _, unit, values in columns),
            *(f"{values[index]:.1%}" for _, values in memories),
        )
        for index in range(min(len(mappings), _MOST_ROWS))
    ]
    heads = ("", *(name for name, _, _ in columns), *(f"{name} used" for name, _ in memories))
    more = len(mappings) - len(rows)
    note = f"<p>and {more} more mappings; all numbers are in .data</p>" if more else ""
    return html_table(heads, rows) + note
