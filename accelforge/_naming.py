# SPDX-License-Identifier: BSD-3-Clause
"""Turns the engine's indices into names of columns, and its faults into messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from accelforge._problem import Tables, path_text
from accelforge._problem.totals import TOTALS
from accelforge._results import Column, Failure

__all__ = ["STATUSES", "describe", "name_columns"]

# In the order of FORGE_STATUSES; a test compares them.
STATUSES = (
    *("ok", "out_of_memory", "too_large", "bad_index", "bad_structure", "bad_formula"),
    *("held_twice", "not_a_holder", "no_costs", "loops_cross", "toll_outermost"),
    *("no_fused_backing", "not_joinable", "initial_tile", "bad_number", "no_unit_tile"),
    *("fanout_exceeded", "capacity_exceeded", "joint_capacity_exceeded", "loops_differ"),
    "overflow",
)
_ACCESSES = ("read", "write", "compute", "leak")
_KINDS = (
    *("total", "reservation", "area", "leak_power", "usage_spatial", "usage_memory"),
    *("action", "energy", "latency", "latency_einsum"),
)
_RANGES = (
    "must be finite and at least 1",
    "must be finite and more than 0",
    "must be finite and not negative",
    "must not be negative",
    "must be more than 0",
    "must be finite",
)


def name_columns(columns: Sequence[tuple[Any, ...]], tables: Tables) -> list[Column]:
    """Name the engine's columns; they are (kind, einsum, component, level, tensor, detail)."""
    return [_name_column(column, tables) for column in columns]


def _name_column(column: tuple[Any, ...], tables: Tables) -> Column:
    number, einsum, component, level, tensor, detail = column
    kind = _KINDS[number]
    if kind == "total":
        return kind, TOTALS[detail].name
    if kind == "latency_einsum":
        return kind, tables.einsum_names[einsum]
    name = tables.component_names[component]
    if einsum is None:
        return kind, name
    start = (kind, tables.einsum_names[einsum], name)
    if kind == "usage_spatial":
        return *start, tables.dimensions[einsum][level][detail]
    if kind == "latency":
        return start
    access = None if tensor is None else tables.accesses[einsum][tensor]
    if kind == "usage_memory":
        return *start, access
    return *start, access, _ACCESSES[detail]


def describe(fault: Mapping[str, Any], tables: Tables) -> tuple[str, str, Failure]:
    """Describe a fault: a path in the problem, a sentence, and a Failure."""
    status = STATUSES[fault["status"]]
    einsum = _pick(tables.einsum_names, fault.get("einsum"))
    component = _pick(tables.component_names, fault.get("component"))
    variable = dimension = tensor = None
    if einsum is not None:
        index = fault["einsum"]
        variable = _pick(tables.variables[index], fault.get("variable"))
        tensor = _pick(tables.accesses[index], fault.get("tensor"))
        if fault.get("level") is not None:
            component = _pick(tables.levels[index], fault["level"])
            dimension = _pick(tables.dimensions[index][fault["level"]], fault.get("dimension"))

    needed, available = fault.get("needed", 0.0), fault.get("available", 0.0)
    reason = _sentence(status, fault, tables, component, dimension, variable, needed, available)
    about = [
        f"{what} {name}"
        for what, name in (("Einsum", einsum), ("component", component), ("tensor", tensor))
        if name is not None and name not in reason
    ]
    if about:
        reason = f"{reason} ({', '.join(about)})"
    path = ""
    if fault.get("value") is not None:
        path = path_text(tables.paths[fault["value"]])
    elif einsum is not None:
        path = f"einsums[{fault['einsum']}]"
    failure = Failure(status, reason, einsum, component, dimension, variable, needed, available)
    return path, reason, failure


def _pick(names: Sequence[str], index: int | None) -> str | None:
    return None if index is None or index >= len(names) else names[index]


def _sentence(
    status: str,
    fault: Mapping[str, Any],
    tables: Tables,
    component: str | None,
    dimension: str | None,
    variable: str | None,
    needed: float,
    available: float,
) -> str:
    if status == "bad_number" and fault.get("value") is not None:
        number = fault.get("number", tables.values[fault["value"]])
        return f"{_RANGES[tables.numbers[fault['value']]]}, not {number:g}"

    if status == "no_unit_tile":
        return f"the rank variable {variable} has no loop with a tile shape of 1; add one"

    if status == "fanout_exceeded":
        return (
            f"the mapping uses {needed:g} instances of {component} dimension {dimension}, but its "
            f"fanout is only {available:g}; use larger tiles in the spatial loops, or smaller ones "
            "in the loops above them"
        )

    if status == "capacity_exceeded":
        return (
            f"the mapping uses {needed:g} bits of {component}, but its size is only "
            f"{available:g} bits; use smaller tiles in the loops above its storage nodes"
        )

    if status == "joint_capacity_exceeded":
        return (
            f"fused Einsums together use {needed:.4g} times the size of {component}; use smaller "
            "tiles in the loops above its storage nodes, or hold less at a time"
        )

    if status == "overflow":
        access = _pick(_ACCESSES, fault.get("access"))
        cost = "latency" if access is None else f"energy of {access}"
        return (
            f"the {cost} of {component} is {needed:g}, so that the total is not a finite number; "
            "check its costs and the sizes of the ranks"
        )

    return str(fault.get("text", status))
