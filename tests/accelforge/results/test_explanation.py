# SPDX-License-Identifier: BSD-3-Clause
"""Explanations: each number is what the model gives when the architecture is changed."""

from __future__ import annotations

import dataclasses
import math

import pytest

import accelforge as af
from accelforge import _model
from accelforge.explanation import facts
from accelforge.explanation.explanation import Explanation, explain_problem
from accelforge.explanation.steps import _names
from accelforge.explanation.trials import Places, number_at
from accelforge.util.tables import Sheet, html_of, text_of
from tests.accelforge.package import problems

ARCH = """
arch:
  nodes:
  - !Memory
    name: DRAM
    size: inf
    leak_power: 0.25
    tensors: {keep: All}
    actions:
    - {name: read, energy: 100, throughput: 0.25}
    - {name: write, energy: 90, throughput: 0.5}
  - !Memory
    name: Buffer
    size: 300
    leak_power: 0.5
    actions:
    - {name: read, energy: 2, throughput: 8}
    - {name: write, energy: 3, throughput: 8}
  - !Container
    name: Row
    spatial: [{name: X, fanout: 2}]
  - !Compute
    name: MAC
    leak_power: 0.125
    actions:
    - {name: compute, energy: 1, throughput: 1}
"""
WORKLOAD = """
workload:
  rank_sizes: {M: 16, N: 8, K: 4}
  bits_per_value: {All: 1}
  einsums:
  - "Z[m, n] = A[m, k] * B[k, n]"
"""
MAPPING = """
mapping:
  nodes:
  - !Storage {component: DRAM, tensors: [A, B, Z]}
  - !Temporal {rank_variable: m, tile_shape: 2}
  - !Storage {component: Buffer, tensors: [B, A, Z]}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Temporal {rank_variable: n, tile_shape: 2}
  - !Spatial {rank_variable: n, tile_shape: 1, name: X, component: Row}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Compute {component: MAC, einsum: Z}
"""


def load(tmp_path, text=ARCH + WORKLOAD + MAPPING):
    file = tmp_path / "spec.yaml"
    file.write_text(text)
    return af.Spec.from_yaml(file)


@pytest.fixture
def spec(tmp_path):
    return load(tmp_path)


def action_of(spec, component, name):
    return next(a for a in spec.arch[component].actions if a.name == name)


def set_number(spec, component, quantity, value):
    """Change a number of the architecture as a user would."""
    node = spec.arch[component]
    if quantity == "leak power":
        node.leak_power = value / (2 if component == "MAC" else 1)
    elif quantity == "size":
        node.size = value
    elif quantity.startswith("fan-out"):
        node.spatial[0].fanout = value
    else:
        field, _, name = quantity.partition(" of ")
        setattr(action_of(spec, component, name), field, value)


# --- what limits --------------------------------------------------------------------------------


def test_the_slowest_component_limits(spec):
    result = spec.evaluate_mapping()
    explained = result.explain()
    (limit,) = explained.einsums
    busy = result.latency(per_component=True)
    assert limit.components == ("DRAM",)
    assert limit.kind == "bandwidth"
    assert limit.latency == pytest.approx(result.latency())
    assert limit.busy == pytest.approx(busy)
    assert limit.next_latency == pytest.approx(sorted(busy.values())[-2])
    assert explained.limits == pytest.approx({"bandwidth of DRAM": result.latency()})


def test_compute_limits_when_memories_are_fast(spec):
    for component in ("DRAM", "Buffer"):
        for action in spec.arch[component].actions:
            action.throughput = 1e6
    assert list(spec.evaluate_mapping().explain().limits) == ["compute of MAC"]


def test_a_memory_and_a_compute_may_limit_together(spec):
    busy = spec.evaluate_mapping().latency(per_component=True)
    for component in ("DRAM", "Buffer"):
        for action in spec.arch[component].actions:
            action.throughput *= busy[component] / busy["MAC"]
    (limit,) = spec.evaluate_mapping().explain().einsums
    assert limit.kind == "bandwidth and compute"
    assert limit.components == ("DRAM", "Buffer", "MAC")


