# SPDX-License-Identifier: BSD-3-Clause
"""The join against all combinations of random pmappings, each evaluated by the engine."""

from __future__ import annotations

import _thread
import dataclasses
import random
import threading
import time
from typing import Any

import numpy as np
import pytest

from accelforge._join import COUNTERS, GroupError, Join, join
from accelforge._joining.call import Limits, call, choose
from accelforge.mapper.FFM.group import PmappingGroup
from accelforge.mapper.FFM.tree import build_tree
from tests.accelforge.mapper.random_pmappings import (
    brute_force,
    evaluate,
    front,
    make_groups,
    workload,
)
from tests.support.full import rest_if_full

COLUMNS = ["energy", "latency"]
MEMORIES = ("MM", "GB")
METRICS = (
    ["energy"],
    ["energy", "latency"],
    ["energy_delay_product"],
    ["energy", "resource_usage"],
    ["energy", "latency", "resource_usage"],
    ["energy", "energy_delay_product"],
)
SIZES = ("inf", 200.0, 120.0, 400.0)

MATMUL = {"A": "m k", "W": "k n", "B": "m n"}
WORKLOADS: dict[str, tuple[list[dict[str, str]], dict[str, int], list[int]]] = {
    "two matmuls": (
        [MATMUL, {"B": "m n", "V": "n q", "C": "m q"}],
        {"m": 4, "k": 2, "n": 4, "q": 2},
        [],
    ),
    "other names": (
        [MATMUL, {"B": "x y", "V": "y q", "C": "x q"}],
        {"m": 4, "k": 2, "n": 4, "q": 2, "x": 4, "y": 4},
        [],
    ),
    "three matmuls": (
        [MATMUL, {"B": "m n", "V": "n q", "C": "m q"}, {"C": "m q", "U": "q s", "D": "m s"}],
        {"m": 4, "k": 2, "n": 4, "q": 2, "s": 2},
        [],
    ),
    "diamond": (
        [
            MATMUL,
            {"B": "m n", "C": "m n"},
            {"B": "m n", "D": "m n"},
            {"C": "m n", "D": "m n", "E": "m n"},
        ],
        {"m": 4, "k": 2, "n": 4},
        [],
    ),
    "three users": (
        [MATMUL, {"B": "m n", "C": "m"}, {"B": "m n", "C": "m", "D": "m n"}],
        {"m": 4, "k": 2, "n": 4},
        [],
    ),
    "attention": (
        [
            {"Q": "m e", "K": "p e", "S": "m p"},
            {"S": "m p", "R": "m"},
            {"S": "m p", "R": "m", "T": "m p"},
            {"T": "m p", "V": "p f", "O": "m f"},
        ],
        {"m": 4, "e": 2, "p": 4, "f": 2},
        [],
    ),
    "convolution first": (
        [{"I": "p+r", "W": "r c", "A": "p c"}, {"A": "p c", "V": "c d", "O": "p d"}],
        {"p": 4, "r": 3, "c": 2, "d": 2},
        [],
    ),
    "convolution last": (
        [{"I": "x c", "W": "c", "A": "x"}, {"A": "p+r", "V": "r", "O": "p"}],
        {"p": 4, "r": 3, "x": 6, "c": 2},
        [],
    ),
    "shared weights": (
        [MATMUL, {"B": "m n", "V": "n q", "C": "m q"}, {"C": "m q", "V": "s q", "D": "m s"}],
        {"m": 4, "k": 2, "n": 4, "q": 2, "s": 4},
        [],
    ),
    "copy first": (
        [{"J": "m n", "B": "m n"}, {"B": "m n", "V": "n q", "C": "m q"}],
        {"m": 4, "n": 4, "q": 2},
        [0],
    ),
    "copy between": (
        [MATMUL, {"B": "m n", "X": "m n"}, {"X": "m n", "V": "n q", "C": "m q"}],
        {"m": 4, "k": 2, "n": 4, "q": 2},
        [1],
    ),
}
ROWS = {2: 36, 3: 13, 4: 8}


def measures(values: dict[Any, float], metrics: list[str]) -> tuple[float, ...]:
    energy, latency = values["total", "energy"], values["total", "latency"]
    found = {"energy": [energy], "latency": [latency], "energy_delay_product": [energy * latency]}
    found["resource_usage"] = [values.get(("reservation", memory), 0.0) for memory in MEMORIES]
    return tuple(x for name in metrics for x in found[name])


