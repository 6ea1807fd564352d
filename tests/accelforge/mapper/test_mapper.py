# SPDX-License-Identifier: BSD-3-Clause
"""The mapper as programs call it: what it finds, says, and refuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("yaml")
pytest.importorskip("jinja2")

import accelforge as af
from accelforge.exceptions import MapperLimitWarning
from accelforge.mapper.FFM import (
    MultiEinsumPmappings,
    join_pmappings,
    make_pmappings,
    map_workload_to_arch,
    searches,
)
from accelforge.mapper.FFM.joining import _bounds
from accelforge.mapper.FFM.mapspace import list_mapspaces
from accelforge.mapper.FFM.search import search
from tests.accelforge.mapper.brute import best
from tests.accelforge.mapper.small import Terminal, chain_of, mac, memory, rows, spec
from tests.support.full import rest_if_full

E, L = af.Metrics.ENERGY, af.Metrics.LATENCY
EDP, USAGE = af.Metrics.ENERGY_DELAY_PRODUCT, af.Metrics.RESOURCE_USAGE
QUIET: dict[str, Any] = {"print_progress": False}


def matmul(buffer: float = 200, main: float = 10, **fields: Any) -> af.Spec:
    """Return a small matrix product, whose main memory is far away."""
    far = memory("Main", float("inf"), keep="All")
    for action in far.actions:
        action.energy = main
    near = memory("Buffer", buffer, may_keep="All")
    for action in near.actions:
        action.throughput = 4
    given = {"einsums": ["Z[m, n] = A[m, k] * B[k, n]"], "rank_sizes": {"M": 4, "N": 2, "K": 2}}
    return spec(far, near, mac(), **{**given, **fields})


def matmuls_alone() -> af.Spec:
    """Return a chain of matrix products that all meet in the main memory."""
    given = chain_of(2, size=2)
    given.arch["Main"].tensors.keep = "All"
    return given


# --- what it finds --------------------------------------------------------------------------------


@pytest.mark.parametrize(("fan_out", "latency"), [(1, 8), (4, 2)])
def test_the_outermost_memory_may_have_a_fan_out(fan_out: int, latency: int) -> None:
    far = memory("Main", float("inf"), keep="All")
    far.spatial = [{"name": "X", "fanout": fan_out}]
    given = spec(far, mac(), einsums=["Z[m] = A[m]"], rank_sizes={"M": 8})
    given.mapper.metrics = L
    assert given.map_workload_to_arch(**QUIET).latency(per_component=True)["MAC"] == latency


@pytest.mark.parametrize("buffer", rest_if_full([48, 1000, 24, 80], 2))
@pytest.mark.parametrize("main", [0.5, 3])
@pytest.mark.parametrize("metrics", [E, L, E | L])
def test_one_einsum_is_optimal(buffer: float, main: float, metrics: af.Metrics) -> None:
    given = matmul(buffer, main)
    given.mapper.metrics = metrics
    names = [name for name, metric in (("energy", E), ("latency", L)) if metrics & metric]
    expected = best(list_mapspaces(given)[0].mapspace, *names)

    result = given.map_workload_to_arch(**QUIET)
    table = result._table()
    found = sorted(zip(*(table[f"Total<SEP>{name}"] for name in names), strict=True))
    assert len(found) == len(expected)
    for mapping, best_one in zip(found, expected, strict=True):
        assert mapping == pytest.approx(best_one)


def test_the_product_of_energy_and_delay_is_optimal() -> None:
    given = matmul(48)
    given.mapper.metrics = EDP
    front = best(list_mapspaces(given)[0].mapspace, "energy", "latency")
    result = given.map_workload_to_arch(**QUIET)
    assert len(result) == 1
    assert result._table()["Total<SEP>energy_delay_product"] == pytest.approx(
        [min(energy * latency for energy, latency in front)]
    )


def test_einsums_that_share_nothing_below_add_up() -> None:
    given = matmuls_alone()
    given.mapper.metrics = E
    spaces = list_mapspaces(given)
    expected = sum(best(space.mapspace, "energy")[0][0] for space in spaces)
    assert given.map_workload_to_arch(**QUIET).energy() == pytest.approx(expected)


def test_fusion_is_better_than_none() -> None:
    fused, alone = chain_of(3), chain_of(3)
    alone.arch["Main"].tensors.keep = "All"
    for given in (fused, alone):
        given.mapper.metrics = E
    best_fused = fused.map_workload_to_arch(**QUIET)
    assert best_fused.energy() < alone.map_workload_to_arch(**QUIET).energy()
    held = [
        (node.component, tensor)
        for node in best_fused.mapping().get_nodes_of_type(af.mapping.Storage)
        for tensor in node.tensors
    ]
    assert ("Buffer", "T1") in held
    assert ("Main", "T1") not in held


def test_the_usage_of_memories_can_be_an_objective() -> None:
    given = matmul(1000)
    given.mapper.metrics = E | USAGE
    result = given.map_workload_to_arch(**QUIET)
    table = result._table()
    points = sorted(
        zip(
            table["Total<SEP>energy"],
            table["reservation<SEP>Buffer<SEP>-1<SEP>right"],
            strict=True,
        )
    )
    assert len(points) > 1
    assert [usage for _, usage in points] == sorted((u for _, u in points), reverse=True)


# --- what the result is ---------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, -1])
def test_a_mapping_evaluates_to_what_the_result_says(number: int, tmp_path: Path) -> None:
    given = chain_of(3)
    result = given.map_workload_to_arch(**QUIET)
    found = result[number]
    file = tmp_path / "mapping.yaml"
    text = found.mapping().to_yaml()
    file.write_text("mapping:\n" + "".join(f"  {line}\n" for line in text.splitlines()))
    given.mapping = af.Spec.from_yaml(file).mapping
    again = given.evaluate_mapping()
    for name in again.columns:
        if not name.endswith("mapping"):
            assert again._table()[name] == pytest.approx(found._table()[name]), name


def test_columns_are_those_of_an_evaluated_mapping() -> None:
    given = chain_of(2)
    given.mapper.metrics = E
    result = given.map_workload_to_arch(**QUIET)
    given.mapping = result.mapping()
    assert result.columns == given.evaluate_mapping().columns


def test_columns_without_detail() -> None:
    columns = map_workload_to_arch(chain_of(2), eval_in_detail=False, **QUIET).columns
    assert "Total<SEP>energy" in columns
    assert not [name for name in columns if "<SEP>action<SEP>" in name]


def test_rows_have_numbers_and_their_own_mappings() -> None:
    pytest.importorskip("pandas")
    result = chain_of(2, buffer=100).map_workload_to_arch(**QUIET)
    data = result.data
    assert list(data.index) == list(range(len(result)))
    mapping = data["Total<SEP>mapping"].iloc[0]()
    assert isinstance(mapping, af.Mapping)
    assert mapping.to_yaml() == result.mapping(0).to_yaml()
    assert isinstance(data["T1<SEP>mapping"].iloc[0](), af.Mapping)


def test_einsums_can_be_mapped_without_the_others() -> None:
    given = chain_of(3)
    result = given.map_workload_to_arch(einsum_names=["T2"], **QUIET)
    assert result.einsum_names == ["T2"]


def test_the_same_einsums_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    widths = []

    def counted(*args: Any, **kwargs: Any) -> Any:
        widths.append(kwargs["width"])
        return search(*args, **kwargs)

    monkeypatch.setattr(searches, "search", counted)
    map_workload_to_arch(chain_of(6), **QUIET)
    # The first and the last one differ from those between.
    assert widths.count(widths[0]) == 3


def test_bounds_are_only_of_what_was_not_finished() -> None:
    assert chain_of(2).map_workload_to_arch(**QUIET).bounds is None


# --- pmappings ------------------------------------------------------------------------------------


def test_pmappings_of_two_runs_combine() -> None:
    given = chain_of(2)
    runs = [
        make_pmappings(given, einsum_names=[name], can_combine_multiple_runs=True, **QUIET)
        for name in ("T1", "T2")
    ]
    joined = join_pmappings(runs[0] | runs[1], given.mapper.metrics, **QUIET)
    assert rows(joined) == rows(given.map_workload_to_arch(**QUIET))
    assert set(runs[0].einsum2pmappings) == {"T1"}, "the first run is changed"


def test_only_runs_that_are_meant_to_combine_do() -> None:
    pmappings = make_pmappings(chain_of(2), **QUIET)
    with pytest.raises(ValueError, match="can_combine_multiple_runs=True"):
        pmappings | pmappings


def test_einsums_without_pmappings_may_be_left_out() -> None:
    given = chain_of(2)
    pmappings = make_pmappings(given, einsum_names=["T1"], **QUIET)
    with pytest.raises(ValueError, match="Einsum T2 has no pmappings generated"):
        join_pmappings(pmappings, given.mapper.metrics, **QUIET)
    joined = join_pmappings(pmappings, given.mapper.metrics, require_all_einsums=False, **QUIET)
    assert joined.einsum_names == ["T1"]


def test_numbers_of_pmappings(capsys: pytest.CaptureFixture[str]) -> None:
    pmappings = make_pmappings(chain_of(2), print_number_of_pmappings=True, **QUIET)
    assert isinstance(pmappings, MultiEinsumPmappings)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["T1", "T2", "Total"]
    counts = [
        pmappings.n_total_pmappings(),
        pmappings.n_evaluated_pmappings(),
        pmappings.n_valid_pmappings(),
        pmappings.n_pareto_optimal_pmappings(),
    ]
    assert all(count > 0 for count in counts)
    assert pmappings.n_total_pmappings(per_einsum=True).keys() == {"T1", "T2"}
    assert 0 < pmappings.pmapping_keep_rates()["Pareto-optimal"] < 1
    assert pmappings.pmapping_keep_rates(per_einsum=True).keys() == {"T1", "T2"}


def test_einsums_can_be_dropped() -> None:
    pmappings = make_pmappings(chain_of(2), **QUIET)
    pmappings.drop_einsums("T2")
    assert pmappings.einsums_with_pmappings_generated == {"T1"}
    assert pmappings.n_total_pmappings(per_einsum=True).keys() == {"T1"}


def test_other_objectives_need_other_pmappings() -> None:
    given = chain_of(2)
    given.mapper.metrics = E
    pmappings = make_pmappings(given, **QUIET)
    with pytest.raises(ValueError, match=r"cannot be joined by latency"):
        join_pmappings(pmappings, E | L, **QUIET)


def test_a_folder_keeps_what_searches_found(tmp_path: Path) -> None:
    given = chain_of(3)
    first = rows(map_workload_to_arch(given, cache_dir=str(tmp_path), **QUIET))
    files = {file: file.stat() for file in tmp_path.iterdir()}
    assert len(files) == 3
    assert rows(map_workload_to_arch(given, cache_dir=str(tmp_path), **QUIET)) == first
    assert {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()} == {
        file: stat.st_mtime_ns for file, stat in files.items()
    }
    next(iter(files)).write_bytes(b"damaged")
    assert rows(map_workload_to_arch(given, cache_dir=str(tmp_path), **QUIET)) == first


# --- what it says ---------------------------------------------------------------------------------


def test_it_can_be_silent(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    chain_of(2).map_workload_to_arch(**QUIET)
    assert capfd.readouterr() == ("", "")


def test_it_shows_progress(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Terminal.seen(monkeypatch)
    map_workload_to_arch(chain_of(2), print_number_of_pmappings=True)
    said, errors = capfd.readouterr()
    assert "Total: " in said
    assert errors == ""
    assert "Einsum T1: " in screen.getvalue()
    assert "Searching Einsums" in screen.getvalue()


def test_one_bar_is_all(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal.seen(monkeypatch)
    map_workload_to_arch(chain_of(2), one_pbar_only=True, print_number_of_pmappings=True)
    assert capfd.readouterr() == ("", "")
    assert "Searching Einsums" in screen.getvalue()
    assert "Einsum T1: " not in screen.getvalue()


def test_nothing_is_written_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chain_of(2).map_workload_to_arch(**QUIET)
    assert list(tmp_path.iterdir()) == []


# --- what it refuses ------------------------------------------------------------------------------


def test_a_memory_that_is_too_small_is_named() -> None:
    given = matmul(buffer=20)
    given.arch["Buffer"].tensors.keep = "All"
    with pytest.raises(
        ValueError, match=r"Einsum Z has no pmappings: Buffer is too small: its size is 20 bits"
    ):
        given.map_workload_to_arch(**QUIET)


def test_costs_whose_sum_is_no_finite_number_are_a_reason() -> None:
    given = matmul()
    for action in given.arch["Main"].actions:
        action.energy = 1e308
    with pytest.raises(ValueError, match="Einsum Z has no .* has a finite energy and latency"):
        given.map_workload_to_arch(**QUIET)


def test_an_einsum_that_no_compute_is_enabled_for() -> None:
    given = matmul()
    given.arch["MAC"].enabled = "len(All) == 2"
    with pytest.raises(ValueError, match="Einsum Z has no pmappings: no compute is enabled"):
        given.map_workload_to_arch(**QUIET)


def test_actions_are_no_objective() -> None:
    given = matmul()
    given.mapper.metrics = af.Metrics.ACTIONS
    with pytest.raises(AssertionError, match="ACTIONS"):
        given.map_workload_to_arch(**QUIET)


def test_an_evaluated_specification_is_refused() -> None:
    with pytest.raises(AssertionError, match="calculate_component_costs"):
        matmul().calculate_component_costs().map_workload_to_arch(**QUIET)


# --- limits ---------------------------------------------------------------------------------------


def large() -> af.Spec:
    """Return a workload that takes a while."""
    given = af.Spec.from_yaml(
        af.examples.arches.tpu_v4i,
        af.examples.workloads.transformers.gpt.gpt3_6_7B,
        N_NEW_TOKENS=2048,
    )
    given.mapper.metrics = E | L
    return given


def test_a_limit_that_leaves_no_time() -> None:
    given = large()
    given.mapper.time_limit = 1e-9
    # Mappings that a first look has found by then are returned; without any, an error says so.
    found, message = None, ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = given.map_workload_to_arch(**QUIET)
        except ValueError as error:
            message = str(error)
    if found is None:
        assert "the mapper reached" in message
        return
    assert [item.category for item in caught] == [MapperLimitWarning]
    assert found.bounds is not None
    assert all(bound <= min(found[name]) for name, bound in found.bounds.items())


@pytest.mark.parametrize("memory", [float("inf"), 30e6])
def test_a_limit_ends_the_search(memory: float) -> None:
    given = large()
    given.mapper.time_limit = 1.5
    given.mapper.memory_limit = memory
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = given.map_workload_to_arch(**QUIET)
        except ValueError:
            pytest.skip("this machine finds nothing in that time")
    if result.bounds is None:
        pytest.skip("this machine is done before the limit")
    assert [w.category for w in caught] == [MapperLimitWarning]
    assert caught[0].filename == __file__
    for name, bound in result.bounds.items():
        assert min(result._table()[name]) >= bound


@pytest.mark.parametrize(("cost", "bound", "proven"), [(3.0, 3.0 - 1e-15, True), (3.0, 2.9, False)])
def test_a_limit_after_the_best_was_found_does_not_matter(
    cost: float, bound: float, proven: bool
) -> None:
    pmappings = SimpleNamespace(einsum2pmappings={"Z": []}, einsum2jobs={"Z": [unfinished(bound)]})
    joined = SimpleNamespace(complete=True, objectives=np.array([[cost]]))
    found = _bounds(pmappings, ["Z"], ["energy"], joined, E)  # type: ignore[arg-type]
    assert found == (None if proven else {"Total<SEP>energy": bound})


def unfinished(bound: float) -> SimpleNamespace:
    return SimpleNamespace(outcome=SimpleNamespace(complete=False, bound=[bound]))


CTRL_C = """
import threading, warnings
import accelforge as af
from accelforge.exceptions import MapperInterrupt
from tests.accelforge.mapper.test_mapper import large

