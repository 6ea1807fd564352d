# SPDX-License-Identifier: BSD-3-Clause
"""Architectures: nodes, the way to a compute, costs."""

from __future__ import annotations

import math
import sys
import types

import pytest

import accelforge as af
from accelforge.frontend.arch import (
    Action,
    Arch,
    Array,
    Compute,
    Container,
    Fork,
    Hierarchical,
    Leaf,
    Memory,
    Toll,
)
from accelforge.util.exceptions import EvaluationError


@pytest.fixture
def forked():
    """A fork with a compute of its own, and a nested hierarchy."""
    return Arch(
        nodes=[
            Memory(name="Main", size=8),
            Fork(nodes=[Memory(name="Side", size=8), Compute(name="Vector")]),
            Hierarchical(nodes=[Container(name="PE", spatial=[{"name": "X", "fanout": 4}])]),
            Memory(name="Reg", size=8, spatial=[{"name": "Y", "fanout": 2}]),
            Compute(name="MAC"),
        ]
    )


@pytest.mark.parametrize(
    ("compute", "way"),
    [
        ("MAC", ["Main", "PE", "Reg", "MAC"]),
        ("Vector", ["Main", "Side", "Vector"]),
        ("Nothing", ["Main", "PE", "Reg"]),
    ],
)
def test_the_way_to_a_compute(forked, compute, way):
    assert [node.name for node in forked._flatten(compute)] == way


def test_flattened_architectures_of_a_specification(forked):
    spec = af.Spec(arch=forked)._spec_eval_expressions()
    assert [way[-1].name for way in spec._get_flattened_architecture()] == ["Vector", "MAC"]
    way = spec._get_flattened_architecture("MAC")
    assert way["PE"].get_fanout() == 4
    assert way.is_above("Main", "Reg")
    with pytest.raises(KeyError, match="Side"):
        way["Side"]
    with pytest.raises(EvaluationError, match="there are: Vector, MAC"):
        spec._get_flattened_architecture("Nothing")
    with pytest.raises(AssertionError):
        af.Spec(arch=forked)._get_flattened_architecture()


def test_finding_nodes(forked):
    assert forked.find("Side") is forked["Side"]
    assert forked.find("Nothing", default=None) is None
    with pytest.raises(ValueError, match="there are: Main, Side, Vector"):
        forked.find("Nothing")
    with pytest.raises(KeyError, match="Nothing"):
        forked["Nothing"]
    assert forked["nodes"] is forked.nodes
    assert forked.is_above("Main", "Vector")
    assert not forked.is_above("Side", "MAC")
    assert forked.find_first_of_type_above(Memory, "MAC").name == "Reg"
    assert [leaf.name for leaf in forked.get_nodes_of_type(Compute)] == ["Vector", "MAC"]
    assert len(list(forked.get_nodes_of_type(Leaf))) == 6


def test_nodes_can_be_added(forked):
    forked.nodes.insert(0, Memory(name="Disk", size=math.inf))
    assert forked._flatten("MAC")[0].name == "Disk"


def test_finding_dimensions(forked):
    assert forked.find_spatial("X").fanout == 4
    node, spatial = forked.find_spatial("Y", return_spatialable=True)
    assert (node.name, spatial.fanout) == ("Reg", 2)
    with pytest.raises(ValueError, match="No spatial dimension"):
        forked.find_spatial("Z")
    forked["Reg"].spatial[0].name = "X"
    with pytest.raises(ValueError, match="Multiple spatials.*PE, Reg"):
        forked.find_spatial("X")


def test_names_are_unique():
    with pytest.raises(ValueError, match="Duplicate name X"):
        Arch(nodes=[Memory(name="X", size=8), Fork(nodes=[Compute(name="X")])])


def test_an_array_has_no_forks():
    with pytest.raises(EvaluationError, match="no forks"):
        Array(name="A", nodes=[Fork(nodes=[])])


def test_actions_are_completed():
    memory = Memory(name="X", size=8, actions=[{"name": "write", "energy": 3}])
    assert [action.name for action in memory.actions] == ["write", "read"]
    assert [action.name for action in Toll(name="T", direction="up").actions] == ["read"]
    assert [action.name for action in Compute(name="C").actions] == ["compute"]


