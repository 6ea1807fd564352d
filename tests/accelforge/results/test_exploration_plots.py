# SPDX-License-Identifier: BSD-3-Clause
"""Plots of explorations and rooflines of results show their numbers, with names and units."""

from __future__ import annotations

import numpy as np
import pytest

import accelforge as af
from accelforge.plotting import explorations, mappings
from accelforge.plotting.explorations import plot_front, plot_parallel_coordinates
from accelforge.plotting.roofline import plot_result_roofline
from tests.accelforge.results.test_plots import closed, fonts

__all__ = ["closed", "fonts"]


@pytest.fixture
def found(spec):
    spec.arch["Buffer"].area = "size * 1e-9"
    axes = {
        "arch.Buffer.size": [100, 150, 200, 300, 5000],
        "arch.Main.actions.read.energy": [1, 2],
        "mapping.nodes[1].tile_shape": [1, 2, 4, 8],
    }
    return spec.explore(axes, ["energy", "area", "usage of Buffer"])


def test_a_front_is_a_line_through_its_points(found):
    figure, axis = plot_front(found, "energy", "area")
    front = found.front(["energy", "area"])
    points = axis.collections[0].get_offsets()
    assert len(points) == found.valid.sum()
    x, y = axis.lines[0].get_data()
    assert x.tolist() == found.objectives["energy"][front].tolist()
    assert y.tolist() == found.objectives["area"][front].tolist()
    assert [line.get_drawstyle() for line in axis.lines] == ["steps-post", "default"]
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("Energy", "Area (m²)")
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert labels == ["points", f"front ({len(front)})"]
    figure.canvas.draw()
    assert axis.get_xticklabels()[0].get_text().endswith("J")


def test_axes_of_the_user_are_drawn_on(found):
    figure, axis = plot_front(found, y="energy")
    again, same = plot_front(found, ax=axis)
    assert (again, same) == (figure, axis)
    assert axis.get_ylabel() == "Area (m²)"


def test_numbers_that_span_much_have_logarithmic_axes_labelled_at_powers(found, monkeypatch):
    monkeypatch.setattr(explorations, "_WIDE", 1.0)
    _, axis = plot_front(found, "usage of Buffer", "energy")
    assert axis.get_yscale() == "log"
    assert type(axis.yaxis.get_minor_formatter()).__name__ == "NullFormatter"
    monkeypatch.setattr(explorations, "_WIDE", np.inf)
    _, axis = plot_front(found, "energy", "area")
    assert (axis.get_xscale(), axis.get_yscale()) == ("linear", "linear")


def test_each_point_of_the_front_is_a_line_across_all_axes(found):
    _, axis = plot_parallel_coordinates(found)
    columns = len(found.parameters) + len(found.objectives)
    lines = [line for line in axis.lines if len(line.get_xdata()) == columns]
    assert len(lines) == len(found.front())
    heights = np.array([line.get_ydata() for line in lines])
    assert heights.min() == 0
    assert heights.max() == 1
    names = [text.get_text() for text in axis.get_xticklabels()]
    assert names[0] == "Buffer\nsize"
    assert names[-1] == "usage of\nBuffer"
    _, axis = plot_parallel_coordinates(found, "area", front_only=False)
    more = [line for line in axis.lines if len(line.get_xdata()) == columns]
    assert len(more) == len(lines) + found.valid.sum()


def test_texts_are_places_of_an_axis(load, texts):
    spec = load("variables: {A: 1, B: 2}\n" + texts.ARCH + texts.WORKLOAD + texts.MAPPING)
    found = spec.explore({"arch.MAC.leak_power": ["A", "B"]}, ["energy", "latency"])
    _, axis = plot_parallel_coordinates(found, front_only=False)
    assert {"A", "B"} <= {text.get_text() for text in axis.texts}


def test_what_cannot_be_plotted_is_explained(spec, found):
    nothing = spec.explore({"arch.Buffer.size": [1, 2]})
    for plot in (plot_front, plot_parallel_coordinates):
        with pytest.raises(ValueError, match="no valid point to plot: .*Buffer"):
            plot(nothing)
    with pytest.raises(ValueError, match="two objectives, and one was explored"):
        plot_front(spec.explore({"arch.Buffer.size": [5000]}, "energy"))
    with pytest.raises(KeyError, match="'speed' was not explored"):
        plot_front(found, "speed")
    with pytest.raises(KeyError, match="'speed' was not explored"):
        plot_parallel_coordinates(found, "speed")


@pytest.mark.parametrize("plot", [plot_front, plot_parallel_coordinates])
def test_plots_of_results_are_named_where_one_is_given(spec, plot):
    with pytest.raises(TypeError, match=r"not Mappings; .* in accelforge\.plotting\.mappings"):
        plot(spec.evaluate_mapping())


def test_plots_of_results_say_what_they_expect(found):
    with pytest.raises(TypeError, match="expected Mappings, not Exploration"):
        mappings.plot_front(found)


def test_a_memory_that_limits_touches_its_roof(spec):
    for action in spec.arch["Buffer"].actions:
        action.throughput = 1e4
    for rate, limits in ((1e-2, True), (1e3, False)):
        for action in spec.arch["Main"].actions:
            action.throughput = rate
        result = spec.evaluate_mapping()
        _, axis = plot_result_roofline(result)
        drawn = {line.get_label(): line for line in axis.lines}
        assert {"MAC", "Main", "Buffer"} <= set(drawn)
        (x,), (y,) = drawn["Main"].get_data()
        busy = result.latency(per_component=True)
        assert drawn["MAC"].get_ydata().tolist() == pytest.approx([64 / busy["MAC"]] * 2)
        computes, moved = 64, sum(n for (c, _), n in result.actions().items() if c == "Main")
        assert x == pytest.approx(computes / moved)
        assert y == pytest.approx(computes / result.latency())
        roof = moved / busy["Main"]
        assert bool(y == pytest.approx(x * roof)) is limits


def test_rooflines_are_of_one_mapping(spec):
    one = spec.evaluate_mapping()
    with pytest.raises(ValueError, match="there are 2 mappings"):
        plot_result_roofline(type(one).concat([one, one]))
    spec.arch["MAC"].actions[0].throughput = "inf"
    with pytest.raises(ValueError, match="computations and memories that take time"):
        plot_result_roofline(spec.evaluate_mapping())


def test_plots_are_found_in_the_package():
    assert af.plotting.explorations.plot_front is plot_front
