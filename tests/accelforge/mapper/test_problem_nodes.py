# SPDX-License-Identifier: BSD-3-Clause
"""Mappings that are found can be written as YAML, and read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("yaml")
pytest.importorskip("jinja2")

import accelforge as af
from accelforge.model.problem_nodes import mapping_of_nodes
from tests.accelforge.mapper.small import mac, memory, spec, toll

Nodes = list[dict[str, Any]]


def chain() -> af.Spec:
    """Return two Einsums; the second one has both rank variables of the first one's output."""
    return spec(
        memory("Main", keep="All"),
        toll("Link", keep="Inputs"),
        memory("Buffer", keep="All"),
        mac(spatial=[{"name": "X", "fanout": 2}]),
        einsums=["Y[m, n] = A[m, k] * B[k, n]", "Z[p, q] = Y[M: p, N: m] * C[m, q]"],
        rank_sizes={"M": 4, "N": 4, "K": 2, "P": 4, "Q": 2},
    )


def nodes(fused: Any) -> Nodes:
    def leaf(einsum: str, *variables: str) -> Nodes:
        return [
            *({"temporal": variable, "tile": 1} for variable in variables),
            {"compute": "MAC", "einsum": einsum},
        ]

    return [
        {"hold": "Main", "tensors": ["A", "B", "C", "Y", "Z"], "persistent": True},
        {"temporal": fused, "tile": 2},
        {"hold": "Link", "tensors": ["A", "B"]},
        {
            "sequential": [
                [
                    {"hold": "Buffer", "tensors": ["A"]},
                    {"spatial": "k", "tile": 1, "component": "MAC", "dim": "X"},
                    *leaf("Y", "m", "n"),
                ],
                leaf("Z", "p", "m", "q"),
            ]
        },
    ]


def read_again(given: af.Spec, mapping: af.Mapping, folder: Path) -> Nodes:
    file = folder / "found.yaml"
    text = mapping.to_yaml()
    file.write_text("mapping:\n" + "".join(f"  {line}\n" for line in text.splitlines()))
    given.mapping = af.Spec.from_yaml(file).mapping
    return given.to_problem()["mapping"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "fused",
    [
        pytest.param({"Y": "n", "Z": "q"}, id="a set of names is clear"),
        pytest.param({"Y": "m", "Z": "p"}, id="the second Einsum has both names"),
    ],
)
def test_a_mapping_is_the_same_after_it_was_written(fused: Any, tmp_path: Path) -> None:
    given = chain()
    variables = {e.name: frozenset(e.rank_variables) for e in given.workload.einsums}
    mapping = mapping_of_nodes(nodes(fused), frozenset({"Link"}), variables)
    assert read_again(given, mapping, tmp_path) == nodes(fused)


def test_one_name_for_all_is_a_name() -> None:
    mapping = mapping_of_nodes(nodes({"Y": "m", "Z": "m"}), (), {"Y": "mnk", "Z": "pqm"})
    assert mapping.loops[0].rank_variable == "m"


def test_loops_know_what_each_einsum_calls_them() -> None:
    mapping = mapping_of_nodes(nodes({"Y": "n", "Z": "q"}), (), {"Y": "mnk", "Z": "pqm"})
    assert mapping.loops[0].rank_variable == {"n", "q"}
    assert mapping.loops[0]._einsum_to_rank_variable == {"Y": "n", "Z": "q"}


def test_tolls_are_tolls() -> None:
    mapping = mapping_of_nodes(nodes("m"), {"Link"}, {})
    (found,) = mapping.get_nodes_of_type(af.mapping.Toll)
    assert found.component == "Link"
