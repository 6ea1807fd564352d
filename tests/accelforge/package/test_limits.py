# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that make no sense are refused where the file has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import accelforge as af


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{All: 8}", "{All: 0}", "spec.workload.bits_per_value.All .*more than 0, but is 0"),
        ("{All: 8}", "{All: 3 - 11}", "spec.workload.bits_per_value.All .*more than 0, but is -8"),
        ("M: 8", "M: 2**62", "spec.workload.rank_sizes.M .*at most 9.0072e.15, but is 4611686"),
        ("M: 8", "M: 4611686018427387904", "spec.workload.rank_sizes.M .*at most 9.0072e.15"),
        ("M: 8", "M: 0", "spec.workload.einsums.Z .*no value of m obeys"),
        ("bits_per", "n_instances: 0\n  bits_per", "spec.workload.n_instances .*more than 0"),
        (
            '- "Z[m, n] = A[m, k] * B[k, n]"',
            '- {einsum: "Z[m, n] = A[m, k] * B[k, n]", n_instances: -1}',
            "spec.workload.einsums.Z.n_instances .*more than 0, but is -1",
        ),
        (
            "name: Buffer",
            "name: Buffer\n    bits_per_value: {A: 0 - 1}",
            "spec.arch.nodes.Buffer.bits_per_value.A .*at least 0, but is -1 for A",
        ),
        (
            "name: Buffer",
            "name: Buffer\n    values_per_action: {A: 1 - 1}",
            "spec.arch.nodes.Buffer.values_per_action.A .*more than 0, but is 0 for A",
        ),
        (
            "name: Buffer",
            "name: Buffer\n    bits_per_action: 0",
            "spec.arch.nodes.Buffer.bits_per_action .*more than 0, but is 0",
        ),
        (
            "{name: read, energy: 1,",
            "{name: read, bits_per_action: 1 - 1, energy: 1,",
            "spec.arch.nodes.Buffer.actions.read.bits_per_action .*more than 0, but is 0",
        ),
        (
            "name: read, energy: 1,",
            "name: read, energy: -1,",
            "read.energy .*at least 0, but is -1",
        ),
        ("name: read, energy: 1,", "name: read, energy: inf,", "read.energy .*finite, but is inf"),
        (
            "name: read, energy: 1, throughput: inf",
            "name: read, energy: 1, throughput: 0",
            "read.throughput .*more than 0, but is 0",
        ),
        (
            "name: Buffer",
            "name: Buffer\n    total_latency: nan",
            'spec.arch.nodes.Buffer.total_latency .*"nan" is not a number of seconds: nan',
        ),
        (
            "name: Buffer",
            "name: Buffer\n    total_latency: actions[0].n_calls * 1e400",
            "spec.arch.nodes.Buffer.total_latency .*inf is not finite",
        ),
    ],
)
def test_a_number_out_of_its_limits_is_located(
    load: Callable[..., Any], texts: Any, old: str, new: str, message: str
) -> None:
    text = texts.ARCH + texts.WORKLOAD + texts.MAPPING
    assert old in text
    with pytest.raises(af.EvaluationError, match=message) as caught:
        load(text.replace(old, new)).evaluate_mapping()
    assert "spec.yaml, line " in str(caught.value)


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "0"])
@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("size", "-1 nan"),
        ("area", "-1 nan inf"),
        ("leak_power", "-1 nan inf"),
        ("area_scale", "-1 nan inf"),
        ("leak_power_scale", "-1 nan inf"),
        ("energy_scale", "-1 nan inf"),
        ("actions_scale", "-1 nan inf"),
        ("latency_scale", "-1 nan inf"),
        ("throughput_scale", "-1 nan 0"),
        ("n_parallel_instances", "-1 nan inf 0"),
        ("bits_per_action", "-1 nan inf 0"),
    ],
)
def test_costs_sizes_and_rates_have_limits(field: str, wrong: str, value: str) -> None:
    kind = af.arch.Memory._fields[field].kind
    number = float(value)
    if value not in wrong.split():
        kind.evaluate(number, {}, True)
        return
    with pytest.raises(af.ValidationError, match=r"must be (more than|at least) 0|must be finite"):
        kind.evaluate(number, {}, True)
    with pytest.raises(af.ValidationError, match=r"must be (more than|at least) 0|must be finite"):
        kind.evaluate(f"float('{value}')", {}, True)


def test_values_without_bits_cost_nothing(load: Callable[..., Any], texts: Any) -> None:
    text = texts.ARCH + texts.WORKLOAD + texts.MAPPING
    whole = load(text).evaluate_mapping().actions(per_component=True, per_tensor=True)
    free = text.replace("name: Buffer", "name: Buffer\n    bits_per_value: {A: 0}")
    result = load(free).evaluate_mapping()
    actions = result.actions(per_component=True, per_tensor=True)
    assert {key for key in whole if whole[key] != actions.get(key, 0)} == {
        ("Buffer", "A", "read"),
        ("Buffer", "A", "write"),
    }
    assert not actions["Buffer", "A", "read"] and not actions["Buffer", "A", "write"]
    assert result.energy() < load(text).evaluate_mapping().energy()


def test_the_mapper_counts_no_actions_of_values_without_bits(
    load: Callable[..., Any], texts: Any
) -> None:
    text = texts.ARCH.replace("name: Buffer", "name: Buffer\n    bits_per_value: {A: 0}")
    found = load(text + texts.WORKLOAD).map_workload_to_arch(print_progress=False)
    spec = load(text + texts.WORKLOAD)
    spec.mapping = found.mapping(0)
    assert found[0].energy() == pytest.approx(spec.evaluate_mapping().energy(), rel=1e-12)
    assert not found[0].actions(per_component=True, per_tensor=True).get(("Buffer", "A", "read"))


def test_the_largest_rank_has_exact_counts(load: Callable[..., Any], texts: Any) -> None:
    workload = texts.WORKLOAD.replace("M: 8", "M: 2**53").replace("N: 4, K: 2", "N: 1, K: 1")
    result = load(
        texts.ARCH.replace("default(100000)", "default('inf')") + workload + texts.MAPPING
    ).evaluate_mapping()
    assert result.actions(per_component=True)["MAC", "compute"] == 2**53
