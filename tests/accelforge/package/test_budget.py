# SPDX-License-Identifier: BSD-3-Clause
"""Budget of a specification."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import accelforge as af
from accelforge.expressions import evaluate_text
from accelforge.util.budget import Budget, BudgetError, budget, unpaid, weigh

MOST = 1_000_000


def cost(work: Callable[[], object]) -> int:
    """Count the steps of some work."""
    with budget() as paid:
        before = paid.left
        work()
        return before - paid.left


def test_all_files_of_one_reading_share_a_budget(write: Callable[..., Path]) -> None:
    files = [
        write("variables:\n  a: {{ range(2000)|list|length }}\n", "a.yaml"),
        write("config: {}\n#" + "{% for i in range(2000) %}{% endfor %}", "b.yaml"),
    ]
    most = 0
    for path in files:
        steps = cost(lambda path=path: af.Spec.from_yaml(path))
        most = max(most, steps)
        with af.limits(steps=steps):
            af.Spec.from_yaml(path)
    with af.limits(steps=most), pytest.raises(BudgetError, match=f"{most} steps.*limits"):
        af.Spec.from_yaml(*files)


def test_an_evaluation_has_one_budget(load: Callable[..., Any]) -> None:
    spec = load("variables:\n  a: sum(range(1000))\n  b: sum(range(1001))\n")
    steps = cost(spec._spec_eval_expressions)
    with af.limits(steps=steps):
        assert spec._spec_eval_expressions().variables.a == 499_500
    with (
        af.limits(steps=steps * 3 // 4),
        pytest.raises(BudgetError, match=r"spec.variables.b \(.*line 3\)"),
    ):
        spec._spec_eval_expressions()


def test_a_spent_budget_stays_spent() -> None:
    paid = Budget(10, 60)
    paid.spend(10)
    for _ in range(3):
        with pytest.raises(BudgetError, match="more than 10 steps"):
            paid.spend(1)


def test_time_counts() -> None:
    paid = Budget(MOST, 0.0)
    with pytest.raises(BudgetError, match="0 s of processor time"):
        paid.spend(MOST // 2)


def test_time_of_others_does_not_count() -> None:
    with af.limits(seconds=0.0), budget() as paid:
        with unpaid():
            sum(range(100_000))
        paid.allow(60)
        paid.spend(MOST // 2)


def test_a_function_outlives_the_budget_that_it_was_made_with() -> None:
    with budget() as paid:
        function = evaluate_text("lambda a: a + 1", {})
        paid.left = 0
    assert function(2) == 3


@pytest.mark.parametrize(
    ("value", "steps"),
    [(3, 0), ("x" * 640, 10), (range(400), 100), ([0] * 400, 100), ([[0] * 38] * 10, 103)],
)
def test_parts_weigh_each_time_they_are_in_a_value(value: object, steps: int) -> None:
    assert weigh(value, MOST) == steps


def test_weighing_ends() -> None:
    value: Any = [1]
    for _ in range(100):
        value = [value, value]
    assert weigh(value, 1000) == 1001
    value = {"a": 1}
    value["b"] = value
    assert weigh(value, 1000) == 1001