def test_levels_add_up_to_the_totals(spec):
    result = spec.evaluate_mapping()
    levels = {level.component: level for level in result.explain().levels}
    energy = sum(level.energy + level.leak_energy for level in levels.values())
    assert energy == pytest.approx(result.energy())
    for (component, action), count in result.actions().items():
        assert levels[component].actions[action] == pytest.approx(count)
    assert levels["DRAM"].utilisation == pytest.approx(1)
    assert levels["Buffer"].used == pytest.approx(result.resource_usage()["Buffer"])


def test_memories_have_bits_even_without_a_size(spec):
    memories = {memory.component: memory for memory in spec.evaluate_mapping().explain().memories}
    assert memories["DRAM"].used == 16 * 4 + 4 * 8 + 16 * 8
    buffer = memories["Buffer"]
    spec.arch["Buffer"].size = buffer.used
    assert spec.evaluate_mapping().resource_usage()["Buffer"] == 1
    spec.arch["Buffer"].size = buffer.used - 1
    with pytest.raises(af.InvalidMappingError):
        spec.evaluate_mapping()


def test_fanouts_have_instances(spec):
    (use,) = spec.evaluate_mapping().explain().fanouts
    assert (use.component, use.dimension, use.fanout, use.used) == ("Row", "X", 2, 2)


def test_an_explanation_is_of_the_evaluated_numbers(spec):
    result = spec.evaluate_mapping()
    before = result.latency()
    action_of(spec, "DRAM", "read").throughput = 1e-3
    assert result.explain().latency == before


# --- what would change it -----------------------------------------------------------------------


def test_derivatives_are_finite_differences_of_specifications(spec):
    explained = spec.evaluate_mapping().explain()
    assert {d.component for d in explained.derivatives} == {"DRAM", "Buffer", "MAC"}
    assert len(explained.derivatives) == 2 * 5 + 3
    for d in explained.derivatives:
        ends = []
        for factor in (1 - 1e-5, 1 + 1e-5):
            set_number(spec, d.component, d.quantity, d.value * factor)
            end = spec.evaluate_mapping()
            ends.append((end.latency(), end.energy()))
        set_number(spec, d.component, d.quantity, d.value)
        latency, energy = ((b - a) / (2e-5 * d.value) for a, b in zip(*ends, strict=True))
        assert d.latency == pytest.approx(latency, rel=1e-5, abs=1e-7), d
        assert d.energy == pytest.approx(energy, rel=1e-5, abs=1e-6), d
        assert d.energy_elasticity == pytest.approx(d.energy * d.value / explained.energy)
        assert d.latency_elasticity == pytest.approx(d.latency * d.value / explained.latency)


def assert_same_limits(have, want):
    assert len(have) == len(want)
    for a, b in zip(have, want, strict=True):
        assert (a.einsum, a.components, a.kind, a.next) == (b.einsum, b.components, b.kind, b.next)
        assert a.busy == pytest.approx(b.busy)
        assert (a.latency, a.next_latency) == pytest.approx((b.latency, b.next_latency))


def test_steps_are_what_the_changed_specification_gives(spec):
    explained = spec.evaluate_mapping().explain()
    kinds = {step.kind for step in explained.steps}
    assert "bandwidth" in kinds
    for step in explained.steps:
        changed = spec.model_copy(deep=True)
        for change in step.changes:
            if change.component == "mapping":
                index = int(change.path.removeprefix("mapping[").partition("]")[0])
                changed.mapping.nodes[index].tile_shape = change.after
            else:
                set_number(changed, change.component, change.quantity, change.after)
        after = changed.evaluate_mapping()
        assert step.latency_after == pytest.approx(after.latency()), step
        assert step.energy_after == pytest.approx(after.energy()), step
        assert step.latency_before == explained.latency
        assert step.energy_before == explained.energy
        assert_same_limits(step.then, after.explain().einsums)


def test_a_faster_memory_is_as_fast_as_the_next_component(spec):
    explained = spec.evaluate_mapping().explain()
    step = next(step for step in explained.steps if step.kind == "bandwidth")
    assert set(step.then[0].components) == {"DRAM", explained.einsums[0].next}
    assert step.latency_after == pytest.approx(explained.einsums[0].next_latency)


