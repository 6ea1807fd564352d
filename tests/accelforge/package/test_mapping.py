# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of mappings."""

from __future__ import annotations

import pytest

import accelforge as af
from accelforge.frontend.mapping import (
    Compute,
    Mapping,
    Nested,
    Pipeline,
    Reservation,
    Sequential,
    Spatial,
    Storage,
    Temporal,
    TilePattern,
    Toll,
)


@pytest.fixture
def mapping():
    return Mapping(
        nodes=[
            Storage(tensors=["A", "B"], component="Main"),
            Storage(tensors=["Z"], component="Main"),
            Reservation(purposes=["A", "B"], resource="Main"),
            Temporal(rank_variable="m", tile_shape=4),
            Spatial(rank_variable="n", tile_shape=1, name="X", component="PE"),
            Toll(tensors=["A"], component="NoC"),
            Sequential(
                nodes=[
                    Nested(nodes=[Compute(einsum="Y", component="MAC")]),
                    Nested(nodes=[Compute(einsum="Z", component="MAC")]),
                ]
            ),
        ]
    )


def test_nodes_of_a_class(mapping):
    assert [node.einsum for node in mapping.get_nodes_of_type(Compute)] == ["Y", "Z"]
    assert len(mapping.loops) == 2
    assert len(mapping.get_all_children()) == 11


def test_short_description(mapping):
    assert mapping.compact_str() == (
        "[A,B,Z in Main] A,B reserves Main T-m shape=4 S-X-n shape=1 [A in NoC] Sequential"
    )


def test_removing_nodes(mapping):
    mapping.remove_reservations()
    mapping.clear_nodes(Compute(einsum="Y"))
    assert not mapping.get_nodes_of_type(Reservation)
    mapping.clear_nodes(Temporal(rank_variable="m", tile_shape=4))
    assert len(mapping.loops) == 1


def test_splitting_nodes(mapping):
    mapping.split_tensor_holders_with_multiple_tensors()
    mapping.split_reservations()
    assert [node.tensor for node in mapping.get_nodes_of_type(Storage)] == ["A", "B", "Z"]
    assert [node.purpose for node in mapping.get_nodes_of_type(Reservation)] == ["A", "B"]


def test_irrelevant_tensors(mapping):
    mapping.clear_irrelevant_reservations({"B"})
    assert [node.tensors for node in mapping.get_nodes_of_type(Storage)] == [["B"]]
    assert not mapping.get_nodes_of_type(Toll)


def test_loops_of_several_einsums():
    loop = Temporal(rank_variable={"n", "m"}, tile_shape=4)
    mapping = Mapping(nodes=[loop])
    with pytest.raises(ValueError, match="T-m,n shape=4 does not say"):
        mapping.split_loop_with_multiple_rank_variables("E")
    loop._einsum_to_rank_variable["E"] = "n"
    mapping.split_loop_with_multiple_rank_variables("E")
    assert mapping.nodes[0].rank_variable == "n"


def test_loops_are_equal_by_value_and_hash_by_identity():
    first, second = (Temporal(rank_variable="m", tile_shape=4) for _ in range(2))
    assert first == second
    assert len({first, second}) == 2
    assert first != Temporal(rank_variable="m", tile_shape=2)
    assert first != Spatial(rank_variable="m", tile_shape=4)


def test_a_split_is_the_last_node_of_a_nest():
    with pytest.raises(ValueError, match="last node of a nest"):
        Nested(nodes=[Sequential(nodes=[]), Compute(einsum="Z", component="MAC")])


def test_one_tensor_or_an_error(mapping):
    with pytest.raises(ValueError, match="2 tensors"):
        mapping.nodes[0].tensor  # noqa: B018
    with pytest.raises(ValueError, match="2 purposes"):
        mapping.nodes[2].purpose  # noqa: B018


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (Storage(component="X"), Storage(component="Y"), "components differ"),
        (Storage(component="X"), Toll(component="X"), "do not merge"),
        (Temporal(tile_shape=1), Temporal(tile_shape=2), "tiles differ"),
        (Temporal(tile_shape=1), Spatial(tile_shape=1), "do not merge"),
        (Spatial(name="X"), Spatial(name="Y"), "dimensions differ"),
    ],
)
def test_nodes_that_do_not_merge(first, second, message):
    with pytest.raises(ValueError, match=message):
        first._merge(second)


def test_tile_patterns():
    pattern = TilePattern(tile_shape=4, initial_tile_shape=2, calculated_n_iterations=3)
    assert pattern._symbol_attrs() == TilePattern._fields  # AccelForge's own tests ask for it
    assert str(pattern) == "in [0..3) initial=2 shape=4"
    assert pattern.as_str(with_tile_shape=False) == "in [0..3) initial=2"
    assert pattern.update(tile_shape=8).tile_shape == 8
    loop = Temporal(rank_variable="m")
    loop.tile_pattern = pattern
    assert (loop.tile_shape, loop.calculated_n_iterations) == (4, 3)


