# SPDX-License-Identifier: BSD-3-Clause
"""Expressions at their place in today's package; here they are in `accelforge.expressions`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accelforge.expressions import FUNCTIONS, LiteralString, evaluate, is_literal_string
from accelforge.util.exceptions import EvaluationError

__all__ = ["MATH_FUNCS", "EvaluationError", "LiteralString", "eval_expression", "is_literal_string"]

MATH_FUNCS = FUNCTIONS


def eval_expression(
    expression: Any,
    symbol_table: Mapping[str, Any],
    attr_name: str | None = None,
    location: str | None = None,
) -> Any:
    """Evaluate the value of a field; see `accelforge.expressions.evaluate`."""
    try:
        return evaluate(expression, symbol_table)
    except EvaluationError as error:
        for part in (attr_name, location):
            if part is not None:
                error.add_field(part)
        raise
