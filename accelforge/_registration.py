# SPDX-License-Identifier: BSD-3-Clause
"""Gives the front end the functions of the layers above it.

These are imported when they are called, so that importing the package loads no engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accelforge.frontend.operations import operations

if TYPE_CHECKING:
    from accelforge.explanation.explanation import Explanation
    from accelforge.exploration.result import Exploration
    from accelforge.frontend.spec import Spec
    from accelforge.mapper.FFM.mappings import Mappings

__all__ = ["register"]


def register() -> None:
    """Register the functions."""
    operations.evaluate_mapping = _evaluate_mapping
    operations.make_problem = _make_problem
    operations.map_workload_to_arch = _map_workload_to_arch
    operations.explain = _explain
    operations.explore = _explore


def _evaluate_mapping(spec: Spec) -> Mappings:
    from accelforge.model.main import evaluate_mapping

    return evaluate_mapping(spec)


def _make_problem(spec: Spec) -> dict[str, Any]:
    from accelforge.model.problem import build_problem

    return build_problem(spec).problem


def _map_workload_to_arch(spec: Spec, **settings: Any) -> Mappings:
    from accelforge.mapper.FFM.main import map_workload_to_arch

    return map_workload_to_arch(spec, **settings)


def _explain(problem: dict[str, Any]) -> Explanation:
    from accelforge.explanation.explanation import explain_problem

    return explain_problem(problem)


def _explore(spec: Spec, *args: Any, **settings: Any) -> Exploration:
    from accelforge.exploration.explore import explore

    return explore(spec, *args, **settings)
