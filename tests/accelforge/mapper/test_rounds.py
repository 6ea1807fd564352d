# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of searches find what one round of all Einsums on their own finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("yaml")
pytest.importorskip("jinja2")

import accelforge as af
from accelforge._search import METRICS
from accelforge.mapper.FFM import join_pmappings, make_pmappings
from accelforge.mapper.FFM.group import PmappingGroup
from accelforge.mapper.FFM.incumbents import Incumbents
from accelforge.mapper.FFM.limits import Limits
from accelforge.mapper.FFM.mapspace import list_mapspaces
from accelforge.mapper.FFM.rounds import search_in_rounds, two_rounds_pay_off
from accelforge.mapper.FFM.search import search
from tests.accelforge.mapper.small import COSTS, chain_of, mac, memory, spec
from tests.support.full import rest_if_full

E, L, EDP = af.Metrics.ENERGY, af.Metrics.LATENCY, af.Metrics.ENERGY_DELAY_PRODUCT
TOTALS = ("energy", "latency", "energy_delay_product")


def wide(buffer: float, count: int) -> af.Spec:
    """Return a chain of products on two fan-outs, with leakage."""
    given = chain_of(count, buffer=buffer)
    main = given.arch.nodes[0]
    units = af.arch.Container(
        name="Units", spatial=[{"name": "X", "fanout": 4}, {"name": "Y", "fanout": 2}]
    )
    costs = {**COSTS, "leak_power": 3}
    nodes = [
        main,
        memory("Buffer", buffer, keep="~Main", may_keep="All"),
        units,
        memory("Registers", 64, keep="All"),
        mac(**costs),
    ]
    einsums = [
        f"T{n + 1}[m, n{n + 1}] = T{n}[m, n{n}] * W{n}[n{n}, n{n + 1}]" for n in range(count)
    ]
    sizes = {"M": 8, **{f"N{number}": 4 for number in range(count + 1)}}
    result = spec(*nodes, einsums=einsums, rank_sizes=sizes)
    result.mapper.max_fused_loops = 1
    return result


def costs_of(mappings: Any, metrics: af.Metrics) -> list[tuple[float, ...]]:
    """Return what is compared, for each mapping, in order."""
    names = [name for name, metric in zip(TOTALS, (E, L, EDP), strict=True) if metrics & metric]
    table = mappings._table()
    return sorted(zip(*(table[f"Total<SEP>{name}"] for name in names), strict=True))


@pytest.mark.parametrize("metrics", rest_if_full([E | L, EDP, E, L, E | EDP], 2))
@pytest.mark.parametrize("buffer", [300, 2000])
@pytest.mark.parametrize("kind", ["chain", "wide"])
def test_the_front_is_that_of_one_round(kind: str, buffer: float, metrics: af.Metrics) -> None:
    given = chain_of(3, buffer=buffer, size=8) if kind == "chain" else wide(buffer, 2)
    given.mapper.metrics = metrics
    expected = join_pmappings(make_pmappings(given, print_progress=False), print_progress=False)
    found = given.map_workload_to_arch(print_progress=False)
    assert np.allclose(costs_of(found, metrics), costs_of(expected, metrics), rtol=1e-9)


def test_the_second_round_leaves_out_what_is_of_no_use() -> None:
    given = wide(2000, 2)
    given.mapper.metrics = E
    spaces = list_mapspaces(given)
    assert two_rounds_pay_off(given, spaces)
    outcomes = search_in_rounds(given, spaces, threads=1, limits=Limits())
    alone = make_pmappings(given, print_progress=False)
    assert all(outcome.complete for outcome in outcomes)
    assert sum(map(len, outcomes)) < alone.n_pareto_optimal_pmappings()


@pytest.mark.parametrize("change", ["one Einsum", "usage", "tolerance"])
def test_one_round_where_two_may_find_something_else(change: str) -> None:
    given = chain_of(1 if change == "one Einsum" else 2)
    if change == "usage":
        given.mapper.metrics = E | af.Metrics.RESOURCE_USAGE
    if change == "tolerance":
        given.mapper.objective_tolerance = 0.1
    assert not two_rounds_pay_off(given, list_mapspaces(given))


