# SPDX-License-Identifier: BSD-3-Clause
"""Results with several rows, and how they are shown."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from accelforge.mapper.FFM.mappings import Mappings
from accelforge.mapper.FFM.stacking import stack
from accelforge.util.units import with_unit

ENERGY = "Total<SEP>energy"


def test_every_number_has_a_value_per_row(several):
    singles = [several[i] for i in range(3)]
    assert len(several) == 3
    assert several.energy() == [row.energy() for row in singles]
    assert several.latency() == [row.latency() for row in singles]
    for name in ("energy", "latency"):
        by_component = getattr(several, name)(per_einsum=True, per_component=True)
        for key, values in by_component.items():
            assert values == [getattr(r, name)(True, True).get(key, 0.0) for r in singles]
    actions = several.actions(per_tensor=True)
    assert actions["Main", "B", "read"] == [
        row.actions(per_tensor=True)["Main", "B", "read"] for row in singles
    ]
    assert several.resource_usage()["Buffer"] == [r.resource_usage()["Buffer"] for r in singles]
    assert several.per_compute().energy() == pytest.approx(np.array(several.energy()) / 64)
    assert several.n_computes("Z") == several.n_computes() == 64
    assert several.energy(per_action=True).keys() == {"read", "write", "leak", "compute"}


def test_sums_over_no_column_are_zero_in_each_row(several):
    assert several.access("action").energy() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("call", ["mapping", "render"])
def test_what_needs_one_row_says_so(several, call):
    with pytest.raises(ValueError, match=r"there are 3 mappings.*say mappings\[i\]"):
        getattr(several, call)()
    assert str(getattr(several, call)(1)) == str(getattr(several[1], call)())
    assert str(getattr(several, call)(-1)) == str(getattr(several[2], call)())
    for wrong in (3, -4):
        with pytest.raises(IndexError, match=f"no number {wrong}"):
            getattr(several, call)(wrong)
    with pytest.raises(ValueError, match="was taken out"):
        getattr(several[0].drop("mapping"), call)()


@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_labels_of_rows_are_unique_and_sorting_works(several):
    pytest.importorskip("pandas")
    assert several.data.index.is_unique
    best = several.data[ENERGY].idxmin()
    assert best == 1
    assert several.data.iloc[best][ENERGY] == min(several.energy())
    rows = several.energy()
    several.data.sort_values(ENERGY, inplace=True)
    assert several.energy() == sorted(rows)
    assert several[0].energy() == min(rows)
    assert "tile_shape: 8" in several[0].mapping().to_yaml()


def test_iteration_gives_names_of_columns(several):
    assert list(several) == several.columns == list(several.data.columns)
    assert ENERGY in several
    assert list(several[ENERGY]) == several.to_dict()[ENERGY]
    assert dict(several.items()) == several.to_dict()


def test_columns_may_be_arrays(several):
    arrays = {name: np.array(several.to_dict()[name]) for name in (ENERGY,)}
    made = several._update(columns=arrays)
    assert made.to_dict()[ENERGY] == several.to_dict()[ENERGY]
    assert type(made.to_dict()[ENERGY][0]) is float
    with pytest.raises(ValueError, match=r"different numbers of rows: \[1, 2\]"):
        several._update(columns={"a": [1], "b": [1, 2]})


def test_components_used_in_one_row_only_stay(several):
    table = several.to_dict()
    for name in table:
        if "<SEP>Main<SEP>" in name and "reservation" not in name:
            table[name] = [0.0, 1.0, 0.0]
        elif "<SEP>MAC" in name:
            table[name] = [0.0] * 3
    kept = several._update(columns=table).drop_components_with_zero_energy_and_latency()
    assert set(kept.energy(per_component=True)) == {"Main", "Buffer"}


def test_results_can_be_pickled(several):
    copy = pickle.loads(pickle.dumps(several))
    assert copy.energy() == several.energy()
    assert copy.mapping(1).compact_str() == several.mapping(1).compact_str()


# --- putting rows together ----------------------------------------------------------------------


def test_what_a_part_does_not_have_is_zero():
    assert stack([{"a": [1, 2], "d": [3, 4]}, {"a": [5], "b": [6], "c": [7], "d": [8]}]) == {
        "a": [1, 2, 5],
        "b": [0, 0, 6],
        "c": [0, 0, 7],
        "d": [3, 4, 8],
    }
    assert stack([{"b": [1]}, {"a": [2]}]) == {"a": [0, 2], "b": [1, 0]}
    assert stack([]) == {}


def test_results_are_put_together(one):
    both = Mappings.concat([one, one])
    assert both.energy() == [one.energy()] * 2
    assert both.columns == one.columns
    assert both.total_mappings == 2
    assert both.spec is one.spec
    assert both.bounds is None
    limited = one._update(bounds={ENERGY: 3.0})
    assert limited[0].per_compute().bounds == Mappings.concat([limited]).bounds == {ENERGY: 3.0}
    with pytest.raises(ValueError, match="at least one"):
        Mappings.concat([])


# --- how results are shown ----------------------------------------------------------------------


def test_repr_is_one_line_with_units(one, several):
    assert repr(one).startswith("<Mappings: 1 mapping of Z, energy ")
    assert " kJ" in repr(one)
    assert "\n" not in repr(several)
    assert "3 mappings of Z" in repr(several)
    low, high = min(several.energy()), max(several.energy())
    assert f"energy {with_unit(low, 'J')} to {with_unit(high, 'J')}" in repr(several)
    assert repr(one.access("action")).startswith("<Mappings: 1 mapping of Z; ")


def test_html_of_one_mapping_has_components_and_the_picture(one):
    page = one._repr_html_()
    assert "<th" in page
    for text in ("Main", "Buffer", "MAC", "computations", ">64<", "busy for"):
        assert text in page
    assert with_unit(one.energy(), "J") in page
    assert page.endswith(one._repr_svg_())


def test_html_of_several_mappings_is_a_row_each(several):
    page = several._repr_html_()
    assert page.count("<tr>") == 4
    assert "Buffer used" in page
    assert "Main used" not in page
    assert several._repr_svg_() is None
    many = Mappings.concat([several] * 10)._repr_html_()
    assert many.count("<tr>") == 21
    assert "and 10 more mappings" in many


def test_html_of_picked_columns(one, several):
    assert "<svg" not in one.access("energy")._repr_html_()
    assert several.access("energy")._repr_html_() is not None


def test_html_escapes_names(load, texts):
    text = (texts.ARCH + texts.WORKLOAD + texts.MAPPING).replace("Buffer", '"B<b>"')
    page = load(text.replace('~"B<b>"', "All")).evaluate_mapping()._repr_html_()
    assert "B<b>" not in page
    assert "B&lt;b&gt;" in page


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 J"),
        (2.03e-5, "20.3 µJ"),
        (1, "1 J"),
        (-1500, "-1.5 kJ"),
        (999.6, "1 kJ"),
        (999.4, "999 J"),
        (1e-24, "1 yJ"),
        (1e30, "1.00e+30 J"),
        (4.19e6, "4.19 MJ"),
        (100, "100 J"),
        (float("inf"), "inf J"),
        (float("nan"), "nan J"),
    ],
)
def test_units(value, text):
    assert with_unit(value, "J") == text
