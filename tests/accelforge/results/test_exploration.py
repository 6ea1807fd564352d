# SPDX-License-Identifier: BSD-3-Clause
"""Explorations: each row is what the changed specification costs, however it was found."""

from __future__ import annotations

import math
import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import accelforge as af
from accelforge._join import Front
from accelforge.exploration.pareto import pareto_front
from offchip.store import Store, StoreError
from tests.accelforge.mapper.small import chain_of, memory
from tests.support.full import share

SIZES = [150, 300, 5000]
AXES = {
    "arch.Buffer.size": SIZES,
    "arch.Main.actions.read.energy": [1, 2.5, 10],
    "mapping.nodes[1].tile_shape": [1, 2, 4, 8],
    "arch.Main.actions.write.throughput": [1, 3],
}
RANGES = {
    "arch.Buffer.size": af.Range(300, 5000, integer=True),
    "arch.Main.actions.read.energy": af.Range(0.1, 10, log=True),
    "arch.Main.actions.read.throughput": af.Range(1, 100),
    "arch.MAC.leak_power": af.Range(1, 3),
}


def costs_of(spec, values):
    """Evaluate a specification that is changed as a user changes one."""
    new = spec.model_copy(deep=True)
    for path, value in values.items():
        match path.split("."):
            case ["arch", name, "actions", action, field]:
                setattr(new.arch[name].actions[action], field, value)
            case ["arch", name, field]:
                setattr(new.arch[name], field, value)
            case ["mapping", node, "tile_shape"]:
                new.mapping.nodes[int(node[6:-1])].tile_shape = value
    try:
        result = new.evaluate_mapping()
    except af.InvalidMappingError:
        return math.nan, math.nan
    return result.energy(), result.latency()


def check_rows(spec, found, every=1):
    for row in range(0, len(found), every):
        want = costs_of(spec, found.values(row))
        have = [found.objectives[name][row] for name in ("energy", "latency")]
        assert have == pytest.approx(want, rel=1e-12, nan_ok=True), found.values(row)


# --- numbers ------------------------------------------------------------------------------------


def test_few_points_are_not_worth_a_table_of_many_values(spec):
    axes = {"arch.Buffer.size": af.Range(300, 3300, integer=True)}
    found = spec.explore(axes, method="random", count=100)
    assert found.not_compiled == "few points"
    check_rows(spec, found, every=10)


def test_a_grid_has_all_combinations_and_their_costs(spec):
    found = spec.explore(AXES)
    assert found.not_compiled == ""
    assert found.complete
    assert len(found) == 72
    assert len({tuple(found.values(row).items()) for row in range(72)}) == 72
    assert 0 < found.valid.sum() < 72
    assert "uses" in found.reason
    assert "Buffer" in found.reason
    check_rows(spec, found)


@pytest.mark.parametrize("method", ["random", "adaptive"])
def test_ranges_are_compiled_exactly(spec, method):
    found = spec.explore(RANGES, method=method, count=5000)
    assert found.not_compiled == ""
    assert len(found) == found.evaluated == 5000
    check_rows(spec, found, every=101)
    for path, axis in RANGES.items():
        values = np.array(found.parameters[path])
        assert axis.low <= values.min()
        assert values.max() <= axis.high
        assert values.max() - values.min() > 0.9 * (axis.high - axis.low)


def test_what_does_not_compile_costs_the_same(load, texts):
    text = texts.ARCH.replace("size: {{SIZE | default(100000)}}", "size: WIDTH * DEPTH")
    spec = load("variables: {WIDTH: 8, DEPTH: 64}\n" + text + texts.WORKLOAD + texts.MAPPING)
    axes = {"variables.WIDTH": range(1, 11), "variables.DEPTH": range(10, 100, 10)}
    found = spec.explore(axes, ["usage of Buffer", "energy"])
    assert "depends on variables.WIDTH and on variables.DEPTH" in found.not_compiled
    usage = found.objectives["usage of Buffer"]
    sizes = np.multiply(*(np.array(found.parameters[name]) for name in axes))
    bits = usage[found.valid] * sizes[found.valid]
    assert bits == pytest.approx(bits[0])
    assert (sizes[~found.valid] < bits[0]).all()


