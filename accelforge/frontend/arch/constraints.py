# SPDX-License-Identifier: BSD-3-Clause
"""Conditions on the loops of a mapping."""

from __future__ import annotations

from typing import Any

from accelforge.expressions import RANK_VARIABLES, InvertibleSet
from accelforge.fields import EvalableModel, Expression, Members, Text, field
from accelforge.util.exceptions import ValidationError

__all__ = ["Comparison"]

_PLAIN = ("==", "<=", ">=", "<", ">")
_OPERATORS = (*_PLAIN, *(f"product{op}" for op in _PLAIN))


class Comparison(EvalableModel):
    """A condition on the number of iterations, or the tile shapes, of loops."""

    expression: str | InvertibleSet = field(Members(RANK_VARIABLES))
    """Set expression for the rank variables whose loops it is for. The condition holds for each
    of them alone, or, if the operator begins with ``product``, for their product."""

    operator: str = field(Text())
    """One of ``== <= >= < >``, alone or after ``product``."""

    value: int | str = field(Expression(int))
    """Number that loops are compared with."""

    def _complete(self) -> None:
        if self.operator not in _OPERATORS:
            raise ValidationError(
                f'"{self.operator}" is not an operator; it must be one of {", ".join(_OPERATORS)}',
                source_field="operator",
            )

    def _evaluate(self, symbols: dict[str, Any], must: bool = False) -> Comparison:
        new = super()._evaluate(symbols, must)
        if isinstance(new.expression, InvertibleSet) and len(new.expression) == 1:
            new.__dict__["operator"] = new.operator.removeprefix("product")
        return new

    def _constrained_to_one(self) -> bool:
        """Say whether it allows for no more than one iteration."""
        return self.value == 1 and self.operator.removeprefix("product") in ("==", "<=")

    def __str__(self) -> str:
        names = self.expression if isinstance(self.expression, str) else list(self.expression)
        return f"({names}) {self.operator} ({self.value})"
