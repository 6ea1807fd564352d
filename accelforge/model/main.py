# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates the mapping of a specification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accelforge.util.exceptions import EvaluationError, InvalidMappingError

if TYPE_CHECKING:
    from accelforge._results import Failure
    from accelforge.frontend.spec import Spec
    from accelforge.mapper.FFM.mappings import Mappings

__all__ = ["InvalidMappingError", "evaluate_mapping"]


def evaluate_mapping(spec: Spec) -> Mappings:
    """Evaluate the mapping of a specification.

    Parameters
    ----------
    spec : Spec
        Not evaluated: not one that ``calculate_component_costs()`` returned.

    Returns
    -------
    Mappings
        One row.

    Raises
    ------
    EvaluationError
        The specification is wrong or incomplete.
    InvalidMappingError
        The mapping does not fit.
    """
    from accelforge import _model
    from accelforge.mapper.FFM.mappings import Mappings
    from accelforge.model.columns import MappingOf, columns_of
    from accelforge.model.problem import build_problem

    assert not spec._evaluated, (
        "Spec must not be evaluated before evaluating a mapping. Was this spec returned by "
        "spec.calculate_component_costs()?"
    )
    built = build_problem(spec)
    try:
        result = _model.evaluate(built.problem)
    except _model.ProblemError as error:
        raise EvaluationError(f"in the problem for the engine: {error}") from error
    if result.failure is not None:
        raise InvalidMappingError(_text_of(spec, result.failure))
    names = list(built.evaluated_specs)
    mapping = MappingOf(spec, built.evaluated_specs[names[0]].workload, built.problem)
    return Mappings(
        spec=spec,
        einsum_names=names,
        columns=columns_of(result, spec.model.metrics, names, mapping),
        total_mappings=1,
        valid_mappings=1,
        flattened_arches=built.flattened_arches,
        evaluated_specs=built.evaluated_specs,
    )


def _text_of(spec: Spec, failure: Failure) -> str:
    """Say why a mapping is invalid; for a cost, also where the specification has it."""
    if failure.status != "overflow" or failure.component is None:
        return failure.reason
    place = spec.arch[failure.component]._place
    at = "" if place is None else f" ({place})"
    return f"in spec.arch.nodes.{failure.component}{at}: {failure.reason}"