def test_bent_dependences_of_ranges_do_not_compile(load, texts):
    text = texts.ARCH.replace("leak_power: 2", "leak_power: max(X, 3) ** 2", 1)
    spec = load("variables: {X: 1}\n" + text + texts.WORKLOAD + texts.MAPPING)
    found = spec.explore({"variables.X": af.Range(1, 8)}, method="random", count=100)
    assert "depends on variables.X in another way than a line" in found.not_compiled
    for row in (0, 50, 99):
        spec.variables.X = found.values(row)["variables.X"]
        assert found.objectives["energy"][row] == pytest.approx(spec.evaluate_mapping().energy())
    # One by one, its values are exact in any case.
    exact = spec.explore({"variables.X": np.linspace(1, 8, 30), "arch.Buffer.size": SIZES})
    assert exact.not_compiled == ""


def test_the_structure_may_change(load, texts):
    text = texts.MAPPING.replace("tile_shape: 4", "tile_shape: 4 if X < 50 else 8")
    spec = load("variables: {X: 1}\n" + texts.ARCH + texts.WORKLOAD + text)
    found = spec.explore({"variables.X": range(100)}, "energy")
    assert len(set(found.objectives["energy"].tolist())) == 2


def test_areas_and_leaks_are_sums_over_components(spec):
    axes = {"arch.Main.area": [1, 4], "arch.Main.leak_power": [1, 2]}
    found = spec.explore(axes, ["area", "leak_power"])
    assert found.objectives["area"].tolist() == [1, 1, 4, 4]
    assert found.objectives["leak_power"].tolist() == [1, 2, 1, 2]


def test_without_a_mapping_the_mapper_looks_for_it(load, texts):
    spec = load(texts.ARCH + texts.WORKLOAD)
    found = spec.explore({"arch.Buffer.size": [200, 2000]}, ["energy", "latency"])
    assert "mapper" in found.not_compiled
    for point, size in enumerate((200, 2000)):
        spec.arch["Buffer"].size = size
        spec.mapper.metrics = af.Metrics.ENERGY | af.Metrics.LATENCY
        want = spec.map_workload_to_arch(print_progress=False)
        have = found.objectives["energy"][found.points == point]
        assert sorted(have) == pytest.approx(sorted(want.energy(list_if_one_mapping=True)))


def test_a_specification_of_a_row_is_the_explored_one(spec):
    found = spec.explore(AXES)
    best = found.best()
    assert found.spec_of(best).evaluate_mapping().energy() == found.objectives["energy"][best]
    assert found.objectives["energy"][best] == np.nanmin(found.objectives["energy"])
    assert spec.arch["Buffer"].size == 100000


# --- points -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["random", "adaptive"])
@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors_find_the_same(spec, method, pool):
    alone = spec.explore(RANGES, method=method, count=9000, seed=3)
    with pool(2) as executor:
        found = spec.explore(RANGES, method=method, count=9000, seed=3, executor=executor)
    assert found.parameters == alone.parameters
    for name, costs in alone.objectives.items():
        assert np.array_equal(found.objectives[name], costs, equal_nan=True)


def test_seeds_choose_points(spec):
    one, same, other = (
        spec.explore(RANGES, method="random", count=100, seed=seed) for seed in (1, 1, 2)
    )
    assert one.parameters == same.parameters != other.parameters


def test_adaptive_points_are_nearer_to_the_best(spec):
    least = {
        method: spec.explore(
            RANGES, ["energy_delay_product", "usage of Buffer"], method=method, count=9000
        ).objectives["energy_delay_product"]
        for method in ("random", "adaptive")
    }
    assert np.nanmin(least["adaptive"]) < np.nanmin(least["random"])
    assert np.nanmedian(least["adaptive"]) < np.nanmedian(least["random"])


def test_a_time_limit_returns_what_was_found(spec):
    found = spec.explore(RANGES, method="random", count=10**7, time_limit=1e-6)
    assert 0 < len(found) < 10**7
    assert not found.complete
    assert found.front()


# --- files --------------------------------------------------------------------------------------