def check_claims(
    joined: Join, problem: dict[str, Any], groups: list[list[PmappingGroup]]
) -> list[dict[Any, float]]:
    """Evaluate each mapping that the join found: it is what the join says."""
    found = []
    for i in range(len(joined)):
        nodes = build_tree(groups, joined.picks(i), problem)
        values = evaluate(problem, nodes)
        assert values is not None, nodes
        totals = [values["total", "energy"], values["total", "latency"]]
        assert joined.objectives[i] == pytest.approx(totals, rel=1e-12)
        for memory in MEMORIES:
            claimed = joined.usage[memory][i] if memory in joined.usage else 0
            assert claimed == pytest.approx(values.get(("reservation", memory), 0), abs=1e-12)
        found.append(values)
    return found


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("seed", rest_if_full(range(6), 2))
def test_the_front_is_that_of_all_combinations(name: str, seed: int) -> None:
    einsums, sizes, copies = WORKLOADS[name]
    metrics = METRICS[seed]
    problem = workload(einsums, sizes, gb=SIZES[seed % 4], copies=copies)
    rng = random.Random(seed)
    groups = make_groups(
        problem, rng, tries=300, most_rows=ROWS[len(einsums)], spatial=seed % 2 == 1
    )
    combinations = brute_force(problem, groups)
    wanted = front([measures(values, metrics) for values in combinations])

    if not wanted:
        with pytest.raises(GroupError, match="no pmappings fit together"):
            join(groups, problem, COLUMNS, metrics, all_memories=True)
        return
    joined = join(groups, problem, COLUMNS, metrics, all_memories=True)
    found = check_claims(joined, problem, groups)

    assert joined.complete
    assert front([measures(values, metrics) for values in found]) == wanted


@pytest.mark.parametrize("seed", rest_if_full(range(4), 2))
def test_persistent_tensors_are_always_there(seed: int) -> None:
    einsums, sizes, _ = WORKLOADS["shared weights"]
    metrics = ["energy", "resource_usage"]
    problem = workload(einsums, sizes, gb=(500.0, 300.0)[seed % 2])
    groups = make_groups(problem, random.Random(seed), tries=900, most_rows=14, persistent=True)
    combinations = brute_force(problem, groups)
    joined = join(groups, problem, COLUMNS, metrics, all_memories=True)
    found = check_claims(joined, problem, groups)

    assert any(group.persistent for own in groups for group in own)
    assert front([measures(values, metrics) for values in found]) == front(
        [measures(values, metrics) for values in combinations]
    )


@pytest.fixture(scope="module")
def chain() -> tuple[dict[str, Any], list[list[PmappingGroup]]]:
    einsums = [
        {f"T{i}": "m a" if i % 2 else "m b", f"W{i}": "a b", f"T{i + 1}": "m b" if i % 2 else "m a"}
        for i in range(6)
    ]
    problem = workload(einsums, {"m": 12, "a": 6, "b": 6}, gb=1500.0)
    return problem, make_groups(problem, random.Random(1), tries=400, most_rows=150)


def same(a: Join, b: Join) -> bool:
    return all(
        np.array_equal(x, y)
        for x, y in ((a.objectives, b.objectives), (a.groups, b.groups), (a.rows, b.rows))
    )


@pytest.mark.parametrize("metrics", METRICS)
def test_the_result_does_not_depend_on_the_number_of_threads(chain: Any, metrics: Any) -> None:
    problem, groups = chain
    results = [join(groups, problem, COLUMNS, metrics, threads=n) for n in (1, 2, 5)]

    assert len(results[0]) > 0
    assert all(same(results[0], other) for other in results[1:])


def test_claims_hold_for_a_chain(chain: Any) -> None:
    problem, groups = chain
    joined = join(groups, problem, COLUMNS, COLUMNS, all_memories=True)

    assert len(check_claims(joined, problem, groups)) > 1
    assert joined.bound == pytest.approx(joined.objectives.min(axis=0))