# --- incumbents -----------------------------------------------------------------------------------


def least(groups: list[PmappingGroup]) -> float:
    return min((float(group.objectives.min()) for group in groups), default=np.inf)


def incumbents_of(energy: float, rest: float = 0.0, low: Any = None) -> Incumbents:
    points = np.zeros((1, len(METRICS)))
    points[0, METRICS.index("energy")] = energy
    others = np.zeros(len(METRICS))
    others[METRICS.index("energy")] = rest
    return Incumbents(points, others, tuple(name == "energy" for name in METRICS), low=low)


def test_what_is_as_good_as_an_incumbent_is_found() -> None:
    given = wide(2000, 2)
    given.mapper.metrics = E
    mapspace = list_mapspaces(given)[0].mapspace
    groups, info = search(mapspace, threads=1)
    best = least(groups)
    assert info["low"].min(axis=0)[0] == pytest.approx(best)

    for low in (None, info["low"]):
        found, more = search(mapspace, threads=1, incumbents=incumbents_of(best, low=low))
        assert more["complete"]
        assert least(found) == pytest.approx(best)
        assert more["n_pareto"] < info["n_pareto"]
        # Costs of the other Einsums count.
        found, _ = search(mapspace, threads=1, incumbents=incumbents_of(best + 5, 5, low))
        assert least(found) == pytest.approx(best)
        found, _ = search(mapspace, threads=1, incumbents=incumbents_of(best, 1e-6 * best, low))
        assert not found


def test_a_quick_look_bounds_each_template() -> None:
    given = wide(2000, 2)
    given.mapper.metrics = E
    mapspace = list_mapspaces(given)[0].mapspace
    _, whole = search(mapspace, threads=1)
    groups, quick = search(mapspace, threads=1, width=1)
    assert not quick["complete"]
    assert quick["n_evaluated"] < whole["n_evaluated"]
    energy = METRICS.index("energy")
    assert (quick["low"][:, energy] <= whole["low"][:, energy] * (1 + 1e-9)).all()
    assert quick["low"][:, energy].min() > 0.2 * least(groups)


def test_costs_beside_a_template_count_for_it_alone() -> None:
    given = wide(2000, 2)
    given.mapper.metrics = E
    mapspace = list_mapspaces(given)[0].mapspace
    groups, info = search(mapspace, threads=1)
    best = least(groups)
    backings = info["backings"]
    assert len(backings) > 1
    assert all(tensor == "T1" for backing in backings for tensor, _ in backing)

    # Beside one choice of memories the others cost too much; beside the rest they are free.
    for number in range(len(backings)):
        rests = np.where(info["backing_of"] == number, 1e9, 0.0)[:, None] * np.ones(len(METRICS))
        incumbents = replace(incumbents_of(best * 10, low=np.zeros_like(info["low"])), rests=rests)
        found, more = search(mapspace, threads=1, incumbents=incumbents)
        assert more["complete"]
        held = {memory for group in found for memory, _, _ in group.shared.values()}
        assert held == {memory for i, b in enumerate(backings) if i != number for _, memory in b}


def test_templates_that_an_earlier_round_found_of_no_use_are_left_out() -> None:
    given = wide(2000, 2)
    given.mapper.metrics = E
    mapspace = list_mapspaces(given)[0].mapspace
    groups, info = search(mapspace, threads=1)
    low = np.full_like(info["low"], np.inf)
    found, more = search(mapspace, threads=1, incumbents=incumbents_of(least(groups), low=low))
    assert more["complete"]
    assert not found
    assert more["n_evaluated"] == 0


def test_rounds_tell_what_is_known_of_each_template() -> None:
    given = chain_of(3, buffer=300, size=8)
    given.mapper.metrics = E
    spaces = list_mapspaces(given)
    outcomes = search_in_rounds(given, spaces, threads=1, limits=Limits())
    for space, outcome in zip(spaces, outcomes, strict=True):
        shared = {tensor for backing in outcome.backings for tensor, _ in backing}
        assert shared == set(space.mapspace["shared"])
        assert outcome.low is not None
        assert outcome.backing_of is not None
        assert len(outcome.low) == len(outcome.backing_of) == outcome.templates
