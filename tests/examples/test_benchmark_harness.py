# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks' statistics and verdicts are right, and a missed target is seen."""

from __future__ import annotations

import importlib
import json
import os
import time
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def harness() -> ModuleType:
    return importlib.import_module("benchmarks.harness")


@pytest.fixture
def plot() -> ModuleType:
    return importlib.import_module("benchmarks.plot")


def test_sample_is_median_and_nearest_ranks(harness: ModuleType) -> None:
    sample = harness.Sample.of([float(value) for value in range(100, 0, -1)])
    assert (sample.median, sample.p25, sample.p75, sample.p99) == (50.5, 25.0, 75.0, 99.0)
    assert harness.Sample.of([3.0]) == harness.Sample(3.0, 3.0, 3.0, 3.0, 1)


def test_rate_keeps_quartiles_in_order(harness: ModuleType) -> None:
    rate = harness.Sample.of([1.0, 2.0, 4.0, 8.0]).map(lambda ns: 8 / ns)
    assert rate.p25 == 2.0
    assert rate.p75 == 8.0
    assert rate.p99 == 1.0


def test_batches_give_time_of_one_operation(harness: ModuleType) -> None:
    sizes = []
    sample = harness.batches(lambda n: (sizes.append(n), time.sleep(0.001)), 10, 3, warmup=1)
    assert sizes == [10] * 4
    assert sample.count == 3
    assert 1e5 <= sample.median < 1e6


def test_alternate_runs_in_turns(harness: ModuleType) -> None:
    order = []
    first, second = harness.alternate(
        lambda: order.append("a") or 1.0, lambda: order.append("b") or 2.0, 2
    )
    assert "".join(order) == "ababab"
    assert (first.median, first.count, second.median) == (1.0, 2, 2.0)


@pytest.mark.parametrize(
    ("value", "target", "met"),
    [
        (1.0, {"at_most": 1.0}, True),
        (1.1, {"at_most": 1.0}, False),
        (1.0, {"at_least": 1.0}, True),
        (0.9, {"at_least": 1.0}, False),
        (1.6, {"ratio_at_least": 0.8}, True),
        (1.5, {"ratio_at_least": 0.8}, False),
        (float("nan"), {"at_most": 1.0}, False),
        (float("nan"), {"ratio_at_least": 0.8}, False),
    ],
)
def test_target(
    harness: ModuleType,
    capsys: pytest.CaptureFixture[str],
    value: float,
    target: dict[str, float],
    met: bool,
) -> None:
    report = harness.Report("name", "question?")
    sample, two = harness.Sample.of([value]), harness.Sample.of([2.0])
    report.add("it", sample, "us", baseline=two, **target)
    assert report.rows[0]["met"] is met
    assert bool(report.missed) is not met
    assert ("MISSED" in capsys.readouterr().out) is not met


def test_json_holds_rows_and_environment(
    harness: ModuleType, plot: ModuleType, tmp_path: Path
) -> None:
    report = harness.Report("name", "question?")
    for x in (64, 1, 0):
        report.add("curve", harness.Sample.of([1.0]), "GB/s", x=x, more=3.0)
    report.add("single", harness.Sample.of([1.0]), "ms")
    report.skip("other", "no network")
    report.finish(tmp_path / "deep" / "result.json")
    document = json.loads((tmp_path / "deep" / "result.json").read_text())
    assert document["skipped"] == [{"what": "other", "reason": "no network"}]
    assert document["rows"][0]["more"] == 3.0
    assert document["environment"]["cores usable"].isdigit()
    found = plot.curves(document["rows"])
    assert list(found) == ["GB/s"]
    assert [row["x"] for row in found["GB/s"]["curve"]] == [1, 64]


def test_cpu_seconds_grow_with_work(harness: ModuleType) -> None:
    before, begin = harness.cpu_seconds(os.getpid()), time.process_time()
    while time.process_time() - begin < 0.02:
        pass
    assert 0.015 < harness.cpu_seconds(os.getpid()) - before < 5


@pytest.mark.parametrize("value", ["0.00034", "0.1234", "12.34", "1234", "123456"])
def test_numbers_keep_their_significant_digits(harness: ModuleType, value: str) -> None:
    assert harness._number(float(value)) == value


def test_rows_of_offsets_have_the_best_memcpy_as_baseline(harness: ModuleType) -> None:
    offsets = importlib.import_module("benchmarks.common.copy_offsets")
    report = harness.Report("test", "none")
    printed = (
        "heap read:65536:0:0\t1000 1000 9000\nheap read:65536:0:0+memcpy\t900 900 900\n"
        "heap read:65536:16:0\t2000 2000\nheap read:65536:16:0+memcpy\t20000 20000\n"
        "heap read:4096:0:0\t300\nheap read:4096:0:0+memcpy\t50\n"
    )
    offsets.report_offsets(report, printed, ratio=0.85, allowance_ns=150)
    worst, best, small = report.rows[:3]
    assert (worst["baseline"], worst["median"]) == (65536 / 900, 65536 / 2000)
    assert (worst["ratio"], worst["met"]) == (900 / 2000, False)
    assert worst["worst_memcpy"] == 65536 / 20000
    assert (best["ratio"], best["met"]) == (0.9, None)
    assert (small["median"], small["unit"], small["target"]) == (0.3, "us", "<= 0.2")
    assert small["met"] is False


def test_curves_that_belong_together_share_a_panel(plot: ModuleType) -> None:
    names = ["push-to 1", "push-to 64", "heap read", "heap read, worst offsets", "async write"]
    found = plot.panels({name: [] for name in names})
    assert {title: list(lines) for title, lines in found.items()} == {
        "push-to": ["1", "64"],
        "heap read": ["", "worst offsets"],
        "async write": [""],
    }


def test_ratio_may_be_given(harness: ModuleType) -> None:
    report = harness.Report("name", "question?")
    one, two = harness.Sample.of([1.0]), harness.Sample.of([2.0])
    report.add("it", one, "us", baseline=two, ratio=0.75, ratio_at_most=0.7)
    assert (report.rows[0]["ratio"], report.rows[0]["met"]) == (0.75, False)