def test_memories_that_are_large_enough_do_not_matter(chain: Any) -> None:
    problem, groups = chain
    all_memories = join(groups, problem, COLUMNS, COLUMNS, all_memories=True)
    some = join(groups, problem, COLUMNS, COLUMNS)

    assert np.allclose(all_memories.objectives, some.objectives, rtol=1e-12)
    assert set(some.usage) == {"GB"}


def test_the_product_is_the_smallest_of_the_front(chain: Any) -> None:
    problem, groups = chain
    points = join(groups, problem, COLUMNS, COLUMNS).objectives
    joined = join(groups, problem, COLUMNS, ["energy_delay_product"])

    assert len(joined) == 1
    assert joined.objectives.prod() == pytest.approx(points.prod(axis=1).min(), rel=1e-12)
    assert joined.edp_bound == pytest.approx(joined.objectives.prod())


def test_tolerances_cost_no_more_than_they_say(chain: Any) -> None:
    problem, groups = chain
    exact = join(groups, problem, COLUMNS, ["energy"]).objectives[0, 0]
    rough = join(groups, problem, COLUMNS, ["energy"], objective_tolerance=0.1).objectives[0, 0]

    assert exact <= rough <= 1.1 * exact


def test_a_stop_gives_what_was_found_or_a_timeout(chain: Any) -> None:
    problem, groups = chain
    stop = np.ones(1, np.uint8)

    with pytest.raises(TimeoutError, match="before it found a mapping"):
        join(groups, problem, COLUMNS, COLUMNS, stop=stop)
    with pytest.raises(TimeoutError):
        join(groups, problem, COLUMNS, COLUMNS, deadline=time.monotonic() - 1)


def test_an_exception_in_the_main_thread_ends_the_join() -> None:
    stopped = []

    def run(tables: Any, columns: Any, goal: Any, limits: Limits) -> Any:
        _thread.interrupt_main()
        while not limits.stop[0]:
            threading.Event().wait(0.001)
        stopped.append(True)

    with pytest.raises(KeyboardInterrupt):
        call(run, None, ("energy",), choose(("energy",), ["energy"]), 1, None, 1e300, 1e300)
    assert stopped


