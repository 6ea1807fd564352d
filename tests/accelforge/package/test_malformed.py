# SPDX-License-Identifier: BSD-3-Clause
"""Whatever a problem holds, it is evaluated, or a ProblemError says where it is wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accelforge._model import Model, ProblemError, evaluate
from accelforge._problem.tables import parse_path, path_text
from tests.accelforge.package import problems

GOOD = [problems.pe_array_gemm(), problems.fused_chain(3), problems.gated(), problems.convolution()]


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """List the paths of all parts."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, (dict, list)):
            yield from places(item, (*path, key))
        else:
            yield (*path, key)


PLACES = [(problem, path) for problem in GOOD for path in places(problem)]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "m", "A", "GLB", "inf", "read", "memory", "X", "Z", "E1", "T1", "+"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["m", "A", "hold", "compute", "name"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def try_out(problem: Any) -> None:
    try:
        result = evaluate(problem)
    except ProblemError:
        return
    if result.valid:
        assert math.isfinite(result.values[0])
    else:
        assert result.reason


@settings(max_examples=600, deadline=None)
@given(st.sampled_from(PLACES), JSON)
def test_any_part_may_be_anything(place: tuple[Any, Any], value: Any) -> None:
    try_out(problems.replaced(place[0], place[1], value))


@settings(max_examples=100, deadline=None)
@given(JSON)
def test_a_problem_may_be_anything(value: Any) -> None:
    try_out(value)


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (("einsums", 0, "levels", 1, "size"), math.nan, "einsums[0].levels[1].size"),
        (("einsums", 0, "levels", 1, "size"), "big", "einsums[0].levels[1].size"),
        (("einsums", 0, "levels", 1, "kind"), "cache", "einsums[0].levels[1].kind"),
        (("einsums", 0, "variables", "m"), 0, "einsums[0].variables.m"),
        (("einsums", 0, "tensors", 0, "projection", 1), "q", "einsums[0].tensors[0].projection[1]"),
        (("mapping", 1, "temporal"), "q", "mapping[1].temporal"),
        (("mapping", 1, "tile"), -1, "mapping[1].tile"),
        (("mapping", 6, "dim"), "Q", "mapping[6].dim"),
        (("mapping", 0, "hold"), "Nowhere", "mapping[0].hold"),
        (("mapping", 0), {"storage": "DRAM"}, "mapping[0]"),
        (("mapping",), [], "mapping"),
        (("parameters", "glb_bits"), ["einsums[0].levels[9].size"], "parameters.glb_bits"),
        (("version",), 2, ""),
        (("colour",), "red", ""),
    ],
)
def test_an_error_names_the_field(path: Any, value: object, where: str) -> None:
    with pytest.raises(ProblemError) as caught:
        Model(problems.replaced(problems.pe_array_gemm(), path, value))
    assert caught.value.path == where
    assert str(caught.value).startswith(where)


@pytest.mark.parametrize("path", ["n_instances", "a[0].b", 'a.b["c d"].e', 'a["\\"]"][12]'])
def test_paths_are_read_as_they_are_written(path: str) -> None:
    assert path_text(parse_path(path)) == path


@pytest.mark.parametrize("text", ["", "a..b", "a[", ".a", "[0]", 'a["\\q"]', "a[-1]", "a b"])
def test_other_texts_are_no_paths(text: str) -> None:
    assert parse_path(text) is None


def test_deep_nesting_is_refused() -> None:
    nodes: list[Any] = [{"compute": "MAC", "einsum": "Z"}]
    for _ in range(300):
        nodes = [{"sequential": [nodes]}]
    with pytest.raises(ProblemError, match="nested too deeply"):
        Model(problems.matvec(nodes))


def test_a_problem_survives_json() -> None:
    for problem in GOOD:
        again = json.loads(json.dumps(problem))
        assert evaluate(again).as_dict() == evaluate(problem).as_dict()
