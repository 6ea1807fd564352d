# SPDX-License-Identifier: BSD-3-Clause
"""The mapping of a result says how often loops iterate, and where memory is reserved."""

from __future__ import annotations

import pytest

import accelforge as af
from accelforge.frontend.mapping import Loop, Reservation, Split


def lines(node):
    """Describe the nodes of a nest, those of branches indented."""
    found = []
    for inner in node.nodes:
        if is_reserved(inner):
            found.append(f"{inner.resource}: {' '.join(inner.purposes)}")
        elif isinstance(inner, Loop):
            found.append(f"{inner.rank_variable} x {inner.calculated_n_iterations}")
        elif isinstance(inner, Split):
            found += [f"| {line}" for branch in inner.nodes for line in lines(branch)]
    return found


def is_reserved(node):
    return isinstance(node, Reservation)


@pytest.fixture
def shown(load, texts):
    """Evaluate a mapping, and describe that of the result."""

    def show(*nodes, workload=texts.WORKLOAD, arch=texts.ARCH):
        text = "".join(f"  - {node}\n" for node in nodes)
        spec = load(arch + workload + "mapping:\n  nodes:\n" + text)
        result = spec.evaluate_mapping()
        again = spec.model_copy()
        again.mapping = result.mapping()
        assert again.evaluate_mapping().energy() == result.energy()
        assert lines(again.evaluate_mapping().mapping()) == lines(result.mapping())
        assert not any(is_reserved(node) for node in spec.mapping.nodes)
        return lines(result.mapping())

    return show


def loop(variable, tile=1, **more):
    fields = "".join(f", {name}: {value}" for name, value in more.items())
    kind = "Spatial" if more else "Temporal"
    return f"!{kind} {{rank_variable: {variable}, tile_shape: {tile}{fields}}}"


def hold(component, *tensors):
    return f"!Storage {{component: {component}, tensors: [{', '.join(tensors)}]}}"


COMPUTE = "!Compute {einsum: Z, component: MAC}"
MAIN = hold("Main", "A", "B", "Z")


def test_reservations_stand_below_outermost_holders(shown):
    nodes = MAIN, loop("m"), loop("n"), loop("k"), COMPUTE
    assert shown(*nodes) == ["Main: A B Z", "m x 8", "n x 4", "k x 2"]


def test_reservations_sink_through_relevant_loops(shown):
    nodes = MAIN, hold("Buffer", "A"), loop("m", 2), loop("k"), loop("n"), loop("m"), COMPUTE
    assert shown(*nodes) == ["Main: A B Z", "m x 4", "k x 2", "Buffer: A", "n x 4", "m x 2"]


def test_only_the_last_of_several_tensors_sinks(shown):
    nodes = MAIN, hold("Buffer", "B", "A"), loop("m"), loop("n"), loop("k"), COMPUTE
    assert shown(*nodes) == ["Main: A B Z", "Buffer: B", "m x 8", "Buffer: A", "n x 4", "k x 2"]


def test_reservations_stop_above_other_holders(shown):
    nodes = MAIN, hold("Buffer", "A"), loop("m"), hold("Buffer", "B"), loop("k"), loop("n"), COMPUTE
    assert shown(*nodes) == ["Main: A B Z", "m x 8", "Buffer: A", "k x 2", "n x 4", "Buffer: B"]


def test_reservations_stop_below_partly_relevant_loops(shown):
    workload = """
workload:
  rank_sizes: {R: 3, H: 10}
  iteration_space_shape: {p: 0 <= p < 8}
  bits_per_value: {All: 8}
  einsums: ["Z[p] = A[H: p + r] * B[r]"]
"""
    nodes = MAIN, hold("Buffer", "A"), loop("p", 2), loop("p"), loop("r"), COMPUTE
    assert shown(*nodes, workload=workload) == [
        "Main: A B Z",
        "p x 4",
        "Buffer: A",
        "p x 2",
        "r x 3",
    ]


def test_reservations_sink_through_the_fanout_of_their_memory(shown, texts):
    arch = texts.ARCH.replace(
        "    name: Buffer\n", "    name: Buffer\n    spatial: [{name: X, fanout: 4}]\n"
    )
    spread = loop("n", 1, component="Buffer", name="X")
    nodes = MAIN, hold("Buffer", "A"), spread, loop("m"), loop("k"), COMPUTE
    assert shown(*nodes, arch=arch) == ["Main: A B Z", "n x 4", "m x 8", "k x 2", "Buffer: A"]


def test_ragged_loops_and_tiles_that_are_text(shown, load, texts):
    assert "m x 3" in shown(MAIN, loop("m", 3), loop("m"), loop("n"), loop("k"), COMPUTE)
    # The number that a text stands for is not known here.
    assert "m x None" in shown(MAIN, loop("m", "2 + 2"), loop("m"), loop("n"), loop("k"), COMPUTE)


def test_branches(chain):
    assert lines(chain.mapping()) == [
        "MainMemory: W0 W1 T0 T2",
        "GlobalBuffer: W0 W1",
        "m x 16",
        "GlobalBuffer: T0 T1 T2",
        "| n0 x 16",
        "| n1 x 16",
        "| n1 x 16",
        "| n2 x 16",
    ]
    assert "for m: 16 tiles of 1" in chain.render()


def test_the_specification_stays_as_it_is(one):
    before = one.spec.mapping.to_yaml()
    assert one.mapping() is not one.spec.mapping
    one.mapping().nodes.clear()
    assert one.spec.mapping.to_yaml() == before
    assert isinstance(one.mapping(), af.Mapping)