def test_latency_becomes_throughput():
    with pytest.warns(DeprecationWarning, match="throughput"):
        assert Action(name="read", latency=4).throughput == 0.25
    with pytest.warns(DeprecationWarning, match="throughput"):
        assert Action(name="read", latency=0).throughput == math.inf
    with pytest.warns(DeprecationWarning, match="throughput_scale"):
        memory = Memory(name="X", size=8, latency_scale="x", actions=[{"name": "read"}])
    spec = af.Spec(arch={"nodes": [memory]}, variables={"x": 4})
    assert spec._spec_eval_expressions().arch["X"].throughput_scale == 0.25
    with pytest.raises(ValueError, match="say the same"):
        Memory(name="X", size=8, latency_scale=2, throughput_scale=2)


def test_n_calls_outside_of_an_expression():
    with pytest.raises(RuntimeError, match="total_latency"):
        Action(name="read").n_calls  # noqa: B018


# --- costs --------------------------------------------------------------------------------------


def test_costs_are_scaled_and_multiplied(spec):
    arch = spec.arch
    arch.nodes.insert(1, Container(name="PE", spatial=[{"name": "X", "fanout": 4}]))
    buffer = arch["Buffer"]
    buffer.spatial = [{"name": "Y", "fanout": 2}]
    buffer.area, buffer.area_scale, buffer.n_parallel_instances = 10, 2, 3
    buffer.leak_power, buffer.leak_power_scale = 1, 0.5
    buffer.energy_scale, buffer.throughput_scale = 2, 5
    buffer.actions["read"].energy_scale = 3
    buffer.actions["read"].throughput = 7
    found = spec.calculate_component_costs().arch
    assert found["Buffer"].area == 60
    # Its own fan-out does not multiply it, only what is above.
    assert found.per_component_total_area == {"Main": 3, "Buffer": 240, "MAC": 0}
    assert found["Buffer"].total_leak_power == 1 * 0.5 * 3 * 4
    assert found["Buffer"].actions["read"].energy == 6
    assert found["Buffer"].actions["read"].throughput == 7 * 5 * 3
    assert found.total_area == 243
    assert found.total_leak_power == 8
    assert any("n_parallel_instances" in line for line in found["Buffer"].component_modeling_log)


def test_totals_need_costs(spec):
    with pytest.raises(ValueError, match="calculate_component_costs"):
        spec.arch.total_area  # noqa: B018
    with pytest.raises(ValueError, match="Leak power of Main"):
        spec.arch.total_leak_power  # noqa: B018


def test_only_some_costs(spec):
    del spec.arch["Main"].area
    with pytest.raises(EvaluationError, match=r"spec.arch.Main.component_class.*area is not given"):
        spec.calculate_component_costs()
    found = spec.calculate_component_costs(area=False)
    assert found.arch["Main"].total_area is None
    assert found.arch["Main"].total_leak_power == 2
    assert spec.calculate_component_costs("Z", False, False, False, False) is spec


def test_costs_of_an_evaluated_specification(spec):
    once = spec.calculate_component_costs()
    again = once.calculate_component_costs()
    assert again.arch["Main"].area == 3
    assert again.arch["Main"] is not once.arch["Main"]


def test_a_dummy_costs_nothing(spec):
    memory = Memory(name="Free", size=8, component_class="Dummy")
    spec.arch.nodes.insert(1, memory)
    found = spec.calculate_component_costs().arch["Free"]
    assert (found.area, found.leak_power) == (0, 0)
    assert (found.actions[0].energy, found.actions[0].throughput) == (0, math.inf)


def test_a_class_of_hwcomponents_is_asked(spec, monkeypatch):
    """A package of that name whose one class has numbers that are known."""

    def answer(value):
        return types.SimpleNamespace(value=value, messages=[f"says {value}"])

    class IntMAC:
        area, leak_power = 5, 7

        def try_call_arbitrary_action(self, action_name, _return_estimation_object, **attributes):
            assert (action_name, attributes["width"]) == ("compute", 8)
            return answer(types.SimpleNamespace(energy=11, throughput=13))

    package = types.ModuleType("hwcomponents")
    package.get_models = lambda *_, **__: [IntMAC]
    package.get_model = lambda name, attributes, **_: answer(IntMAC())
    monkeypatch.setitem(sys.modules, "hwcomponents", package)
    unit = spec.arch["MAC"]
    unit.component_class = "IntMAC"
    unit.extra_attributes_for_component_model = {"width": 8}
    unit.energy_scale = 2
    for name in ("energy", "throughput"):
        delattr(unit.actions["compute"], name)
    del unit.area
    found = spec.calculate_component_costs().arch["MAC"]
    assert (found.actions["compute"].energy, found.actions["compute"].throughput) == (22, 13)
    assert found.area == 5


def test_the_method_with_latencies(spec):
    found = spec.calculate_component_area_energy_latency_leak().arch["Main"]
    assert found.actions["read"].latency == 1 / 8
    assert found.area == 3


