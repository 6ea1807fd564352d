# SPDX-License-Identifier: BSD-3-Clause
"""Objects with declared fields."""

from __future__ import annotations

import copy
import pickle

import pytest

import accelforge as af
from accelforge.frontend.arch import Action, Comparison, Compute, Memory, Spatial
from accelforge.frontend.workload import Einsum, TensorAccess
from accelforge.util.exceptions import EvaluationError, ValidationError


def test_fields_are_attributes_and_items():
    memory = Memory(name="X", size=8)
    assert memory["size"] == memory.size == 8
    memory["size"] = 16
    assert dict(memory)["size"] == 16
    assert "size" in memory
    assert "colour" not in memory
    with pytest.raises(KeyError, match="colour"):
        memory["colour"]


def test_deleting_a_field_brings_its_default_back():
    memory = Memory(name="X", size=8, area=3)
    del memory["area"]
    assert memory.area is None
    with pytest.raises(ValidationError, match="required"):
        del memory["size"]


def test_defaults_are_not_shared():
    first, second = Memory(name="X", size=8), Memory(name="Y", size=8)
    first.tensors.keep = "All"
    first.actions["read"].energy = 3
    assert second.tensors.keep != "All"
    assert second.actions["read"].energy is None


def test_assignment_is_checked():
    memory = Memory(name="X", size=8)
    with pytest.raises(ValueError, match="not supported for Memory"):
        memory.sise = 3
    with pytest.raises(ValidationError, match=r"in size.*list"):
        memory.size = [1]
    memory.spatial = [{"name": "X", "fanout": 4}]
    assert isinstance(memory.spatial["X"], Spatial)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Memory(name="X"), "size.*missing"),
        (lambda: Memory(name=3, size=3), "name.*text"),
        (lambda: Memory(name="X", size=True), "size.*number"),
        (lambda: Memory(name="X", size=None), "size.*number"),
        (lambda: Memory(name="X", size=3, actions=3), "actions.*list"),
        (lambda: Memory(name="X", size=3, actions=[3]), "actions.0.*mapping"),
        (lambda: Memory(name="X", size=3, tensors=3), "tensors.*mapping"),
        (lambda: Memory(name="X", size=3, skip_initial_output_write=3), "truth value"),
        (lambda: Comparison(expression="m", operator="!=", value=1), "operator.*=="),
        (lambda: af.Spec(mapper={"metrics": "SPEED"}), "mapper.metrics.*LATENCY"),
        (lambda: af.arch.Branch(), "abstract"),
        (lambda: af.arch.TensorHolder(name="X"), "abstract"),
        (lambda: af.mapping.Loop(rank_variable="m"), "abstract.*Spatial, Temporal"),
        (lambda: af.Arch(nodes=[{"name": "X"}]), "has no tag"),
        (lambda: TensorAccess(name="A", projection=["M"]), "lower case"),
        (lambda: Einsum(name="Total", tensor_accesses=[]), "reserved"),
        (lambda: af.Workload(n_instances="many"), "whole number"),
        (lambda: af.Workload(n_instances=1.5), "whole number"),
    ],
)
def test_wrong_fields_are_value_errors(make, message):
    with pytest.raises(ValueError, match=message) as caught:
        make()
    assert isinstance(caught.value, EvaluationError)


@pytest.mark.parametrize("value", [4, 4.0, "4"])
def test_whole_numbers_are_read(value):
    assert af.Workload(n_instances=value).n_instances == 4


def test_flags_are_read_from_text():
    spec = af.Spec(mapper={"metrics": "LATENCY | ENERGY"})
    assert spec.mapper.metrics == af.Metrics.LATENCY | af.Metrics.ENERGY


def test_equality_and_copies():
    memory = Memory(name="X", size=8, tensors={"keep": "All"})
    for other in (copy.copy(memory), copy.deepcopy(memory), pickle.loads(pickle.dumps(memory))):
        assert other == memory
        assert type(other) is Memory
    deep = memory.model_copy(deep=True)
    deep.tensors.keep = "Nothing"
    assert memory.tensors.keep == "All"
    assert deep != memory
    assert memory != Compute(name="X")


def test_dumps():
    memory = Memory(name="X", size=8)
    assert memory.model_dump()["tensors"]["back"] == "Nothing"
    assert memory.model_dump()["area"] is None
    assert "area" not in memory.model_dump_non_none()
    assert "area" not in memory.shallow_model_dump()
    assert memory.shallow_model_dump(include_None=True)["tensors"] is memory.tensors


def test_specifications_can_be_pickled(spec):
    again = pickle.loads(pickle.dumps(spec))
    assert again.evaluate_mapping().energy() == spec.evaluate_mapping().energy()


def test_all_fields_default():
    assert af.Spec().all_fields_default()
    assert not af.Spec(variables={"x": 1}).all_fields_default()


def test_repr_shows_what_is_given():
    assert repr(Action(name="read", energy=3)) == "Action(name='read', energy=3)"