RUN = """
import os, signal, sys
from concurrent.futures import ThreadPoolExecutor
import accelforge as af

class Killer(ThreadPoolExecutor):
    left = int(sys.argv[4])

    def submit(self, *args):
        Killer.left -= 1
        if Killer.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().submit(*args)

axes = {
    "arch.Buffer.size": af.Range(300, 5000, integer=True),
    "arch.Main.actions.read.energy": af.Range(0.1, 10, log=True),
    "arch.Main.actions.read.throughput": [1, 2, 3.5],
}
with Killer(1) as executor:
    found = af.Spec.from_yaml(sys.argv[1]).explore(
        axes, ["energy", "latency", "usage of Buffer"], method=sys.argv[3],
        count=int(sys.argv[5]), file=sys.argv[2], executor=executor)
print(len(found), found.evaluated, found.front())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "kills"),
    [("random", share((3, 2), (5, 4))), ("adaptive", share((30, 45), (60, 90)))],
)
def test_killed_twice_and_resumed_it_is_the_same_set(tmp_path, texts, method, kills):
    source = tmp_path / "spec.yaml"
    source.write_text(texts.ARCH.replace("{{SIZE | default(100000)}}", "100000")
                      + texts.WORKLOAD + texts.MAPPING)  # fmt: skip

    number = share(50_000, 100_000)

    def run(file, kill):
        command = [sys.executable, "-c", RUN, source, tmp_path / file, method, kill, number]
        command = list(map(str, command))
        return subprocess.run(command, capture_output=True, text=True, timeout=100)

    for kill in kills:
        assert run("killed.db", kill).returncode == -signal.SIGKILL
    resumed, whole = run("killed.db", 0), run("whole.db", 0)
    assert resumed.returncode == 0, resumed.stderr
    assert whole.returncode == 0, whole.stderr
    rows = []
    for name in ("killed.db", "whole.db"):
        connection = sqlite3.connect(tmp_path / name)
        rows.append(connection.execute("SELECT * FROM points").fetchall())
        connection.close()
    assert len(rows[0]) == number
    assert rows[0] == rows[1]
    count, evaluated = map(int, resumed.stdout.split()[:2])
    assert 0 < evaluated < count
    assert resumed.stdout.split()[2:] == whole.stdout.split()[2:]


def test_a_file_gives_what_memory_gives(spec, tmp_path):
    inside = spec.explore(AXES)
    for evaluated in (72, 0):
        found = spec.explore(AXES, file=tmp_path / "x.db")
        assert found.evaluated == evaluated
        assert found.parameters == inside.parameters
        assert found.reason == inside.reason
        for name, costs in inside.objectives.items():
            assert np.array_equal(found.objectives[name], costs, equal_nan=True)


def test_a_file_of_another_exploration_is_refused(spec, tmp_path):
    file = tmp_path / "x.db"
    spec.explore(AXES, file=file)
    with pytest.raises(StoreError, match=r"another exploration: different objectives\."):
        spec.explore(AXES, ["energy", "area"], file=file)
    spec.arch["Main"].area = 7
    with pytest.raises(StoreError, match=r"different specification\."):
        spec.explore(AXES, file=file)


def test_a_file_in_use_is_refused(spec, tmp_path):
    other = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="another process writes to it"):
        spec.explore(AXES, file=tmp_path / "x.db")
    other.close()


def test_files_of_others_are_refused(spec, tmp_path):
    other = sqlite3.connect(tmp_path / "x.db")
    other.execute("CREATE TABLE cats (name TEXT)")
    other.commit()
    other.close()
    with pytest.raises(StoreError, match="a file of SQLite, but has no exploration"):
        spec.explore(AXES, file=tmp_path / "x.db")
    with pytest.raises(StoreError, match="cannot be opened"):
        spec.explore(AXES, file=tmp_path / "no" / "x.db")


DESCRIBED = {"parameters": {"size": [1, 2]}, "seed": 0}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Make the bytes of a file with two chunks."""
    path = tmp_path_factory.mktemp("store") / "good.db"
    store = Store(path, DESCRIBED, ["size"], ["energy"])
    for number in range(2):
        points = [(100 * number + i, 0) for i in range(100)]
        store.write(number, points, [list(range(100))], np.ones((100, 1)), "")
    store.close()
    return path.read_bytes(), path.with_name("bad.db")


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_is_no_regular_file_is_refused_and_nothing_made_beside_it(tmp_path, kind):
    path = tmp_path / kind
    (os.mkfifo if kind == "pipe" else os.mkdir)(path)
    with pytest.raises(StoreError, match=f"{kind} is no regular file"):
        Store(path, DESCRIBED, ["size"], ["energy"])
    assert list(tmp_path.iterdir()) == [path]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_damaged_files_are_refused_or_read(good, data):
    text, bad = bytearray(good[0]), good[1]
    # The head of a file and of its pages has most that can go wrong.
    place = st.integers(0, 200) | st.integers(0, len(text) - 1)
    for _ in range(data.draw(st.integers(0, 8))):
        text[data.draw(place)] = data.draw(st.integers(0, 255))
    bad.write_bytes(text[: data.draw(st.integers(0, len(text)) | st.just(len(text)))])
    try:
        with closing(Store(bad, DESCRIBED, ["size"], ["energy"])) as store:
            done = store.done()
            points, values, costs = store.read()
    except StoreError as error:
        message = str(error)
    else:
        message = ""
        assert all(isinstance(number, int) for number in done)
        assert len(points) == len(values[0]) == len(costs)
    assert message == "" or str(bad) in message


