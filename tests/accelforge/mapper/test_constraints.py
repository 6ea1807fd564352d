# SPDX-License-Identifier: BSD-3-Clause
"""Constraints leave the best of what they allow, which is also looked for without the search."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import pytest

from accelforge import _search
from tests.accelforge.mapper import mapspaces
from tests.accelforge.mapper.brute_force import Nodes, every_row, front
from tests.accelforge.mapper.mapspaces import Mapspace
from tests.accelforge.mapper.test_search import TOTALS, all_matvec_mappings, rows_of, same

RELATIONS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
RELEVANT = {"A": {"m", "k"}, "B": {"k"}, "Z": {"m"}}


def holds(values: list[int], relation: str, value: int) -> bool:
    """Say whether a comparison holds for each number, or for their product."""
    if relation.startswith("product"):
        return RELATIONS[relation.removeprefix("product")](math.prod(values), value)
    return all(RELATIONS[relation](number, value) for number in values)


def loop_of(node: dict[str, Any]) -> str | None:
    return node.get("temporal") or node.get("spatial")


def constrained(space: Mapspace, **more: Any) -> Mapspace:
    return {**space, "placements": [{**place, **more} for place in space["placements"]]}


def is_best(space: Mapspace, templates: list[Nodes], allows: Callable[[Nodes], bool]) -> bool:
    """Say whether a search finds the best of the mappings that are allowed, and not of all."""
    expected = front(every_row(space["problem"], templates, TOTALS, allows))
    assert expected != front(every_row(space["problem"], templates, TOTALS))
    return same(rows_of(space), expected)


# --- fan-outs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "relation", "value"),
    [
        (["m"], "==", 2),
        (["m"], ">", 1),
        (["k"], "<=", 1),
        (["k"], "<", 2),
        (["m", "k"], "==", 1),
        (["m", "k"], "product==", 1),
        (["m", "k"], "product<", 2),
    ],
)
def test_bounds_of_spatial_loops(variables: list[str], relation: str, value: int) -> None:
    whole = {**mapspaces.gemm({"m": 4, "n": 1, "k": 4}, registers=40), "tracked": []}
    extents: dict[str, int] = whole["problem"]["einsums"][0]["variables"]

    def allows(mapping: Nodes) -> bool:
        tiles, bounds = dict(extents), dict.fromkeys(variables, 1)
        for node in mapping:
            name = loop_of(node)
            if name is not None:
                if node.get("dim") == "X" and name in bounds:
                    bounds[name] = tiles[name] // node["tile"]
                tiles[name] = node["tile"]
        return holds(list(bounds.values()), relation, value)

    bound = {"variables": variables, "operator": relation, "value": value}
    spatial = {"component": "PE", "dim": "X", "min_usage": 0.0, "loop_bounds": [bound]}
    space = constrained(whole, spatial=[spatial])
    assert is_best(space, _search.list_templates(whole), allows)


@pytest.mark.parametrize("scale", [1.5, 2, 4])
def test_a_scale_of_usage_leaves_fewer_instances(scale: float) -> None:
    space = {**mapspaces.gemm({"m": 4, "n": 1, "k": 4}, registers=40), "tracked": []}
    templates = _search.list_templates(space)
    (level,) = (x for x in space["problem"]["einsums"][0]["levels"] if x.get("spatial"))
    for dimension in level["spatial"]:
        dimension["usage_scale"] = scale
    fanouts = {dimension["name"]: dimension["fanout"] for dimension in level["spatial"]}

    def allows(mapping: Nodes) -> bool:
        tiles, used = {"m": 4, "n": 1, "k": 4}, dict.fromkeys(fanouts, 1.0)
        for node in mapping:
            name = loop_of(node)
            if name is not None:
                if node.get("dim"):
                    used[node["dim"]] *= tiles[name] / node["tile"]
                tiles[name] = node["tile"]
        return all(count * scale <= fanouts[name] or count == 1 for name, count in used.items())

    assert is_best(space, templates, allows)


# --- memories -------------------------------------------------------------------------------------


def matvec() -> Mapspace:
    return {**mapspaces.matvec(4, 2, 5), "tracked": []}


@pytest.mark.parametrize(
    ("variables", "relation", "value"),
    [
        (["m"], "==", 2),
        (["m"], "==", 1),
        (["m"], "<=", 2),
        (["m"], ">=", 4),
        (["k"], "<", 2),
        (["m", "k"], "==", 2),
        (["m", "k"], "product<=", 1),
        (["m", "k"], "product==", 4),
        (["m", "k"], "product<=", 4),
        (["m", "k"], "product>", 4),
    ],
)
def test_tiles_of_a_memory(variables: list[str], relation: str, value: int) -> None:
    def allows(mapping: Nodes) -> bool:
        tiles = {"m": 4, "k": 2}
        for node in mapping:
            if node.get("hold") == "GB":
                return holds([tiles[name] for name in variables], relation, value)
            name = loop_of(node)
            if name is not None:
                tiles[name] = node["tile"]
        return True

    bound = {"component": "GB", "variables": variables, "operator": relation, "value": value}
    space = matvec()
    space["placements"] = [
        place
        for place in space["placements"]
        if any(holder["component"] == "GB" for holder in place["holders"])
    ]
    templates = _search.list_templates(space)
    assert is_best(constrained(space, tile_shape=[bound]), templates, allows)


def moves(mapping: Nodes, tensor: str, start: int, end: int) -> bool:
    """Say whether a loop between two nodes moves a tensor again."""
    tiles = {"m": 4, "k": 2}
    for place, node in enumerate(mapping):
        name = loop_of(node)
        if name is None:
            continue
        if start < place < end and name not in RELEVANT[tensor] and node["tile"] != tiles[name]:
            return True
        tiles[name] = node["tile"]
    return False


@pytest.mark.parametrize("tensors", [["A"], ["B"], ["Z"], ["A", "B"], ["B", "Z"]])
@pytest.mark.parametrize("rule", ["no_refetch", "no_resend"])
def test_tensors_that_are_moved_once(rule: str, tensors: list[str]) -> None:
    def allows(mapping: Nodes) -> bool:
        for tensor in tensors:
            places = [i for i, node in enumerate(mapping) if tensor in node.get("tensors", ())]
            if rule == "no_refetch" and len(places) < 2:
                continue
            end = places[1] if len(places) > 1 else len(mapping)
            if moves(mapping, tensor, places[0], end):
                return False
        return True

    memory = "GB" if rule == "no_refetch" else "DRAM"
    space = constrained(matvec(), **{rule: {memory: tensors}})
    expected = front(every_row(space["problem"], all_matvec_mappings(4, 2), TOTALS, allows))
    assert same(rows_of(space), expected)


@pytest.mark.parametrize(
    "options",
    [
        [[["A"], ["B"], ["Z"]]],
        [[["Z"], ["A", "B"]]],
        [[["A", "Z"], ["B"]]],
        [[["A"], ["B", "Z"]], [["B"], ["A", "Z"]]],
    ],
)
def test_orders_of_tensors(options: list[list[list[str]]]) -> None:
    def allows(mapping: Nodes) -> bool:
        held = [node["tensors"][0] for node in mapping if node.get("hold") == "GB"]
        if len(held) < 3:
            return False
        ranks = [
            [next(i for i, group in enumerate(option) if t in group) for t in held]
            for option in options
        ]
        return any(rank == sorted(rank) for rank in ranks)

    space = matvec()
    space["placements"] = [p for p in space["placements"] if len(p["holders"]) == 6]
    space = constrained(space, orders={"GB": options})
    expected = front(every_row(space["problem"], all_matvec_mappings(4, 2), TOTALS, allows))
    assert same(rows_of(space), expected)
