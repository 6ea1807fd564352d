# SPDX-License-Identifier: BSD-3-Clause
"""Kernels are predicted, measured and compared."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest

import accelforge as af
from accelforge import kernels
from accelforge.devices import HostFigures, host
from accelforge.kernels import accl_calibration, accl_ranks
from accelforge.kernels.accl_calibration import time_calls
from accelforge.kernels.operations import INSTRUCTIONS, OPERATIONS, count_instructions
from accelforge.prediction import (
    Kernel,
    Measurement,
    Results,
    Row,
    compute,
    hold,
    loop,
    make_spec,
)

FIGURES = HostFigures(1e9, 32768, 2**20, 2e11, 1e11, 1e11, 5e10, 1e10, 5e9, 1.5e11, 32)


class Planted(Kernel):
    """A kernel of a thousand steps that is predicted to take a microsecond."""

    def __init__(self, seconds: float) -> None:
        super().__init__("planted <1>", "nothing is left out")
        self.seconds = seconds
        self.runs = 0

    def spec(self) -> af.Spec:
        nodes = [hold("L1", "A", "Z"), loop("i"), compute("FMA", "Z")]
        return make_spec(host(FIGURES), ["Z[i] = A[i]"], {"I": 1000}, 8, nodes)

    def run(self) -> Measurement:
        self.runs += 1
        return Measurement(self.seconds, "a guess")


def test_prediction_runs_nothing() -> None:
    kernel = Planted(1.0)
    (row,) = af.predict(kernel)
    assert row == Row("planted <1>", pytest.approx(1e-6), None, "FMA", "", "nothing is left out")
    assert row.error is None
    assert kernel.runs == 0


def test_measurement_is_compared_with_prediction() -> None:
    rows = af.measure([Planted(2e-6), Planted(0.8e-6)])
    assert [row.error for row in rows] == [pytest.approx(-0.5), pytest.approx(0.25)]
    assert rows.worst == pytest.approx(0.5)
    assert rows[0].source == "a guess"


def test_results_are_shown_as_text() -> None:
    lines = repr(af.measure([Planted(2e-6), Planted(0.8e-6)])).splitlines()
    assert lines == [
        "kernel       predicted  measured   error  limited by  measured in",
        "planted <1>       1 µs      2 µs  -50.0%  FMA         a guess",
        "planted <1>       1 µs    800 ns  +25.0%  FMA         a guess",
    ]
    assert "1 µs" in repr(af.predict(Planted(1.0)))
    assert repr(Results()).startswith("kernel")


def test_results_are_shown_as_html() -> None:
    html = af.measure(Planted(2e-6))._repr_html_()
    assert "<td>planted &lt;1&gt;</td>" in html
    assert html.count("<tr>") == 2


def test_plot_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match=r"nothing was measured; plot what accelforge.measure"):
        af.predict(Planted(1.0)).plot()
    if importlib.util.find_spec("matplotlib") is None:
        with pytest.raises(ImportError, match=r"offchip\[plot\]"):
            af.measure(Planted(1.0)).plot()


def test_plot_has_a_point_for_each_kernel() -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    ax = af.measure([Planted(2e-6), Planted(0.8e-6)]).plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["planted <1> -50%", "planted <1> +25%"]
    assert ax.yaxis.get_major_formatter()(1e-6) == "1 µs"
    assert {1e-6, 2e-6} <= set(ax.xaxis.get_major_locator()())
    # Without it, the label of the y axis is cut off.
    assert ax.figure.get_layout_engine() is not None


def test_what_is_no_kernel_is_refused() -> None:
    with pytest.raises(TypeError, match="'gemv' is not a Kernel; functions of accelforge.kernels"):
        af.measure(["gemv"])  # type: ignore[list-item]


# --- DPUs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_operations_take_the_instructions_of_the_table(name: str) -> None:
    assert count_instructions(OPERATIONS[name]) == pytest.approx(INSTRUCTIONS[name], abs=0.2)


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.dpu_gemv(),
        kernels.dpu_gemv(block=2),
        kernels.dpu_gemv(block=16, tile=8),
        kernels.dpu_reduction(),
        kernels.dpu_reduction(1 << 14, block=2),
        kernels.dpu_histogram(),
        kernels.dpu_scan(),
        kernels.dpu_scan(1 << 14, block=8),
        kernels.dpu_matmul(),
        kernels.dpu_matmul(16, 48, 64, tile=1),
        kernels.dpu_gemv(12, 256, tile=1, tasklets=12),
        kernels.dpu_scan(1 << 14, tasklets=4),
        kernels.dpu_histogram(3 << 12, tasklets=6),
    ],
    ids=lambda kernel: kernel.name,
)
def test_kernels_of_dpus_are_predicted_within_a_fifth(kernel: Kernel) -> None:
    rows = af.measure(kernel)
    assert rows.worst is not None
    assert rows.worst <= 0.2, rows
    assert rows[0].source.endswith(" simulated cycles")
    assert af.measure(kernel) == rows


def test_small_blocks_are_limited_by_transfers() -> None:
    assert af.predict(kernels.dpu_gemv(block=2))[0].bound == "MRAM"
    assert af.predict(kernels.dpu_gemv(block=256))[0].bound == "Pipeline"


def test_blocks_that_do_not_fit_are_refused_before_the_run() -> None:
    with pytest.raises(af.InvalidMappingError, match="of WRAM, but its size is only 24576 bits"):
        af.measure(kernels.dpu_gemv(block=512))


def test_wrong_result_of_a_dpu_is_an_error() -> None:
    kernel = kernels.dpu_matmul(16, 4, 16, tile=1)
    kernel.expected["C"] = np.zeros_like(kernel.expected["C"])
    with pytest.raises(RuntimeError, match="computed a wrong C on the DPU"):
        af.measure(kernel)


def test_sizes_that_tasklets_cannot_share_are_refused() -> None:
    with pytest.raises(ValueError, match="rows must be a multiple of 64, not 100"):
        kernels.dpu_gemv(100)
    with pytest.raises(ValueError, match="count must be a multiple of 2048, not 1000"):
        kernels.dpu_reduction(1000)
    with pytest.raises(ValueError, match="tasklets, tile and block must be 1 or more"):
        kernels.dpu_scan(tasklets=0)
    with pytest.raises(ValueError, match="1 to 24 tasklets, not 32"):
        kernels.dpu_matmul(32, tile=1, tasklets=32)


# --- the host ------------------------------------------------------------------------------------


def test_dgemm_is_predicted_from_figures_of_the_host() -> None:
    figures = HostFigures(6e10, 49152, 2 << 20, 3e11, 2e11, 2e11, 5e10, 2e10, 1e10, 2e11, 64)
    (row,) = af.predict(kernels.veo_dgemm(240, figures=figures))
    packing = 2 * 8 * 240**2 * (1 / 2e11 + 1 / 5e10)
    assert row.predicted == pytest.approx(240**3 / 6e10 + packing)
    assert row.bound == "L2, FMA"


@pytest.mark.parametrize("vector", [16, 32, 64])
def test_stencil_is_predicted_from_figures_of_the_host(vector: int) -> None:
    figures = HostFigures(6e10, 49152, 2 << 20, 3e11, 2e11, 2e11, 5e10, 2e10, 1e10, 1e11, vector)
    (row,) = af.predict(kernels.veo_stencil(64, 512, figures=figures))
    assert row.predicted == pytest.approx(9 * 8 * 64 * 512 / 1e11)
    assert row.bound == "L1"


@pytest.mark.parametrize(
    ("cache", "size", "rows"),
    [(2 << 20, 240, 64), (1 << 20, 192, 64), (512 << 10, 144, 60), (256 << 10, 96, 28)],
)
def test_kernels_of_the_host_fit_its_cache(cache: int, size: int, rows: int) -> None:
    figures = HostFigures(6e10, 32768, cache, 3e11, 2e11, 2e11, 5e10, 2e10, 1e10, 2e11, 32)
    dgemm, stencil = kernels.veo_dgemm(figures=figures), kernels.veo_stencil(figures=figures)
    assert (dgemm.size, stencil.shape) == (size, (rows, 512))
    assert len(af.predict([dgemm, stencil])) == 2
    # The next larger ones do not fit, unless these are as large as the defaults get.
    larger = []
    if size < 240:
        larger.append(kernels.veo_dgemm(size + 24, figures=figures))
    if rows < 64:
        larger.append(kernels.veo_stencil(rows + 4, figures=figures))
    for kernel in larger:
        with pytest.raises(af.util.exceptions.InvalidMappingError, match="bits of L2"):
            af.predict(kernel)


def test_allreduce_is_predicted_from_transfers_and_additions() -> None:
    sizes = (1024, 65536)
    # A microsecond and a nanosecond per byte; half of that.
    transfer = kernels.Timing(sizes, tuple(1e-6 + 1e-9 * size for size in sizes))
    addition = kernels.Timing(sizes, tuple(0.5e-6 + 0.5e-9 * size for size in sizes))
    figures = kernels.RankFigures(1e-6, transfer, addition)
    (small,) = af.predict(kernels.accl_allreduce(4096, figures=figures))
    assert small.predicted == pytest.approx(2e-6 + 1.5e-9 * 4096)
    # Half of the data is fetched, added, and sent.
    (large,) = af.predict(kernels.accl_allreduce(8192, figures=figures))
    assert large.predicted == pytest.approx(2e-6 + 2.5e-9 * 4096)
    (four,) = af.predict(kernels.accl_allreduce(8192, ranks=4, figures=figures))
    assert four.predicted == pytest.approx(2e-6 + 3 * 2.5e-9 * 2048)


def test_rates_are_those_between_the_nearest_sizes() -> None:
    timing = kernels.Timing((100, 200, 400), (2.0, 3.0, 7.0))
    assert timing.rate(50) == timing.rate(150) == pytest.approx(100)
    assert timing.rate(200) == timing.rate(1000) == pytest.approx(50)
    # The larger one was faster.
    assert 150 / kernels.Timing((100, 200), (3.0, 2.0)).rate(150) < 1e-9


@pytest.mark.parametrize(
    "kernel",
    [kernels.veo_dgemm(48), kernels.veo_stencil(8, 64), kernels.accl_allreduce(8192)],
    ids=lambda kernel: kernel.name,
)
def test_kernels_of_the_host_compute_what_they_should(kernel: Kernel) -> None:
    # Run times depend on what else the host does; docs/accelforge.md has figures.
    assert 0 < kernel.run().seconds < 10


def test_wrong_result_of_the_host_is_an_error() -> None:
    kernel = kernels.veo_dgemm(24)
    kernel.a = np.full_like(kernel.a, np.nan)
    with pytest.raises(RuntimeError, match="dgemm 24 computed something else than NumPy"):
        kernel.run()


def test_failing_ranks_are_reported() -> None:
    with pytest.raises(RuntimeError, match=r"ended with status 1:(.|\n)*unknown call nap"):
        time_calls(2, [("nap", 4)])


def test_ranks_that_take_too_long_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accl_calibration, "LIMIT", 0.01)
    with pytest.raises(RuntimeError, match=r"2 ranks of accl did not time 1 calls in 0.01 s: "):
        time_calls(2, [("barrier", 0)])


@pytest.mark.parametrize(
    ("barrier", "calls", "seconds"), [(1e-5, 50_000, 0.1), (0.02, 500, 1.0), (3.0, 100, 30.0)]
)
def test_calls_are_timed_for_a_time(
    monkeypatch: pytest.MonkeyPatch, barrier: float, calls: int, seconds: float
) -> None:
    # A clock that only they move.
    now, made = [0.0], [0]
    monkeypatch.setattr(accl_ranks, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    def wait() -> None:
        now[0] += barrier

    def call() -> None:
        now[0] += 1e-6
        made[0] += 1

    device = SimpleNamespace(allocate=np.zeros, barrier=wait, bcast=lambda array: None)
    assert accl_ranks.best(device, call) == pytest.approx(1e-6)
    assert made[0] == pytest.approx(calls, rel=0.01)
    assert now[0] == pytest.approx(seconds, rel=0.01)


def test_all_ranks_time_as_many_rounds_as_the_first_one() -> None:
    said, made = iter([1, 1, 0]), [0]

    def bcast(array: np.ndarray) -> None:
        array[0] = next(said)

    def call() -> None:
        made[0] += 1

    device = SimpleNamespace(allocate=np.zeros, barrier=lambda: None, bcast=bcast)
    accl_ranks.best(device, call)
    assert made[0] == 3 * accl_ranks.ROUNDS * accl_ranks.CALLS


def test_sizes_that_kernels_cannot_have_are_refused() -> None:
    with pytest.raises(ValueError, match="multiple of 24, not 100"):
        kernels.veo_dgemm(100)
    with pytest.raises(ValueError, match="columns must be a multiple of 32, not 100"):
        kernels.veo_stencil(4, 100)
    with pytest.raises(ValueError, match="rows must be a multiple of 4, not 6"):
        kernels.veo_stencil(6, 64)
    with pytest.raises(ValueError, match="2 ranks or more, not 1"):
        kernels.accl_allreduce(ranks=1)
    with pytest.raises(ValueError, match="multiple of 8, not 12"):
        kernels.accl_allreduce(12)


def test_there_are_ten_kernels() -> None:
    names = [kernel.name for kernel in kernels.list_kernels()]
    assert len(set(names)) == 10


# --- the mapper -----------------------------------------------------------------------------------


def test_mapper_finds_nothing_worse_than_what_a_program_does() -> None:
    kernel = kernels.dpu_gemv(64, 512, block=128)
    spec = kernel.spec()
    spec.mapper.metrics = af.Metrics.LATENCY
    found = spec.map_workload_to_arch(print_progress=False).latency()
    # Nothing is faster than the pipeline.
    fastest = 64 * 512 * 18 / 350e6
    assert fastest <= found * 1.0001
    assert found <= af.predict(kernel)[0].predicted * 1.0001