def test_chunks_without_numbers_are_damage(good):
    text, bad = good
    # Another definition of the column, which SQLite reads from rows that have nothing for it.
    damaged = text.replace(b"chunks (number INTEGER PRIMARY", b"chunks (number INTEGER PR1MARY")
    assert damaged != text
    bad.write_bytes(damaged)
    with (
        closing(Store(bad, DESCRIBED, ["size"], ["energy"])) as store,
        pytest.raises(StoreError, match=f"{bad} is damaged: a chunk has no number"),
    ):
        store.done()


def test_parquet_needs_pyarrow(spec, tmp_path):
    found = spec.explore(AXES)
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        with pytest.raises(ImportError, match="pip install pyarrow"):
            found.to_parquet(tmp_path / "x.parquet")
    else:
        found.to_parquet(tmp_path / "x.parquet")
        table = parquet.read_table(tmp_path / "x.parquet").to_pydict()
        assert table["arch.Buffer.size"] == found.parameters["arch.Buffer.size"]


# --- fronts -------------------------------------------------------------------------------------

numbers = st.sampled_from([0.0, 1.0, 2.0, 3.0, math.inf, -1.5, math.nan])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(numbers, min_size=n, max_size=n),
                                                    min_size=1, max_size=20)))  # fmt: skip
def test_fronts_are_those_of_their_definition(rows):
    costs = np.array(rows)
    front = pareto_front(costs).tolist()

    def beats(a, b):
        return all(x <= y for x, y in zip(a, b, strict=True)) and a != b

    fine = [i for i, row in enumerate(rows) if not any(math.isnan(x) for x in row)]
    want = [
        i
        for i in fine
        if not any(beats(rows[j], rows[i]) or (rows[j] == rows[i] and j < i) for j in fine)
    ]
    assert front == want


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_fronts_grow_row_by_row_to_the_same(width):
    generator = np.random.default_rng(width)
    costs = generator.integers(0, 40, (3000, width)).astype(float)
    costs[generator.random(costs.shape) < 0.01] = math.nan
    costs[generator.random(costs.shape) < 0.01] = math.inf
    front = Front(width)
    for part in np.array_split(costs, [0, 1, 700, 2900]):
        kept = front.add(part)
    assert kept.tolist() == pareto_front(costs).tolist()
    fine = costs[~np.isnan(costs).any(axis=1)]
    for row in fine:
        assert (costs[kept] <= row).all(axis=1).any()


def test_a_front_refuses_rows_of_another_width():
    with pytest.raises(ValueError, match="rows have 2 numbers here, not 3"):
        Front(2).add(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="one number or more"):
        Front(0)


def test_a_front_of_some_objectives(spec):
    found = spec.explore(AXES, ["energy", "latency", "usage of Buffer"])
    assert len(found.front(["energy"])) == 1
    assert set(found.front(["energy", "latency"])) <= set(range(72))
    with pytest.raises(KeyError, match="'area' was not explored; there are: energy, latency"):
        found.front(["area"])