def test_a_larger_tile_needs_a_larger_memory(spec):
    size = spec.evaluate_mapping().explain().memories[1].used
    spec.arch["Buffer"].size = size
    explained = spec.evaluate_mapping().explain()
    step = next(step for step in explained.steps if step.kind == "size")
    assert [(c.component, c.quantity, c.before) for c in step.hardware] == [
        ("Buffer", "size", size)
    ]
    assert step.energy_after < step.energy_before
    assert [c.component for c in step.changes] == ["mapping", "Buffer"]


def test_a_larger_tile_that_fits_needs_no_hardware(spec):
    steps = spec.evaluate_mapping().explain().steps
    step = next(step for step in steps if step.kind == "mapping")
    assert step.hardware == ()


def test_a_larger_fanout_makes_computation_faster(spec):
    for component in ("DRAM", "Buffer"):
        for action in spec.arch[component].actions:
            action.throughput = 1e6
    steps = spec.evaluate_mapping().explain().steps
    step = next(step for step in steps if step.kind == "fan-out")
    assert [(c.component, c.before, c.after) for c in step.hardware] == [("Row", 2, 4)]
    assert step.latency_after == pytest.approx(step.latency_before / 2)


# --- on many problems ---------------------------------------------------------------------------


def chain():
    return af.Spec.from_yaml(
        af.examples.arches.simple,
        af.examples.workloads.basic.matmuls,
        af.examples.mappings.fused_matmuls_to_simple,
        N_EINSUMS=3,
        M=16,
        KN=16,
        GlobalBufferSize=1e5,
        MainMemoryEnergy=100,
    )


PROBLEMS = {
    "from YAML": lambda: chain().to_problem(),
    "chain": lambda: problems.fused_chain(3, gb=1e4),
    "convolution": problems.convolution,
    "copies": problems.copied,
    "gates": problems.gated,
    "array": problems.pe_array_gemm,
}


@pytest.mark.parametrize(
    ("name", "loop"), [("chain", "m of E0 and E1 and E2"), ("convolution", "p")]
)
def test_steps_name_the_einsums_of_a_loop_where_there_are_several(name, loop):
    (change,) = [
        change
        for step in explain_problem(PROBLEMS[name]()).steps
        for change in step.changes
        if change.component == "mapping"
    ]
    assert change.quantity == f"tile of the temporal loop over {loop}"


def test_of_many_einsums_the_first_and_the_last_are_named():
    assert _names(["A", "A", "B"]) == "A and B"
    assert _names(["A", "B", "C", "D"]) == "A to D"


def test_cells_of_several_lines_take_several_lines():
    sheet = Sheet("Costs", ("what", "how"), [("a\nbb", "1"), ("<", "2\n3")])
    assert text_of(sheet) == "Costs:\n  what  how\n  a     1\n  bb\n  <     2\n        3"
    assert "2<br>3" in html_of(sheet)
    assert "&lt;" in html_of(sheet)


# Parts of an explanation, all numbers of which are checked by differences, here or above.
CHECKED = {
    "EinsumLimit": {"latency", "busy", "next_latency"},
    "LevelTotals": {"busy", "utilisation", "energy", "leak_energy", "actions", "used"},
    "MemoryUse": {"size", "used"},
    "FanoutUse": {"fanout", "used"},
    "Step": {"changes", "latency_before", "latency_after", "energy_before", "energy_after", "then"},
    "Change": {"before", "after"},
    "Derivative": {"value", "latency", "energy", "latency_elasticity", "energy_elasticity"},
}
# So much slower or faster that nothing else limits, and a power of two.
MUCH = 2.0**60


