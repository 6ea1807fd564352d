# SPDX-License-Identifier: BSD-3-Clause
"""The search finds the best mappings of small spaces, which are tried one by one beside it."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np
import pytest

from accelforge import _search
from accelforge.mapper.FFM.search import search
from tests.accelforge.mapper import mapspaces
from tests.accelforge.mapper.brute_force import evaluate, every_row, front
from tests.accelforge.mapper.mapspaces import Mapspace

TOTALS = [("total", "energy"), ("total", "latency")]
SPACES: dict[str, Mapspace] = {
    "matvec": mapspaces.matvec(),
    "matvec, little room": mapspaces.matvec(6, 4, 5),
    "gemm": mapspaces.gemm({"m": 2, "n": 2, "k": 2}),
    "convolution": mapspaces.convolution(),
}


def rows_of(space: Mapspace, **how: Any) -> list[tuple[float, ...]]:
    """Search, check each row with the model, and give energy and latency."""
    groups, info = search(space, **how)
    assert info["complete"]
    rows = []
    for group in groups:
        for i in range(len(group)):
            result = evaluate(space["problem"], group.mapping(i))
            values = result.as_dict()
            claimed = dict(zip(space["metrics"], group.objectives[i], strict=True))
            assert claimed["energy"] == values["total", "energy"]
            assert claimed["latency"] == values["total", "latency"]
            rows.append((claimed["energy"], claimed["latency"]))
    return rows


def same(found: list[tuple[float, ...]], expected: list[tuple[float, ...]]) -> bool:
    return len(found) == len(expected) and np.allclose(
        np.array(sorted(found)), np.array(expected), rtol=1e-9
    )


@pytest.mark.parametrize("name", SPACES)
def test_no_tiles_of_the_templates_are_better(name: str) -> None:
    space = {**SPACES[name], "tracked": []}
    every = every_row(space["problem"], _search.list_templates(space), TOTALS)
    assert same(rows_of(space), front(every))


def least_costs(space: Mapspace) -> tuple[np.ndarray, np.ndarray]:
    """Return for each template what it costs at least, by its bound and by trying all tiles."""
    columns = [("total", name) for name in _search.METRICS]
    bounds, least = [], []
    templates = _search.list_templates(space)
    for template, bound in zip(templates, _search.bound_templates(space), strict=True):
        rows = every_row(space["problem"], [template], columns)
        if rows:
            bounds.append(bound)
            least.append(np.min(list(rows), axis=0))
    return np.array(bounds), np.array(least)


def strided(**more: Any) -> Mapspace:
    """O[p] = I[c, 2 * p + r - 1] * F[c, r], and the square of a vector."""
    space = mapspaces.convolution(**more)
    window = {"terms": {"p": 2, "r": 1}, "constant": 1}
    space["problem"]["einsums"][0]["tensors"][0]["projection"] = ["c", window, "c"]
    return space


def diagonal() -> Mapspace:
    """Z[m] = A[m, m] * B[k], of which tiles of one value pass the diagonal alone."""
    space = mapspaces.matvec(8, 1)
    space["problem"]["einsums"][0]["tensors"][0]["projection"] = ["m", "m"]
    return space


@pytest.mark.parametrize("reuse", [None, []])
@pytest.mark.parametrize("skips", [True, False])
@pytest.mark.parametrize("name", [*SPACES, "strided", "diagonal"])
def test_no_tiles_cost_less_than_the_bound_of_their_template(
    name: str, skips: bool, reuse: list[str] | None
) -> None:
    space = copy.deepcopy({**SPACES, "strided": strided(), "diagonal": diagonal()}[name])
    space["problem"]["n_instances"] = 3
    for number, level in enumerate(space["problem"]["einsums"][0]["levels"]):
        level["skip_initial_output_write"] = skips
        level["actions_scale"] = 1 + 0.25 * number
        for dimension in level.get("spatial", ()) if reuse is not None else ():
            dimension["may_reuse"] = reuse
        for tensor in level.get("tensors", {}).values():
            tensor.update(read_values_per_action=2, write_values_per_action=0.5)
    bounds, least = least_costs(space)
    assert len(bounds) > 4
    assert (bounds <= least).all()


def test_the_bound_of_a_template_is_reached() -> None:
    """One value passes each memory once: nothing is between the bound and the only mapping."""
    space = mapspaces.matvec(1, 1)
    bounds, least = least_costs(space)
    assert bounds == pytest.approx(least, rel=1e-8)


def all_matvec_mappings(m: int, k: int) -> list[list[dict[str, Any]]]:
    """List every order of four loops and of what a buffer holds, without a rule."""
    dram = [{"hold": "DRAM", "tensors": [t]} for t in "ZBA"]
    leaf = {"compute": "MAC", "einsum": "E"}
    found = []
    for held in mapspaces.subsets(["A", "B", "Z"]):
        parts = ["m", "m", "k", "k", *held]
        for order in sorted(set(itertools.permutations(parts))):
            nodes: list[dict[str, Any]] = [
                {"hold": "GB", "tensors": [p]} if p.isupper() else {"temporal": p} for p in order
            ]
            found.append([*dram, *nodes, leaf])
    return found


def test_no_order_of_loops_and_holders_is_better() -> None:
    space = {**mapspaces.matvec(4, 2, 5), "tracked": []}
    every = every_row(space["problem"], all_matvec_mappings(4, 2), TOTALS)
    assert same(rows_of(space), front(every))


def test_threads_do_not_change_the_result() -> None:
    space = mapspaces.gemm({"m": 8, "n": 4, "k": 6})
    groups, _ = search(space, threads=1)
    for threads in (2, 5):
        again, _ = search(space, threads=threads)
        assert len(again) == len(groups)
        for a, b in zip(groups, again, strict=True):
            assert a.nodes == b.nodes
            assert a.full_tiles == b.full_tiles
            assert a.templates == b.templates
            assert np.array_equal(a.objectives, b.objectives)


@pytest.mark.parametrize("metric", ["energy", "latency"])
def test_one_metric_gives_one_number(metric: str) -> None:
    space = {**mapspaces.gemm({"m": 4, "n": 2, "k": 2}), "tracked": []}
    both = rows_of(space)
    groups, _ = search({**space, "metrics": [metric]})
    (group,) = groups
    column = ["energy", "latency"].index(metric)
    assert group.objectives.shape == (1, 1)
    assert group.objectives[0, 0] == pytest.approx(min(row[column] for row in both), rel=1e-12)


def test_usage_is_an_axis_where_it_counts() -> None:
    space = mapspaces.matvec(4, 4, 16)
    columns = [*TOTALS, ("reservation", "GB")]
    every = every_row(space["problem"], _search.list_templates(space), columns)
    groups, _ = search({**space, "metrics": ["energy", "latency", "resource_usage"]})
    found = []
    for group in groups:
        usage = group.reservations.get(("GB", 0), np.zeros(len(group)))
        found += [
            (*row, share) for row, share in zip(group.objectives.tolist(), usage, strict=True)
        ]
    assert same(found, front(every))


@pytest.mark.parametrize("least", [0.5, 1.0])
@pytest.mark.parametrize("dimension", ["X", "Y"])
def test_fan_outs_are_used_as_much_as_they_must_be(dimension: str, least: float) -> None:
    """Of each template what uses enough, or else what uses most, even if less is cheaper."""
    space = {**mapspaces.gemm({"m": 4, "n": 1, "k": 4}, registers=40), "tracked": []}
    used = ("usage_spatial", "E", "PE", dimension)
    spatial = [{"component": "PE", "dim": dimension, "min_usage": least}]
    places = [{**place, "spatial": spatial} for place in space["placements"]]
    cheapest = []
    for template in _search.list_templates(space):
        rows = every_row(space["problem"], [template], [TOTALS[0], used])
        loops = any(node.get("dim") == dimension for node in template)
        wanted = min(least, max((row[1] for row in rows), default=0)) if loops else 0
        cheapest += [row[0] for row in rows if row[1] >= wanted * (1 - 1e-9)]
    groups, _ = search({**space, "placements": places, "metrics": ["energy"]})
    assert groups[0].objectives[0, 0] == pytest.approx(min(cheapest), rel=1e-9)


def repeating(mapping: list[dict[str, Any]], bounds: dict[str, int]) -> list[dict[str, Any]]:
    """List the loops that have more than one iteration."""
    extents = dict(bounds)
    found = []
    for node in mapping:
        name = node.get("temporal") or node.get("spatial")
        if name is not None:
            found += [node] * (node["tile"] != extents[name])
            extents[name] = node["tile"]
    return found


@pytest.mark.parametrize("most", [0, 1, 2])
def test_loops_of_a_dimension_are_limited(most: int) -> None:
    space = {
        **mapspaces.gemm({"m": 4, "n": 1, "k": 4}, registers=40),
        "tracked": [],
        "mapper": {"max_loops_per_spatial_dimension": most},
    }
    bounds = space["problem"]["einsums"][0]["variables"]

    def allows(mapping: list[dict[str, Any]]) -> bool:
        dims = [node["dim"] for node in repeating(mapping, bounds) if "dim" in node]
        return all(dims.count(dim) <= most for dim in dims)

    every = every_row(space["problem"], _search.list_templates(space), TOTALS, allows)
    assert same(rows_of(space), front(every))


@pytest.mark.parametrize(
    ("settings", "most"),
    [({"max_loops": 3}, 3), ({"max_loops": 5}, 5), ({"max_loops_minus_ranks": 1}, 3)],
)
def test_loops_are_limited(settings: dict[str, float], most: int) -> None:
    space = {**mapspaces.matvec(6, 4, 5), "tracked": [], "mapper": settings}
    bounds = space["problem"]["einsums"][0]["variables"]
    every = every_row(
        space["problem"],
        _search.list_templates(space),
        TOTALS,
        lambda mapping: len(repeating(mapping, bounds)) <= most,
    )
    assert same(rows_of(space), front(every))
