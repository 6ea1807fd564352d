# SPDX-License-Identifier: BSD-3-Clause
"""Plots show the numbers of the results, each row of them, with names and units."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest

import accelforge as af
from accelforge.mapper.FFM.mappings import Mappings
from accelforge.plotting.figures import fit, label_axis, make_axes
from accelforge.plotting.mappings import (
    _in_one_order,
    plot_action_breakdown,
    plot_energy_breakdown,
    plot_energy_comparison,
    plot_front,
    plot_latency_breakdown,
    plot_latency_comparison,
    plot_memory_usage_breakdown,
)
from accelforge.plotting.roofline import plot_result_roofline, plot_roofline
from accelforge.plotting.skislope import generate_ski_slope, plot_step
from accelforge.plotting.specs import plot_area

pytest.importorskip("matplotlib", reason="plots need matplotlib (extra plot)").use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True, scope="module")
def fonts():
    """Let matplotlib open its fonts, which it keeps open, before tests look at open files."""
    _, axis = pyplot.subplots()
    axis.loglog([1, 10], [1, 10])
    axis.set_title("$a$ a")
    axis.get_figure().canvas.draw()
    pyplot.close("all")


@pytest.fixture(autouse=True)
def closed(tmp_path, monkeypatch):
    """Close figures; nothing may be written to the working directory."""
    folder = tmp_path / "working"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield
    pyplot.close("all")
    assert list(folder.iterdir()) == []


def bars(axis):
    """Return the height of each part of each bar, by place on the x axis."""
    found = {}
    for patch in axis.patches:
        if patch.get_height():
            place = round(patch.get_x() + patch.get_width() / 2, 3)
            found.setdefault(place, []).append(patch.get_height())
    return found


def heights(axis):
    """Return the height of each bar by its name, in the order of the picture."""
    found = bars(axis)
    places = [round(place, 3) for place in axis.get_xticks()]
    names = [text.get_text() for text in axis.get_xticklabels()]
    return [(name, sum(found.get(place, []))) for name, place in zip(names, places, strict=True)]


# --- breakdowns ---------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["bare", "list", "generator"])
def test_bars_are_the_energies(one, given):
    mappings = {"bare": one, "list": [one], "generator": (m for m in [one])}[given]
    figure, axes = plot_energy_breakdown(mappings, ["component"])
    assert axes[0].get_figure() is figure
    assert len(axes) == 1
    assert dict(heights(axes[0])) == pytest.approx(one.energy(per_component=True))
    assert axes[0].get_ylabel() == "Energy"
    assert axes[0].get_legend() is None


def test_each_row_is_drawn(several):
    _, axes = plot_energy_breakdown([several, several[0]], ["component"], labels=["a", "b"])
    assert [axis.get_title() for axis in axes] == [
        "a, mapping 0",
        "a, mapping 1",
        "a, mapping 2",
        "b",
    ]
    for axis, row in zip(axes, [*(several[i] for i in range(3)), several[0]], strict=True):
        assert dict(heights(axis)) == pytest.approx(row.energy(per_component=True))


def test_parts_of_bars_add_up(one):
    _, axes = plot_energy_breakdown(one, ["component"], ["tensor"])
    parts = bars(axes[0])
    place = dict(zip([n for n, _ in heights(axes[0])], axes[0].get_xticks(), strict=True))["Buffer"]
    want = [
        v for (c, _), v in one.energy(per_component=True, per_tensor=True).items() if c == "Buffer"
    ]
    assert sorted(parts[place]) == pytest.approx(sorted(v for v in want if v))
    names = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert names == ["no tensor", "Z", "B", "A"]


def test_groups_stand_together(chain):
    _, axes = plot_energy_breakdown(chain, ["einsum", "component"])
    want = chain.energy(per_component=True, per_einsum=True)
    got = heights(axes[0])
    assert [name for name, _ in got] == ["MainMemory", "GlobalBuffer", "MAC"] * 2
    groups = [text.get_text() for text in axes[0].texts]
    assert groups == ["Matmul0", "Matmul1"]
    for number, (component, height) in enumerate(got):
        assert height == pytest.approx(want[groups[number // 3], component])
    places = axes[0].get_xticks()
    assert places[3] - places[2] > places[1] - places[0]


def test_names_of_groups_without_room_are_part_of_the_names_of_bars(chain):
    _, axis = pyplot.subplots(figsize=(1.5, 2))
    plot_energy_breakdown(chain, ["einsum", "component"], ax=axis)
    assert heights(axis)[0][0] == "Matmul0, MainMemory"
    assert len(axis.texts) == 0


def test_actions_are_stacked_by_action(one):
    _, axes = plot_action_breakdown(one, ["component"])
    want = one.actions(per_component=True)
    for component, height in heights(axes[0]):
        assert height == sum(v for (c, _), v in want.items() if c == component)
    assert {text.get_text() for text in axes[0].get_legend().get_texts()} == {
        "read",
        "write",
        "compute",
    }
    assert axes[0].get_ylabel() == "Actions"
    assert plot_action_breakdown(one, ["component"], [])[1][0].get_legend() is None


def test_latencies(chain):
    _, axes = plot_latency_breakdown(chain, ["einsum", "component"], hide_zeros=True)
    want = [v for v in chain.latency(per_einsum=True, per_component=True).values() if v]
    assert [height for _, height in heights(axes[0])] == want
    assert axes[0].get_ylabel() == "Latency"


def test_bars_of_zero_are_left_out_if_asked(chain):
    names = [name for name, _ in heights(plot_latency_breakdown(chain, ["component"])[1][0])]
    assert "MainMemory" in names
    _, axes = plot_latency_breakdown(chain, ["component"], hide_zeros=True)
    assert [name for name, _ in heights(axes[0])] == ["MAC"]


def test_axes_of_the_user_take_all_rows(several):
    figure, axis = pyplot.subplots()
    got, axes = plot_energy_breakdown(several, ["component"], ax=axis)
    assert got is figure
    assert axes == [axis]
    assert len(heights(axis)) == 9
    assert [text.get_text() for text in axis.texts] == ["mapping 0", "mapping 1", "mapping 2"]
    plot_energy_breakdown(several[0], ["component"], ax=axis)
    assert [height for _, height in heights(axis)][9:] == pytest.approx(
        list(several[0].energy(per_component=True).values())
    )
    axis.set_yscale("log")
    figure.tight_layout()
    figure.canvas.draw()


def test_results_per_compute_of_one_einsum(chain):
    picked = chain.per_compute(per_einsum=True).access("Matmul1", col_idx=0, keep_key_index=True)
    for plot in (plot_energy_breakdown, plot_latency_breakdown, plot_action_breakdown):
        _, axes = plot(picked, separate_by=["component"], hide_zeros=True)
        assert heights(axes[0])


def test_the_same_part_has_the_same_color_everywhere(one, chain):
    _, axes = plot_energy_breakdown([one, chain], ["einsum"], ["component"])
    shown = {text.get_text() for text in axes[-1].get_legend().get_texts()}
    assert shown == {"Main", "Buffer", "MAC", "MainMemory", "GlobalBuffer"}
    macs = {
        patch.get_facecolor()
        for axis, result in zip(axes, (one, chain), strict=True)
        for patch in axis.patches
        for value in result.energy(per_einsum=True, per_component=True).items()
        if value[0][1] == "MAC" and patch.get_height() == pytest.approx(value[1])
    }
    assert len(macs) == 1


@pytest.mark.parametrize("count", [10, 20, 40])
def test_colors_differ(count):
    from accelforge.plotting.figures import colors_for

    assert len(set(colors_for([str(i) for i in range(count)]).values())) == count


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"separate_by": []}, "separate_by is empty"),
        ({"separate_by": ["level"]}, "separate_by takes einsum, component, .*not 'level'"),
        ({"stack_by": ["memory"]}, "stack_by takes"),
        ({"labels": ["a", "b"]}, "2 labels for 1 result: there is a label for each result"),
        ({"mappings": []}, "nothing to plot"),
        ({"mappings": ["a"]}, "expected Mappings, not str"),
    ],
)
def test_wrong_arguments_are_explained(one, change, error):
    arguments = {"mappings": one, "separate_by": ["component"], **change}
    with pytest.raises((ValueError, TypeError), match=error):
        plot_energy_breakdown(**arguments)


def test_results_without_details_are_no_empty_plot(spec):
    spec.model.metrics = af.Metrics.ENERGY | af.Metrics.LATENCY
    result = spec.evaluate_mapping()
    assert heights(plot_energy_comparison(result)[1])[0][1] == result.to_dict()["Total<SEP>energy"]
    for plot in (plot_energy_breakdown, plot_action_breakdown, plot_latency_breakdown):
        with pytest.raises(ValueError, match=r"no breakdown.*must contain ACTIONS"):
            plot(result, ["component"])


def test_a_word_stands_for_a_list(one):
    assert heights(plot_energy_breakdown(one, "component")[1][0])


# --- comparisons and memories -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["energy", "latency"])
def test_comparisons_have_a_bar_per_row(one, several, name):
    plot = {"energy": plot_energy_comparison, "latency": plot_latency_comparison}[name]
    _, axis = plot([several, one], labels=["tiles", "one"])
    want = [*getattr(several, name)(), getattr(one, name)()]
    names = ["tiles, mapping 0", "tiles, mapping 1", "tiles, mapping 2", "one"]
    assert heights(axis) == list(zip(names, want, strict=True))
    assert heights(plot(one)[1]) == [("mapping", want[-1])]
    assert [name for name, _ in heights(plot([one, one])[1])] == ["result 0", "result 1"]
    with pytest.raises(ValueError, match=f"no column Total<SEP>{name}"):
        plot(one.access("action"))


def test_fronts_have_a_point_per_mapping_with_units(several, one):
    figure, axis = plot_front([several, one], labels=["tiles", "one"])
    assert [tuple(map(list, line.get_data())) for line in axis.lines] == [
        (several.latency(), several.energy()),
        ([one.latency()], [one.energy()]),
    ]
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("Latency", "Energy")
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["one", "tiles"]
    figure.canvas.draw()
    for labels, unit in ((axis.get_xticklabels(), "s"), (axis.get_yticklabels(), "J")):
        assert all(text.get_text().endswith(unit) for text in labels)
    with pytest.raises(ValueError, match="no total 'area'; there are energy, latency"):
        plot_front(one, y="area")


def test_many_mappings_are_a_picture_that_a_screen_can_show(several):
    many = Mappings.concat([several] * 40)
    figure, axis = plot_energy_comparison(many)
    assert figure.get_figwidth() <= 16
    assert len(bars(axis)) == 120
    names = [text.get_text() for text in axis.get_xticklabels()]
    assert names[:2] == ["mapping 0", "mapping 2"]
    figure, axes = plot_energy_breakdown(Mappings.concat([several] * 5), ["component"], ["tensor"])
    assert len(axes) == 15
    assert figure.get_figwidth() < 25
    assert len({axis.get_ylim() for axis in axes}) == 1
    assert [bool(axis.get_ylabel()) for axis in axes] == [i % 6 == 0 for i in range(15)]
    assert [axis.get_legend() is not None for axis in axes] == [i == 5 for i in range(15)]


def test_numbers_below_an_axis_do_not_touch():
    figure, axes = make_axes(1, 1, 4.5)
    axes[0, 0].plot([131e-6, 131e-6], [0, 1], "o")
    label_axis(axes[0, 0].xaxis, "Latency", "s")
    fit(figure)
    figure.canvas.draw()
    texts = [text for text in axes[0, 0].get_xticklabels() if text.get_text()]
    boxes = [text.get_window_extent() for text in texts]
    assert len(boxes) > 2
    assert all(a.x1 + 5 < b.x0 for a, b in itertools.pairwise(boxes))


def test_bars_of_all_rows_have_one_order():
    def row(*names):
        return [(name, "", {"": 1.0}) for name in names]

    found = _in_one_order([row("DRAM", "MAC"), row("MAC", "Buffer", "DRAM")])
    assert [[bar[0] for bar in one] for one in found] == [
        ["DRAM", "MAC"],
        ["DRAM", "MAC", "Buffer"],
    ]


def test_usage_of_memories(chain, several):
    _, axes = plot_memory_usage_breakdown([chain], memory_levels=["GlobalBuffer"])
    assert axes.shape == (1, 1)
    got = dict(heights(axes[0, 0]))
    for einsum, height in got.items():
        want = sum(
            rows
            for name, rows in chain.items()
            if name.startswith(f"{einsum}<SEP>usage<SEP>memory<SEP>GlobalBuffer")
        )
        assert height == pytest.approx(want)
    assert axes[0, 0].get_title() == "GlobalBuffer"
    assert plot_memory_usage_breakdown(several)[1].shape == (1, 3)
    both = plot_memory_usage_breakdown([several], memory_levels=("Main", "Buffer"), labels=["x"])[1]
    assert both.shape == (2, 3)
    assert both[1, 2].get_title() == "x, mapping 2: Buffer"
    with pytest.raises(ValueError, match="no memory L2; there are Main, Buffer"):
        plot_memory_usage_breakdown(several, ["L2"])
    with pytest.raises(ValueError, match="DETAILED_MEMORY_USAGE"):
        plot_memory_usage_breakdown(several.access("energy"))


# --- specifications, rooflines, stairs ----------------------------------------------------------


def test_area(spec, chain):
    costed = spec.calculate_component_costs()
    _, axis = plot_area([costed, costed], labels=["a", "b"])
    assert heights(axis) == [("a", 3.0), ("b", 3.0)]
    assert axis.get_ylabel() == "Area (mm²)"
    assert heights(plot_area(costed)[1]) == [("design 0", 3.0)]
    _, mine = pyplot.subplots()
    assert plot_area([costed], ax=mine)[1] is mine
    tpu = af.Spec.from_yaml(af.examples.arches.tpu_v4i, af.examples.workloads.basic.matmuls)
    tpu.arch["LocalBuffer"].area = None
    with pytest.raises(ValueError, match="calculate_component_costs"):
        plot_area(tpu)


def test_roofline():
    _, axis = plot_roofline(10.0, 200.0)
    assert axis.lines[0].get_xydata().tolist() == [[0, 0], [20, 200], [40, 200]]
    assert axis.get_xlabel().startswith("Computational intensity")
    _, axis = plot_roofline(10.0, 200.0, 1, 10)
    assert axis.lines[0].get_xydata().tolist() == [[1, 10], [10, 100]]
    assert axis.get_xscale() == "log"
    _, axis = plot_roofline(10.0, 200.0, 30, 50)
    assert axis.lines[0].get_xydata().tolist() == [[30, 200], [50, 200]]
    for wrong in ((0, 1), (1, float("inf")), (1, 1, 5, 2), (1, 1, -1)):
        with pytest.raises(ValueError, match=r"positive number"):
            plot_roofline(*wrong)


def test_each_roof_is_seen(one):
    _, axis = plot_result_roofline(one)
    low, high = axis.lines[0].get_xdata()
    for roof in axis.lines[1::2]:
        start, ridge = roof.get_xdata()
        assert low <= start < ridge / 2
        assert ridge <= high


def test_stairs_reach_the_edge():
    axis = plot_step([1, 10], [100, 5], label="x")
    assert axis.lines[0].get_drawstyle() == "steps-post"
    assert axis.lines[1].get_xdata()[1] == axis.get_xlim()[1] > 10
    assert axis.get_xscale() == axis.get_yscale() == "log"
    plot_step([1, 1e6], [1, 2], axis)
    ends = [axis.lines[1].get_xdata()[1], axis.lines[3].get_xdata()[1]]
    assert ends == [axis.get_xlim()[1]] * 2
    alone = plot_step([3], [4], pyplot.subplots()[1])
    assert alone.lines[1].get_xdata()[1] > 3
    with pytest.raises(ValueError, match="as many x values as y values"):
        plot_step([], [])


def test_ski_slopes_fall_to_what_must_be_moved_once():
    _, axis = pyplot.subplots()
    settings = {"N_EINSUMS": 1, "M": 4, "KN": 4}
    workload = af.examples.workloads.basic.matmuls
    got = generate_ski_slope(
        workload, ["Matmul0"], settings, ax=axis, y_normalizer=8.0, label="4 x 4"
    )
    assert got is axis
    xs, ys = axis.lines[0].get_xydata().T.tolist()
    assert xs == sorted(xs)
    assert ys == sorted(ys, reverse=True)
    # Three tensors of 4 x 4 values of 8 bits; the smallest buffer has room for a value of each.
    assert ys[-1] == 3 * 16
    assert xs[0] == pytest.approx(3 * 8)
    assert axis.lines[0].get_label() == "4 x 4"


# --- without matplotlib -------------------------------------------------------------------------


def test_matplotlib_is_imported_late():
    code = """
import sys
import accelforge.plotting
from accelforge.plotting import mappings, roofline, skislope, specs
print([name for name in ("matplotlib", "pandas") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=100
    )
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_without_matplotlib_the_error_says_what_to_install(one, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    calls = (
        lambda: plot_energy_breakdown(one, ["component"]),
        lambda: plot_roofline(1.0, 1.0),
        lambda: plot_step([1], [1]),
    )
    for call in calls:
        with pytest.raises(ImportError, match=r"Plotting needs matplotlib.*offchip\[plot\]"):
            call()


def test_results_without_rows(one):
    empty = Mappings(one.spec, ["Z"], columns={name: [] for name in one.columns})
    with pytest.raises(ValueError, match="no rows"):
        plot_energy_breakdown(empty, ["component"])
    assert "0 mappings" in repr(empty)