def test_no_number_of_an_explanation_is_unchecked():
    for name in facts.__all__:
        fields = dataclasses.fields(getattr(facts, name))
        texts = {"str", "str | None", "tuple[str, ...]"}
        assert {f.name for f in fields if f.type not in texts} == CHECKED[name]
    assert [f.name for f in dataclasses.fields(Explanation)] == [
        "latency", "energy", "einsums", "levels", "memories", "fanouts", "steps", "derivatives",
    ]  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_totals_and_limits_are_differences_of_evaluations(name):
    problem = PROBLEMS[name]()
    model, explained, places = _model.Model(problem), explain_problem(problem), Places(problem)
    here = model.evaluate({}).as_dict()
    assert explained.latency == here["total", "latency"]
    assert explained.energy == here["total", "energy"]

    def with_speed(components, factor):
        return model.evaluate(
            {
                path: throughput * factor
                for component in components
                for numbers in places.actions(component, "throughput").values()
                for path, throughput in numbers.items()
            }
        ).as_dict()

    def energy_of_more(numbers):
        after = model.evaluate({path: number + by for path, (number, by) in numbers.items()})
        return after.as_dict()["total", "energy"] - explained.energy

    for level in explained.levels:
        close = {"rel": 1e-9, "abs": 1e-9 * explained.energy}
        energies = (
            places.actions(level.component, "energy") if level.component in places.kinds else {}
        )
        spent = 0.0
        for action, numbers in energies.items():
            # A large step, so that the count is exact beside other energies.
            step = explained.energy
            count = energy_of_more({path: (n, step) for path, n in numbers.items()}) / step
            assert level.actions.get(action, 0.0) == pytest.approx(count, rel=1e-9), (level, action)
            spent += energy_of_more({path: (n, n) for path, n in numbers.items()})
        assert level.energy == pytest.approx(spent, **close), level
        leaks = places.leaks([level.component])
        leaked = energy_of_more({path: (n, n) for path, n in leaks.items()})
        assert level.leak_energy == pytest.approx(leaked, **close), level
        if level.component in places.kinds:
            slow = with_speed([level.component], 1 / MUCH)["total", "latency"]
            assert level.busy == pytest.approx(slow / MUCH, abs=explained.latency / 2**50), level
        assert level.utilisation == pytest.approx(level.busy / explained.latency)

    for limit in explained.einsums:
        column = "latency_einsum", limit.einsum
        assert limit.latency == here[column]
        for component, busy in limit.busy.items():
            slow = with_speed([component], 1 / MUCH)[column]
            assert busy == pytest.approx(slow / MUCH, abs=limit.latency / 2**50), component
        fast = with_speed(limit.components, MUCH)[column]
        assert limit.next_latency == pytest.approx(fast, abs=limit.latency / 2**50)

    used = {level.component: level.used for level in explained.levels}
    for memory in explained.memories:
        sizes = places.sizes(memory.component)
        assert memory.size == min(sizes.values())
        if memory.used:
            assert used[memory.component] == pytest.approx(memory.used / memory.size)
            assert model.evaluate(dict.fromkeys(sizes, memory.used)).valid
            assert not model.evaluate(dict.fromkeys(sizes, memory.used * (1 - 1e-9))).valid
    for use in explained.fanouts:
        (numbers,) = (n for c, d, n in places.fanouts() if (c, d) == (use.component, use.dimension))
        assert use.fanout in numbers.values()
        for factor in (1, 2, 4):
            after = model.evaluate({path: n * factor for path, n in numbers.items()}).as_dict()
            share = after["usage_spatial", use.einsum, use.component, use.dimension]
            assert use.used == pytest.approx(share * use.fanout * factor)


@pytest.mark.parametrize("name", PROBLEMS)
def test_steps_and_derivatives_are_evaluations(name):
    problem = PROBLEMS[name]()
    model, explained = _model.Model(problem), explain_problem(problem)
    assert sum(limit.latency for limit in explained.einsums) == pytest.approx(explained.latency)
    for step in explained.steps:
        assert min(step.latency_after - step.latency_before,
                   step.energy_after - step.energy_before) < 0  # fmt: skip
        for change in step.changes:
            assert number_at(problem, change.path) == change.before
    places = Places(problem)
    for d in explained.derivatives:
        quantity, _, action = d.quantity.partition(" of ")
        if quantity == "leak power":
            numbers = places.leaks([d.component])
        else:
            numbers = places.actions(d.component, quantity)[action]
        if d.value == 0 or len(set(numbers.values())) > 1:
            continue
        rows = [
            model.evaluate(dict.fromkeys(numbers, d.value * factor)).as_dict()
            for factor in (1 - 1e-5, 1, 1 + 1e-5)
        ]
        for total, slope in (("latency", d.latency), ("energy", d.energy)):
            below, here, above = (row["total", total] for row in rows)
            upwards = (above - here) / (1e-5 * d.value)
            assert slope == pytest.approx(upwards, rel=1e-4, abs=1e-9 * here / d.value), d
            # Raising a throughput never makes anything slower.
            assert quantity != "throughput" or above <= here <= below


