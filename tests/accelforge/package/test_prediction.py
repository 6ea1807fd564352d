# SPDX-License-Identifier: BSD-3-Clause
"""Kernels are predicted, measured and compared."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import accelforge as af
from accelforge import kernels
from accelforge.devices import HostFigures, host
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

FIGURES = HostFigures(1e9, 32768, 2**20, 2e11, 1e11, 1e11, 5e10, 1e10, 5e9)


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


def test_what_is_no_kernel_is_refused() -> None:
    with pytest.raises(TypeError, match="'gemv' is no Kernel; accelforge.kernels has functions"):
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