def test_components_calculate_their_own_costs():
    memory = Memory(name="X", size=8, area=3, leak_power=1, component_class="Dummy")
    found = memory.calculate_component_costs()
    assert found.actions["read"].energy == 0
    assert memory.actions["read"].energy is None
    assert memory.calculate_area(in_place=True) is memory
    assert memory.calculate_leak_power().leak_power == 1
    assert memory.calculate_action_energy().actions[0].energy == 0
    assert memory.calculate_action_throughput().actions[0].throughput == math.inf
    assert memory.populate_component_model().component_model is None


# --- per Einsum ---------------------------------------------------------------------------------


def test_fields_depend_on_the_einsum(load):
    spec = load(
        """
        workload:
          rank_sizes: {M: 8}
          bits_per_value: {All: 8}
          einsums:
          - {einsum: "Y[m] = X[m] * W[m]", renames: {weight: W, input: X}}
          - "Z[m] = Y[m]"
        renames: {einsums: [{name: default, tensor_accesses: {weight: Nothing, input: Inputs}}]}
        arch:
          nodes:
          - !Memory {name: Main, size: inf, tensors: {keep: ~weight}}
          - !Memory
            name: Reg
            size: weight.bits_per_value if weight else 0
            bits_per_value: {weight: 4, Other: input.bits_per_value}
            enabled: len(All) == 3
            tensors: {keep: weight, back: input, tensor_order_options: [[input, ~input]]}
            spatial: [{name: D, fanout: 2, reuse: weight, loop_bounds:
                       [{expression: ~m, operator: product<=, value: 1}]}]
          - !Toll {name: T, direction: {Outputs: up, Other: down}}
        """
    )
    y = spec._spec_eval_expressions("Y").arch
    z = spec._spec_eval_expressions("Z").arch
    assert (y["Reg"].size, z["Reg"].size) == (8, 0)
    assert (y["Reg"].enabled, z["Reg"].enabled) == (True, False)
    assert y["Reg"].bits_per_value == {"W": 4, "X": 8, "Y": 8}
    assert set(y["Reg"].tensors.keep) == {"W", "X"}
    assert set(y["Reg"].tensors.may_keep) == set()
    assert set(y["Main"].tensors.keep) == {"X", "Y"}
    assert set(y["Reg"].spatial[0].reuse) == set(y["Reg"].spatial[0].may_reuse) == {"W"}
    assert set(y["Reg"].spatial[0].loop_bounds[0].expression) == set()
    assert y["T"].direction == {"X": "down", "W": "down", "Y": "up"}


@pytest.mark.parametrize(
    ("direction", "message"),
    [
        ("sideways", "sideways.*not a direction"),
        ("{Inputs: up}", "no direction for Z"),
        ("{Inputs: up, All: down}", "overlap"),
        ("{Inputs: 3, Other: up}", "3.*not a direction"),
    ],
)
def test_wrong_directions(load, direction, message):
    spec = load(
        f"""
        workload: {{bits_per_value: {{All: 8}}, einsums: ["Z[m] = A[m]"]}}
        arch: {{nodes: [!Toll {{name: T, direction: {direction}}}]}}
        """
    )
    with pytest.raises(EvaluationError, match=rf"spec.arch.nodes.T.direction.*{message}"):
        spec._spec_eval_expressions("Z")


def test_orders_with_a_tensor_twice(load):
    spec = load(
        """
        workload: {bits_per_value: {All: 8}, einsums: ["Z[m] = A[m]"]}
        arch:
          nodes:
          - !Memory {name: X, size: 8, tensors: {tensor_order_options: [[All, Inputs]]}}
        """
    )
    with pytest.raises(EvaluationError, match="tensor_order_options.*twice"):
        spec._spec_eval_expressions("Z")


def test_values_per_action(load):
    spec = load(
        """
        workload: {bits_per_value: {All: 8}, einsums: ["Z[m] = A[m] * B[m]"]}
        arch:
          nodes:
          - !Memory
            name: X
            size: 8
            bits_per_action: 64
            values_per_action: {Outputs: 3}
            bits_per_value: {B: 4}
            actions:
            - {name: read, values_per_action: {A: 5}}
            - {name: write, bits_per_action: 24}
        """
    )
    node = spec._spec_eval_expressions("Z").arch["X"]

    def values(action, tensor):
        return node._get_values_per_action(action, tensor, 8)

    assert [values("read", t) for t in "ABZ"] == [5, 16, 3]
    assert [values("write", t) for t in "ABZ"] == [3, 6, 3]