def test_pictures(mapping, spec):
    text = mapping.render()
    assert text.startswith("<svg")
    for label in ("Main holds A, B", "for m: tiles of 4", "for n across X: tiles of 1"):
        assert label in text
    assert "tiles of 4" not in mapping.render(with_tile_shape=False)
    mapping.title = "Title <1>"
    assert "Title &lt;1&gt;" in mapping._repr_svg_()
    assert "Buffer" in spec.arch.render()
    assert "Z[m,n] = A[m,k] * B[k,n]" in spec.workload.render()
    assert "<svg" in Mapping(nodes=[Pipeline(nodes=[Compute(einsum="Z")])]).render()


def test_pictures_leave_out_loops_of_one_iteration(mapping):
    once, often = mapping.loops
    once.calculated_n_iterations, often.calculated_n_iterations = 1, 8
    text = mapping.render()
    assert "for m" not in text
    assert "for n across X: 8 tiles of 1" in text
    once.text = "a loop that has something to say"
    assert once.text in mapping.render()


def test_pictures_show_reservations_that_do_not_follow_what_holds_the_tensors(mapping):
    assert "reserved" not in mapping.render()
    mapping.nodes.insert(5, Reservation(purposes=["Z"], resource="Main"))
    assert "Main reserved for Z" in mapping.render()
    assert "reserved" not in mapping.render(with_reservations=False)
    mapping.nodes[5] = Reservation(purposes=["A"], resource="Buffer")
    mapping.nodes.insert(5, mapping.nodes.pop(2))
    assert "Main reserved for A, B" in mapping.render()
    assert "Buffer reserved for A" in mapping.render()


@pytest.mark.parametrize(
    ("pattern", "label"),
    [
        (TilePattern(4, 2, 3), "for m: 3 tiles of 4, the first of 2"),
        (TilePattern(4, 4, 3), "for m: 3 tiles of 4"),
        (TilePattern("symbol", None, None), "for m: tiles"),
        (TilePattern("2 * k", None, None), "for m: tiles of 2 * k"),
        (TilePattern("symbol", None, 2), "for m: 2 tiles"),
    ],
)
def test_labels_of_loops(pattern, label):
    loop = Temporal(rank_variable="m")
    loop.tile_pattern = pattern
    assert f">{label}<" in Mapping(nodes=[loop]).render()


def test_pictures_with_pydot(mapping):
    pytest.importorskip("pydot")
    graph = mapping.render_pydot()
    assert len(graph.get_nodes()) == 8
    assert len(graph.get_edges()) == 7


def test_the_name_of_the_class_of_the_root():
    assert af.Mapping is Mapping


# --- names that a mapping takes from elsewhere --------------------------------------------------


MISTAKEN = """
arch:
  nodes:
  - !Memory {name: Main, size: inf, leak_power: 0, area: 0, actions: [
      {name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Container {name: PE, spatial: [{name: X, fanout: 4}]}
  - !Compute {name: MAC, leak_power: 0, area: 0, actions: [
      {name: compute, energy: 1, throughput: 1}]}
workload:
  rank_sizes: {M: 4}
  bits_per_value: {All: 8}
  einsums:
  - "Z[m] = A[m]"
mapping:
  nodes:
  - !Storage {component: Main, tensors: [A, Z]}
  - !Spatial {rank_variable: m, tile_shape: 1, name: X, component: PE}
  - !Compute {einsum: Z, component: MAC}
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("component: PE", "component: P", 17, r"nodes.1.component.*P is no component .*: MAC, "),
        ("name: X, comp", "name: Y, comp", 17, r"nodes.1.name.*Y is no spatial dimension of PE"),
        (
            "{einsum: Z, component: MAC",
            "{einsum: Z, component: M",
            18,
            r"M is no compute of .*: MAC",
        ),
        ("{M: 4}", "{N: 4}", 13, r"einsums.Z.*rank variable m has no bounds"),
        ('  - "Z[m] = A[m]"', '  - "Z[m] = A[m]"\n  - "Y[m] = A[k]"', 14, "inconsistent ranks"),
    ],
)
def test_a_mistaken_name_is_found_in_its_line(tmp_path, old, new, line, reason):
    assert old in MISTAKEN
    file = tmp_path / "spec.yaml"
    file.write_text(MISTAKEN)
    assert af.Spec.from_yaml(file).evaluate_mapping().energy() > 0

    file.write_text(MISTAKEN.replace(old, new))
    with pytest.raises(Exception, match=reason) as caught:
        af.Spec.from_yaml(file).evaluate_mapping()
    assert f"spec.yaml, line {line})" in str(caught.value)


def test_a_tensor_of_another_workload_is_told(tmp_path):
    file = tmp_path / "spec.yaml"
    file.write_text(MISTAKEN.replace("[A, Z]}", "[A, Z, B]}"))
    told = r"spec.yaml, line 16: B is no tensor of the workload, so Main does not.*: A, Z$"
    with pytest.warns(UserWarning, match=told):
        af.Spec.from_yaml(file).evaluate_mapping()


def test_what_is_in_no_file_has_no_line(tmp_path):
    file = tmp_path / "spec.yaml"
    file.write_text(MISTAKEN)
    spec = af.Spec.from_yaml(file)
    spec.workload = af.Workload(einsums=["Z[m] = A[m]"], bits_per_value={"All": 8})
    with pytest.raises(af.EvaluationError, match=r"einsums.Z: the rank variable m has no bounds"):
        spec.evaluate_mapping()
