# SPDX-License-Identifier: BSD-3-Clause
"""Mapspaces that differ in names only are searched once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("yaml")
pytest.importorskip("jinja2")

from accelforge.mapper.FFM.canonical import bytes_of, text_of, with_plain_names
from accelforge.mapper.FFM.group import PmappingGroup
from accelforge.mapper.FFM.mapspace import list_mapspaces
from tests.accelforge.mapper.small import mac, memory, spec, toll

SIZES = {"M": 4, "K": 2, "P": 2, "Q": 4}


def spaces(*einsums: str, **fields: Any) -> list[dict[str, Any]]:
    dimension = {"name": "X", "fanout": 2, "may_reuse": "Inputs", "reuse": "Outputs"}
    given = spec(
        memory("Main", keep="All"),
        toll("Link", keep="Inputs"),
        memory(
            "Buffer",
            may_keep="All",
            no_refetch_from_above="Inputs",
            no_resend_to_below="Outputs",
            tensor_order_options=[["Inputs", "Outputs"]],
            tile_shape=[{"expression": "Outputs.rank_variables", "operator": "<=", "value": 2}],
        ),
        mac(spatial=[dimension]),
        einsums=einsums,
        **{"rank_sizes": {"M": 4, "K": 2, "P": 4, "Q": 2}, **fields},
    )
    return [space.mapspace for space in list_mapspaces(given)]


def text(mapspace: dict[str, Any]) -> str:
    return text_of(with_plain_names(mapspace)[0])


def test_other_names_give_the_same_text() -> None:
    first, second = spaces("Z[m] = A[m, k]", "ZZ[p] = AA[p, q]")
    assert first != second
    # k < m, and p < q: the order of names decides about ties, so it stays.
    assert text(first) != text(second)
    first, second = spaces("Z[m] = A[m, k]", "ZZ[q] = AA[q, p]", rank_sizes=SIZES)
    assert text(first) == text(second)


def test_other_sizes_give_another_text() -> None:
    first, second = spaces("Z[m] = A[m, k]", "ZZ[q] = AA[q, p]", rank_sizes={**SIZES, "P": 8})
    assert text(first) != text(second)


def test_bytes_tell_apart_what_texts_do() -> None:
    einsums = ("Z[m] = A[m, k]", "ZZ[q] = AA[q, p]", "ZZZ[p] = AAA[p, q]")
    plain = [with_plain_names(mapspace)[0] for mapspace in spaces(*einsums, rank_sizes=SIZES)]
    for first in plain:
        for second in plain:
            same = text_of(first) == text_of(second)
            assert (bytes_of(first) == bytes_of(second)) is same


def test_nothing_of_the_names_is_left() -> None:
    (mapspace,) = spaces("Tensor9[m] = Tensor8[m, k]")
    plain, names = with_plain_names(mapspace)
    assert "Tensor" not in text_of(plain)
    assert set(plain["problem"]["einsums"][0]["variables"]) == set(names.variables)
    assert names.tensors == {"t0": "Tensor8", "t1": "Tensor9"}
    assert names.variables == {"v0": "k", "v1": "m"}


def test_pmappings_get_the_names_back() -> None:
    (mapspace,) = spaces("Z[m] = A[m, k]")
    names = with_plain_names(mapspace)[1]
    group = PmappingGroup(
        einsum="e",
        nodes=(("hold", "Main", "t0"), ("temporal", "v1"), ("spatial", "MAC", "X", "v0")),
        objectives=np.zeros((1, 1)),
        tiles=np.ones((1, 2), np.int64),
        shared={"t0": ("Main", 0, np.zeros(1))},
        template=np.zeros(1, np.int32),
        full_tiles=[(2, 1)],
        templates=[
            [
                {"hold": "Main", "tensors": ["t0", "t1"]},
                {"temporal": "v1"},
                {"spatial": "v0", "component": "MAC", "dim": "X"},
                {"compute": "MAC", "einsum": "e"},
            ]
        ],
    )
    named = names.restore(group)
    assert named.einsum == "Z"
    assert named.nodes == (("hold", "Main", "A"), ("temporal", "m"), ("spatial", "MAC", "X", "k"))
    assert list(named.shared) == ["A"]
    assert len(named.templates) == 1
    assert named.templates == named.templates[:1]
    assert named.templates != group.templates
    assert named.mapping(0) == [
        {"hold": "Main", "tensors": ["A", "Z"]},
        {"temporal": "m", "tile": 2},
        {"spatial": "k", "component": "MAC", "dim": "X", "tile": 1},
        {"compute": "MAC", "einsum": "Z"},
    ]