def test_a_join_in_this_thread_starts_none_and_finds_the_same(
    chain: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, groups = chain
    other = join(groups, problem, COLUMNS, COLUMNS)
    monkeypatch.setattr(threading, "Thread", None)
    assert same(join(groups, problem, COLUMNS, COLUMNS, here=True), other)


def test_too_little_memory_gives_a_result_with_bounds(chain: Any) -> None:
    problem, groups = chain
    metrics = [*COLUMNS, "energy_delay_product", "resource_usage"]
    best = join(groups, problem, COLUMNS, metrics)
    least = best.objectives.min(axis=0)
    product = best.objectives.prod(axis=1).min()
    stopped = []
    for limit in (2**n for n in range(10, 24)):
        try:
            some = join(groups, problem, COLUMNS, metrics, memory_limit=limit)
        except TimeoutError:
            continue
        assert (some.bound <= least * (1 + 1e-12)).all()
        assert 0 < some.edp_bound <= product * (1 + 1e-12)
        assert (some.objectives >= least * (1 - 1e-12)).all()
        stopped.append(some.complete)

    assert not stopped[0]
    assert stopped[-1]


def test_progress_is_counted(chain: Any) -> None:
    problem, groups = chain
    progress = np.zeros(COUNTERS, np.uint64)
    joined = join(groups, problem, COLUMNS, COLUMNS, progress=progress)

    assert progress.tolist()[:2] == [2, 6]
    assert int(progress[3]) == joined.joined > 0


def test_one_einsum_is_joined_with_nothing() -> None:
    problem = workload([MATMUL], {"m": 4, "k": 2, "n": 4})
    groups = make_groups(problem, random.Random(0), tries=50)
    joined = join(groups, problem, COLUMNS, COLUMNS)

    points = np.concatenate([group.objectives for group in groups[0]])
    assert front(joined.objectives.tolist()) == front(points.tolist())


# ------------------------------------------------------------------ malformed input


def changed(group: PmappingGroup, **fields: Any) -> PmappingGroup:
    return dataclasses.replace(group, **fields)


@pytest.fixture
def pair() -> tuple[dict[str, Any], PmappingGroup, PmappingGroup]:
    einsums, sizes, _ = WORKLOADS["two matmuls"]
    problem = workload(einsums, sizes)
    hold = ("hold", "GB", "B")
    nodes = (("temporal", "m"), hold)
    first, second = (
        PmappingGroup(
            einsum=name,
            nodes=nodes,
            objectives=np.ones((2, 2)),
            tiles=np.array([[2], [1]], np.int64),
            shared={"B": ("GB", 1, np.full(2, 0.5))},
            reservations={("GB", 1): np.full(2, 0.25)},
        )
        for name in ("E0", "E1")
    )
    return problem, first, second


def test_a_pair_joins(pair: Any) -> None:
    problem, first, second = pair
    joined = join([[first], [second]], problem, COLUMNS, ["energy"], all_memories=True)

    assert joined.objectives.tolist() == [[2, 2]]
    assert joined.usage["GB"].tolist() == [0.75]


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "einsum": ({"einsum": "E7"}, "is of Einsum 'E7'"),
    "objectives": ({"objectives": np.ones((2, 3))}, r"of shape \(2, 2\)"),
    "no numbers": ({"objectives": np.array([["a", "b"]] * 2)}, "must be an array of numbers"),
    "tiles": ({"tiles": np.ones((2, 2), np.int64)}, r"of shape \(2, 1\)"),
    "fractions of tiles": ({"tiles": np.ones((2, 1))}, "whole numbers"),
    "no tile": ({"tiles": np.zeros((2, 1), np.int64)}, "negative, infinite or not a number"),
    "nan": ({"objectives": np.full((2, 2), np.nan)}, "not a number: Einsum 'E0', group 0"),
    "negative": ({"reservations": {("GB", 1): np.full(2, -1.0)}}, "negative"),
    "infinite": ({"shared": {"B": ("GB", 1, np.full(2, np.inf))}}, "infinite"),
    "depth": ({"reservations": {("GB", 2): np.zeros(2)}}, "depth 2 is not in"),
    "tensor": ({"shared": {"Q": ("GB", 1, np.zeros(2))}}, "has no tensor 'Q'"),
    "not shared": ({"shared": {}}, "does not hold a tensor.*tensor 'B'"),
    "variable": ({"nodes": (("temporal", "z"),)}, "is not a loop over a variable"),
    "sizes": ({"shared": {"B": ("GB", 1, np.zeros(3))}}, r"of shape \(2,\)"),
}


@pytest.mark.parametrize("name", BAD)
def test_malformed_groups_are_refused(pair: Any, name: str) -> None:
    problem, first, second = pair
    fields, message = BAD[name]

    with pytest.raises(GroupError, match=message):
        join([[changed(first, **fields)], [second]], problem, COLUMNS, ["energy"])


def test_groups_that_do_not_fit_are_refused(pair: Any) -> None:
    problem, first, second = pair
    other = changed(second, shared={"B": ("MM", 1, np.zeros(2))})

    with pytest.raises(GroupError, match="no pmappings fit together: Einsum 'E0'"):
        join([[first], [other]], problem, COLUMNS, ["energy"])
    with pytest.raises(GroupError, match="an Einsum has no pmappings: Einsum 'E1'"):
        join([[first], []], problem, COLUMNS, ["energy"])
    with pytest.raises(GroupError, match="groups of 1 Einsums"):
        join([[first]], problem, COLUMNS, ["energy"])
    full = changed(second, reservations={("GB", 1): np.full(2, 0.6)})
    with pytest.raises(GroupError, match="no pmappings fit together: Einsum 'E1'"):
        join([[first], [full]], problem, COLUMNS, ["energy"])


def test_metrics_are_checked(pair: Any) -> None:
    problem, first, second = pair
    groups = [[first], [second]]

    with pytest.raises(ValueError, match="unknown column 'area'"):
        join(groups, problem, COLUMNS, ["area"])
    with pytest.raises(ValueError, match="unknown column 'latency'"):
        join(groups, problem, ["energy", "x"], ["energy_delay_product"])
    with pytest.raises(ValueError, match="metrics must name a column"):
        join(groups, problem, COLUMNS, ["resource_usage"])
    with pytest.raises(TypeError, match="collection of names"):
        join(groups, problem, COLUMNS, "energy")
