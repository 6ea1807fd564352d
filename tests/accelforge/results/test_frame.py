# SPDX-License-Identifier: BSD-3-Clause
"""The table where pandas is not installed does what pandas does, or says what is missing."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from accelforge.mapper.FFM.frame import Frame

COLUMNS = {"a": [3.0, 1.0, 2.0], "b": [1, 1, 0], "c": ["x", "y", "z"]}


@pytest.fixture(params=["ours", "pandas"])
def frame(request):
    if request.param == "ours":
        return Frame(COLUMNS)
    return pytest.importorskip("pandas").DataFrame(COLUMNS)


def test_columns_and_rows(frame):
    assert list(frame) == list(frame.columns) == ["a", "b", "c"]
    assert len(frame) == 3
    assert frame.shape == (3, 3)
    assert not frame.empty
    assert "a" in frame
    assert "x" not in frame
    assert list(frame["a"]) == frame["a"].tolist() == [3.0, 1.0, 2.0]
    assert list(frame[["c", "a"]].columns) == ["c", "a"]
    assert frame.iloc[1]["c"] == "y"
    assert frame.iloc[-1]["c"] == "z"
    assert list(frame.iloc[:2]["a"]) == [3.0, 1.0]
    assert list(frame.iloc[[2, 0]]["c"]) == ["z", "x"]
    assert list(frame.head(1)["c"]) == ["x"]
    assert frame["a"].iloc[2] == 2.0
    with pytest.raises(KeyError):
        frame["nothing"]
    with pytest.raises(IndexError):
        frame.iloc[3]


@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_sorting_keeps_labels(frame):
    for order in (frame.sort_values("a"), frame.sort_values(["b", "a"])):
        assert sorted(order["a"]) == [1.0, 2.0, 3.0]
    assert list(frame.sort_values("a", ascending=False)["c"]) == ["x", "z", "y"]
    assert list(frame.sort_values(["b", "a"])["c"]) == ["z", "y", "x"]
    assert list(frame["c"]) == ["x", "y", "z"]
    assert frame.sort_values("a", inplace=True) is None
    assert list(frame["c"]) == ["y", "z", "x"]
    assert list(frame.index) == [1, 2, 0]
    assert frame["a"].idxmin() == 1
    assert frame["a"].argmin() == 0
    assert frame["a"].idxmax() == 0
    assert frame.loc[frame["a"].idxmin()]["c"] == "y"
    assert frame["a"][0] == 3.0
    assert list(frame.loc[[0, 1]]["c"]) == ["x", "y"]
    with pytest.raises(KeyError):
        frame.loc[7]


def test_arithmetic(frame):
    a = frame["a"]
    assert list(a * 2 + 1) == [7.0, 3.0, 5.0]
    assert list(1 - a) == [-2.0, 0.0, -1.0]
    assert list(6 / a) == [2.0, 6.0, 3.0]
    assert list(a / frame["a"]) == [1.0] * 3
    assert list(a - [1, 1, 1]) == [2.0, 0.0, 1.0]
    assert (a.min(), a.max(), a.sum(), a.mean(), a.argmax()) == (1.0, 3.0, 6.0, 2.0, 0)
    assert list(frame[a >= 2]["c"]) == ["x", "z"]
    assert list(frame[frame["c"] == "y"]["a"]) == [1.0]
    assert (np.asarray(a) == [3.0, 1.0, 2.0]).all()
    assert np.min(np.array(a, dtype=np.float32)) == 1.0
    with pytest.raises(ValueError):
        a + [1, 2]


def test_changes(frame):
    copy = frame.copy()
    copy["d"] = copy["a"] * 2
    copy["e"] = 0
    assert list(copy["d"]) == [6.0, 2.0, 4.0]
    assert list(copy["e"]) == [0, 0, 0]
    assert list(frame.columns) == ["a", "b", "c"]
    assert list(copy.drop(columns=["a", "b"]).columns) == ["c", "d", "e"]
    assert list(copy.drop(columns="a").columns) == ["b", "c", "d", "e"]
    with pytest.raises(KeyError):
        copy.drop(columns="x")
    with pytest.raises(ValueError):
        copy["f"] = [1, 2]


def test_dictionaries_and_loops(frame):
    assert frame.to_dict(orient="list") == COLUMNS
    assert frame.to_dict()["a"] == {0: 3.0, 1: 1.0, 2: 2.0}
    assert frame.to_dict("records")[1] == {"a": 1.0, "b": 1, "c": "y"}
    assert [(label, row["c"]) for label, row in frame.iterrows()] == [(0, "x"), (1, "y"), (2, "z")]
    assert [(name, list(column)) for name, column in frame.items()] == list(COLUMNS.items())
    assert list(pickle.loads(pickle.dumps(frame))["c"]) == ["x", "y", "z"]
    assert "3" in repr(frame)
    assert "a" in repr(frame["a"])


def test_what_is_missing_names_pandas():
    frame = Frame(COLUMNS)
    calls = (
        lambda: frame.groupby("a"),
        lambda: frame["a"].rolling(2),
        lambda: frame.to_dict("split"),
        lambda: frame.loc[0:1],
    )
    for call in calls:
        with pytest.raises(AttributeError, match=r"needs pandas.*offchip\[forge\]"):
            call()
    assert not hasattr(frame, "plot")