# --- what is wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("axes", "settings", "message"),
    [
        ({"arch.Bufer.size": [1]}, {}, "there is no 'Bufer'; there are: .*Main, Buffer, MAC"),
        ({"arch.Buffer.sise": [1]}, {}, "there is no 'sise'; there are: .*size"),
        ({"arch.Buffer.actions.reed.energy": [1]}, {}, "no 'reed'; there are: read, write"),
        ({"mapping.nodes[99].tile_shape": [1]}, {}, "there is no 99"),
        ({"arch.Buffer": [1]}, {}, "arch.Buffer is an object, and no number"),
        ({"arch.Buffer.size": []}, {}, "there are no values"),
        ({"arch.Buffer.size": 5}, {}, "give a list of values or an accelforge.Range"),
        ({"arch.Buffer.size": "abc"}, {}, "give a list of values or an accelforge.Range"),
        ({"arch.Buffer.size": [1, 1.0]}, {}, "a value is there twice"),
        ({"arch.Buffer.size": [None]}, {}, "values are numbers and texts"),
        ({"arch.Buffer.size": [math.nan]}, {}, "values are numbers and texts"),
        ({}, {}, "parameters are a dict"),
        ({7: [1]}, {}, "a parameter is a path"),
        (RANGES, {}, "Range without number of values"),
        (AXES, {"count": 5}, "a grid has all combinations"),
        (AXES, {"method": "random"}, "needs count="),
        (AXES, {"method": "all"}, "method is one of grid, random, adaptive"),
        (AXES, {"method": "random", "count": 0}, "count is a positive number"),
        (AXES, {"seed": -1}, "seed is a whole number"),
        (AXES, {"time_limit": 0}, "time_limit is a positive number"),
        (AXES, {"objectives": ["speed"]}, "'speed' is no objective; there are: energy"),
        (AXES, {"objectives": []}, "one or more names"),
        (AXES, {"objectives": "usage of Bufer"}, "no such memory; there are: Main, Buffer"),
    ],
)
def test_wrong_arguments_are_explained(spec, axes, settings, message):
    with pytest.raises((ValueError, KeyError), match=message):
        spec.explore(axes, **settings)


@pytest.mark.parametrize(
    ("ends", "settings", "message"),
    [
        ((2, 1), {}, "goes upwards"),
        ((0, 1), {"log": True}, "positive numbers"),
        ((0.5, 2), {"integer": True}, "integers"),
        ((1, math.inf), {}, "finite numbers"),
        (("a", 1), {}, "finite numbers"),
    ],
)
def test_wrong_ranges_are_explained(ends, settings, message):
    with pytest.raises(ValueError, match=message):
        af.Range(*ends, **settings)


def test_values_that_the_specification_refuses_are_rows_without_costs(spec):
    found = spec.explore({"arch.Buffer.size": [100000, "no_such_name"]})
    assert found.valid.tolist() == [True, False]
    assert "no_such_name" in found.reason


def test_memories_of_objectives_are_checked_before_anything_is_evaluated(load, texts):
    for text in (texts.MAPPING, ""):
        spec = load(texts.ARCH + texts.WORKLOAD + text)
        with pytest.raises(ValueError, match="no such memory; there are: Main, Buffer"):
            spec.explore({"arch.Buffer.size": [5000]}, "usage of Bufer")


def test_a_range_that_is_refused_in_between_costs_nothing_there(load, texts):
    # Between two of the values that are looked at when the specification is compiled.
    text = texts.ARCH.replace("leak_power: 2", "leak_power: X if X < 60 or X > 61 else missing", 1)
    spec = load("variables: {X: 1}\n" + text + texts.WORKLOAD + texts.MAPPING)
    axes = {"variables.X": [*range(50, 60, 3), 60, *range(62, 70)]}
    found = spec.explore(axes, "energy")
    assert found.valid.sum() == len(found) - 1
    assert "missing" in found.reason


def test_an_exploration_without_valid_points_says_why(spec):
    found = spec.explore({"arch.Buffer.size": [1, 2]})
    assert found.front() == []
    with pytest.raises(ValueError, match=r"no point is valid: .* Buffer"):
        found.best()
    assert "nothing" in str(found)


def test_explorations_are_readable_tables(spec):
    found = spec.explore(AXES, ["energy", "area"])
    text = str(found)
    assert "72 of 72 points" in text
    assert "arch.Buffer.size" in text
    assert "m²" in text
    assert "<table>" in found._repr_html_()
    assert len(found.data) == 72