try:
    large().map_workload_to_arch(one_pbar_only=True)
except MapperInterrupt as stopped:
    warnings.simplefilter("ignore")
    best = stopped.best()
    assert len(best) > 0 and all(bound > 0 for bound in best.bounds.values())
    print("interrupted", threading.active_count())
"""


def test_ctrl_c_ends_it_at_once_with_the_best_so_far() -> None:
    root = Path(__file__).resolve().parents[3]
    ours, theirs = os.openpty()
    with open(ours, "rb", buffering=0) as screen:
        process = subprocess.Popen(
            [sys.executable, "-c", CTRL_C],
            stdout=subprocess.PIPE,
            stderr=theirs,
            text=True,
            cwd=root,
        )
        os.close(theirs)
        # Every Einsum was searched when the second round begins.
        seen = b""
        while b"choices of tiles" not in seen:
            seen += screen.read(1 << 12)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=30)
    assert said in ("interrupted 1\n", "")
    assert process.returncode == 0


@pytest.mark.timeout(60)
def test_hardly_any_coarseness_finds_the_same() -> None:
    found = []
    for coarseness in (1, 1 + 1e-12):
        given = matmul(rank_sizes={"M": 7, "N": 5, "K": 3})
        given.mapper.explore_imperfect_temporal_loops = True
        given.mapper.tiling_coarseness = coarseness
        found.append(given.map_workload_to_arch(**QUIET).energy())
    assert found[0] == pytest.approx(found[1])