def test_lists_find_items_by_name():
    memory = Memory(name="X", size=8)
    assert memory.actions["read"] is memory.actions[0]
    assert "write" in memory.actions
    assert memory.actions[:1][0].name == "read"
    with pytest.raises(KeyError, match="there are: read, write"):
        memory.actions["erase"]
    memory.actions.append(Action(name="read"))
    with pytest.raises(ValueError, match="2 items"):
        memory.actions["read"]


# --- evaluation ---------------------------------------------------------------------------------


def test_fields_use_one_another_in_any_order():
    spec = af.Spec(variables={"a": "b + 1", "b": "c * 2", "c": 3})
    variables = spec._spec_eval_expressions().variables
    assert dict(variables) == {"a": 7, "b": 6, "c": 3}


def test_circles_are_an_error():
    spec = af.Spec(variables={"a": "b", "b": "a"})
    with pytest.raises(EvaluationError, match=r"spec.variables.*circular dependency among a, b"):
        spec._spec_eval_expressions()


def test_inner_names_hide_outer_ones():
    arch = {
        "nodes": [Memory(name="X", size="width * 2", spatial=[Spatial(name="D", fanout="width")])]
    }
    spec = af.Spec(variables={"width": 4}, arch={**arch, "variables": {"width": 8}})
    node = spec._spec_eval_expressions().arch["X"]
    assert (node.size, node.spatial[0].fanout) == (16, 8)


def test_a_field_can_use_the_outer_one_of_its_name():
    arch = {"nodes": [Memory(name="X", size="size")]}
    assert af.Spec(variables={"size": 4}, arch=arch)._spec_eval_expressions().arch["X"].size == 4


def test_nodes_see_earlier_nodes():
    arch = {"nodes": [Memory(name="X", size="2 * 8"), Memory(name="Y", size="X.size + 1")]}
    assert af.Spec(arch=arch)._spec_eval_expressions().arch["Y"].size == 17


def test_attributes_of_the_specification_can_be_used():
    spec = af.Spec(
        variables={"x": "spec.arch.find('X').size + len(spec.workload.einsum_names)"},
        arch={"nodes": [Memory(name="X", size=8)]},
    )
    assert spec._spec_eval_expressions().variables.x == 8


@pytest.mark.parametrize("text", ["spec._fields", "spec.from_yaml", "spec.to_yaml()", "spec['_x']"])
def test_other_attributes_cannot(text):
    with pytest.raises(EvaluationError, match="spec.variables.x"):
        af.Spec(variables={"x": text})._spec_eval_expressions()


def test_global_names_cannot_be_changed():
    spec = af.Spec(variables={"global_x": 1}, arch={"variables": {"global_x": 2}})
    with pytest.raises(EvaluationError, match="global_x is already 1"):
        spec._spec_eval_expressions()


def test_results_are_checked():
    spec = af.Spec(arch={"nodes": [Memory(name="X", size="'big' + 'ger'")]})
    with pytest.raises(EvaluationError, match=r"spec.arch.nodes.X.size.*number"):
        spec._spec_eval_expressions()


def test_evaluating_leaves_the_original_as_it_is(spec):
    before = copy.deepcopy(spec)
    spec._spec_eval_expressions("Z")
    spec.calculate_component_costs()
    spec.evaluate_mapping()
    assert spec.model_dump() == before.model_dump()


def test_python_files_that_a_yaml_file_names_need_permission(load, write):
    module = write("def twice(x):\n    return 2 * x\n", "functions.py")
    text = f"config: {{expression_custom_functions: [{module}]}}\nvariables: {{x: twice(4)}}\n"
    spec = load(text)
    with pytest.raises(EvaluationError, match=r"spec.config.expression_custom_functions.0.*trust"):
        spec._spec_eval_expressions()
    spec.config.allow_python_files = True
    assert spec._spec_eval_expressions().variables.x == 8


def test_python_files_that_the_program_names_need_none(write):
    spec = af.Spec(variables={"x": "twice(4)"})
    spec.config.expression_custom_functions.append(
        str(write("def twice(x):\n    return 2 * x\n", "functions.py"))
    )
    assert spec._spec_eval_expressions().variables.x == 8


def test_python_files_that_fail(write):
    spec = af.Spec()
    spec.config.expression_custom_functions.append(str(write("1 / 0", "functions.py")))
    with pytest.raises(EvaluationError, match="division by zero"):
        spec._spec_eval_expressions()
    with pytest.raises(EvaluationError, match="no such file"):
        af.Spec(config={"expression_custom_functions": ["x.py"]})._spec_eval_expressions()


def test_permission_cannot_come_from_a_file(write):
    with pytest.raises(ValidationError, match="not supported"):
        af.Spec.from_yaml(write("config: {allow_python_files: true}\n"))


@pytest.mark.parametrize(
    ("operator", "value", "expected"), [("<=", 1, True), ("==", 2, False), (">=", 1, False)]
)
def test_comparisons_say_whether_one_iteration_is_left(
    operator: str, value: int, expected: bool
) -> None:
    """A private name, but AccelForge's own tests use it."""
    compared = Comparison(expression="m", operator=operator, value=value)
    assert compared._constrained_to_one() is expected