def test_what_the_mapper_found_is_explained(spec):
    spec.mapper.metrics = af.Metrics.ENERGY | af.Metrics.LATENCY
    found = spec.map_workload_to_arch(print_progress=False)
    for index in range(len(found)):
        explained = found.explain(index)
        assert explained.energy == pytest.approx(found[index].energy())
        assert not any(step.energy_after < found.energy(list_if_one_mapping=True)[0] * 0.999
                       and step.latency_after < explained.latency * 0.999
                       and step.kind == "mapping" for step in explained.steps)  # fmt: skip


def test_throughputs_without_end_have_no_derivative(spec):
    for action in spec.arch["Buffer"].actions:
        action.throughput = "inf"
    explained = spec.evaluate_mapping().explain()
    with pytest.raises(KeyError, match="Buffer has no derivative of throughput of read; there"):
        explained.derivative("Buffer", "throughput of read")
    assert math.isfinite(explained.derivative("Buffer", "energy of read").energy)


# --- as people read it --------------------------------------------------------------------------


def test_an_explanation_is_a_readable_table(spec):
    explained = spec.evaluate_mapping().explain()
    text = str(explained)
    for part in ("bandwidth of DRAM", "throughput of read", "Buffer", "What would change it"):
        assert part in text
    assert "nan" not in text
    assert max(map(len, text.splitlines())) < 250
    assert explained._repr_html_().count("<table>") == 5


def test_a_row_must_be_named(spec):
    several = type(spec.evaluate_mapping()).concat([spec.evaluate_mapping()] * 2)
    with pytest.raises(ValueError, match="there are 2 mappings"):
        several.explain()
    assert several.explain(1).energy == several[1].energy()


def test_results_without_mappings_say_that_they_cannot_be_explained(spec):
    result = spec.evaluate_mapping().access("energy")
    with pytest.raises(ValueError, match="was taken out"):
        result.explain()


def test_a_problem_that_does_not_fit_is_named(spec):
    problem = spec.to_problem()
    problem["einsums"][0]["levels"][1]["size"] = 3.0
    with pytest.raises(af.InvalidMappingError, match="Buffer"):
        explain_problem(problem)
    with pytest.raises(_model.ProblemError):
        explain_problem({"format": "accelforge-problem", "einsums": []})


# --- differences --------------------------------------------------------------------------------


def test_terms_of_a_difference_add_up(spec):
    first = spec.evaluate_mapping()
    spec.mapping.nodes[1].tile_shape = 8
    second = spec.evaluate_mapping()
    found = first.difference(second)
    assert found.change("energy") == pytest.approx(second.energy() - first.energy())
    assert found.change("latency") == pytest.approx(second.latency() - first.latency())
    largest = found.terms[0]
    assert largest.total == "energy"
    assert largest.key[:3] == ("Z", "DRAM", "B")
    assert largest.after < largest.before
    assert found.usage["Buffer"][0] < found.usage["Buffer"][1]
    assert "Z, DRAM, B, read" in str(found)
    assert "<table>" in found._repr_html_()


def test_a_mapping_does_not_differ_from_itself(spec):
    found = spec.evaluate_mapping().difference(spec.evaluate_mapping())
    assert not any(term.change for term in found.terms)


@pytest.mark.parametrize("other", [None, 5, "specification"])
def test_a_difference_is_of_results(spec, other):
    with pytest.raises(TypeError, match="a difference is of two Mappings, not of "):
        spec.evaluate_mapping().difference(spec if other == "specification" else other)


@pytest.mark.parametrize("index", ["0", 0.0])
def test_the_number_of_a_mapping_is_an_integer(spec, index):
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        spec.evaluate_mapping().explain(index)


def test_a_difference_is_of_single_mappings(spec):
    one = spec.evaluate_mapping()
    with pytest.raises(ValueError, match=r"the second result has 2: say result\[i\]"):
        one.difference(type(one).concat([one, one]))
    with pytest.raises(ValueError, match="not of 'area'"):
        one.difference(one).change("area")
