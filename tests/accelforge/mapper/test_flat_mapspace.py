# SPDX-License-Identifier: BSD-3-Clause
"""Mapspaces as tables: quick ways for common data give the same as the others."""

from __future__ import annotations

import copy
from types import MappingProxyType
from typing import Any

import pytest

from accelforge._problem import ProblemError
from accelforge._problem.mapspace import flatten_mapspace
from tests.accelforge.mapper.mapspaces import matvec

HOLDER: dict[str, Any] = {
    "component": "DRAM",
    "tensor": "A",
    "backing": True,
    "persistent": False,
    "must_keep": True,
}
SPATIAL = [
    {
        "component": "PE",
        "dim": "X",
        "min_usage": 0.5,
        "loop_bounds": [{"variables": ["k"], "operator": "<=", "value": 2}],
    }
]


def tables(mapspace: dict[str, Any]) -> dict[str, Any]:
    flat = flatten_mapspace(mapspace)
    return {**flat.records, "sets": flat.sets, "numbers": flat.numbers}


def error_of(holder: Any) -> str:
    mapspace = matvec()
    mapspace["placements"][0]["holders"][0] = holder
    with pytest.raises(ProblemError) as raised:
        flatten_mapspace(mapspace)
    return str(raised.value)


def test_holders_are_the_same_in_any_mapping() -> None:
    plain, other = matvec(), matvec()
    for placement in other["placements"]:
        placement["holders"] = [MappingProxyType(holder) for holder in placement["holders"]]
    assert tables(plain) == tables(other)


@pytest.mark.parametrize(
    "change",
    [
        {"component": "Nowhere"},
        {"tensor": "Nothing"},
        {"tensor": ["A"]},
        {"component": None},
        {"backing": 1},
        {"persistent": "no"},
        {"must_keep": None},
        {"other": True},
    ],
    ids=str,
)
def test_wrong_holders_are_refused_in_the_same_words(change: dict[str, Any]) -> None:
    wrong = {**HOLDER, **change}
    assert error_of(wrong) == error_of(MappingProxyType(wrong))


@pytest.mark.parametrize("missing", ["component", "tensor"])
def test_holders_of_nothing_are_refused(missing: str) -> None:
    wrong = {name: value for name, value in HOLDER.items() if name != missing}
    assert f"holders[0].{missing}" in error_of(wrong)


@pytest.mark.parametrize("missing", ["backing", "persistent", "must_keep"])
def test_flags_are_false_without_a_value(missing: str) -> None:
    left_out, false = matvec(), matvec()
    for mapspace in (left_out, false):
        mapspace["placements"][0]["holders"][0] = {**HOLDER, missing: False}
    del left_out["placements"][0]["holders"][0][missing]
    assert tables(left_out) == tables(false)


def test_conditions_that_placements_share_are_read_once() -> None:
    mapspace = matvec()
    levels = mapspace["problem"]["einsums"][0]["levels"]
    levels[1]["spatial"] = [{"name": "X", "fanout": 4}]
    shared = [{**SPATIAL[0], "component": "GB"}]
    single = copy.deepcopy(mapspace)
    for placement in mapspace["placements"]:
        placement["spatial"] = shared
    for placement in single["placements"]:
        placement["spatial"] = copy.deepcopy(shared)

    once, often = flatten_mapspace(mapspace), flatten_mapspace(single)
    count = len(mapspace["placements"])
    assert len(often.records["comparisons"]) == count * len(once.records["comparisons"])
    assert conditions(once) == conditions(often)


def conditions(flat: Any) -> list[tuple[Any, ...]]:
    """Return what each placement says about spatial loops, whatever the place in the tables."""
    found = []
    placements = flat.records["placements"].tolist()
    for start in range(0, len(placements), 12):
        bounds, bound_count, usages, usage_count = placements[start + 8 : start + 12]
        comparisons = flat.records["comparisons"][6 * bounds : 6 * (bounds + bound_count)].tolist()
        usage = flat.records["usages"][3 * usages : 3 * (usages + usage_count)].tolist()
        found.append(
            (
                comparisons[:4],
                flat.numbers[comparisons[4]],
                flat.sets[comparisons[5]],
                usage[:2],
                flat.numbers[usage[2]],
            )
        )
    return found