def test_a_memory_that_no_mapping_uses_is_empty():
    found = chain_of(2).explore({"arch.Buffer.size": [1, 400]}, ["energy", "usage of Buffer"])
    assert found.valid.all()
    usage = dict(
        zip(found.parameters["arch.Buffer.size"], found.objectives["usage of Buffer"], strict=True)
    )
    assert usage[1] == 0 < usage[400]


@pytest.mark.parametrize("objectives", [["usage of Unused"], ["energy", "usage of Unused"]])
@pytest.mark.parametrize("count", [2, 500])
def test_a_memory_that_the_mapping_leaves_out_is_empty(spec, objectives, count):
    spec.arch.nodes.insert(1, memory("Unused", 500, may_keep="All"))
    found = spec.explore({"arch.Unused.size": range(500, 500 + count)}, objectives)
    assert found.objectives["usage of Unused"].tolist() == [0] * count
    assert found.valid.all()


# --- values of careless programs ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "more"),
    [
        (np.int64(150), np.int64(5000), {"integer": True}),
        (np.float32(150), np.float32(5000), {}),
        (Fraction(301, 2), Fraction(5000), {"log": True}),
    ],
)
def test_ranges_of_other_numbers_are_kept_in_files(spec, tmp_path, low, high, more):
    given, plain = af.Range(low, high, **more), af.Range(float(low), float(high), **more)
    method = {"method": "random", "count": np.int64(9), "seed": np.int64(1)}
    found = spec.explore({"arch.Buffer.size": given}, file=tmp_path / "f", **method)
    assert found.parameters == spec.explore({"arch.Buffer.size": plain}, **method).parameters


@pytest.mark.parametrize(
    ("ends", "more", "said"),
    [
        ((-1e308, 1e308), {}, r"finite numbers, up to 1e\+307, not -1e\+308"),
        ((1, 10**400), {}, r"finite numbers, up to 1e\+307"),
        ((0, 2**70), {"integer": True}, r"numbers up to 4.5036e\+15, not from 0 to 1.18059e\+21"),
    ],
)
def test_ranges_that_float_cannot_count_are_refused(ends, more, said):
    with pytest.raises(ValueError, match=said):
        af.Range(*ends, **more)


def test_files_keep_truth_values_and_names_that_differ_in_case(load, texts, tmp_path):
    spec = load("variables: {X: 1, x: 2}\n" + texts.ARCH + texts.WORKLOAD + texts.MAPPING)
    axes = {"variables.X": [True, 3, "a"], "variables.x": [False]}
    for _ in range(2):
        found = spec.explore(axes, file=tmp_path / "f")
        assert [*map(repr, found.parameters["variables.X"])] == ["True", "3", "'a'"]
        assert [*map(repr, found.parameters["variables.x"])] == ["False"] * 3


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (["arch.Buffer.size", "arch.nodes[1].size"], r"nodes\[1\].size and arch.Buffer.size are"),
        (["arch.Buffer.name.0"], "arch.Buffer.name.0: there is no 0"),
        (["arch.²"], "arch.²: there is no '²'"),
    ],
)
def test_paths_to_no_number_of_their_own_are_refused(spec, paths, said):
    with pytest.raises(KeyError, match=said):
        spec.explore({path: [1000] for path in paths})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"time_limit": "5"}, "time_limit is a positive number of seconds, not '5'"),
        ({"executor": 4}, "executor has the methods of concurrent.futures, unlike 4"),
        ({"objectives": None}, "objectives are one or more names"),
        ({"objectives": [["energy"]]}, r"\['energy'\] is no objective"),
    ],
)
def test_arguments_of_other_types_are_refused(spec, more, said):
    with pytest.raises(ValueError, match=said):
        spec.explore({"arch.Buffer.size": [5000]}, **more)


def test_a_front_takes_one_name_and_tells_why_it_is_empty(spec):
    found = spec.explore({"arch.Buffer.size": [1, 5000]})
    assert found.front("energy") == found.front(["energy"]) == [1]
    with pytest.raises(ValueError, match="name one or more objectives; there are: energy, lat"):
        found.front([])
    assert "its size is only 1 bits" in str(spec.explore({"arch.Buffer.size": [1]}))
