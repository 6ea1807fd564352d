# SPDX-License-Identifier: BSD-3-Clause
"""Actions of components, with energy and throughput."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar

from accelforge.expressions import evaluate, evaluate_set_keys
from accelforge.fields import EvalableModel, EvalExtras, Expression, Part, Text, field
from accelforge.util.exceptions import EvaluationError

__all__ = ["Action", "TensorHolderAction", "evaluate_tensor_numbers", "replace_latency"]


def evaluate_tensor_numbers(
    table: dict[Any, Any], location: str, symbols: dict[str, Any]
) -> dict[str, Any]:
    """Evaluate ``{set expression: number}`` to ``{tensor: number}``.

    Values may have no bits on a component that they do not pass; an action moves some values.
    """
    may_be_zero = location == "bits_per_value"
    result = {}
    for key, members, value in evaluate_set_keys(table, symbols, location):
        for tensor in members:
            number = evaluate(value, symbols)
            is_number = isinstance(number, (int, float))
            if not is_number or not (number > 0 or (may_be_zero and number == 0)):
                needed = "at least 0" if may_be_zero else "more than 0"
                error = EvaluationError(f"must be {needed}, but is {number!r} for {tensor}")
                error.add_field(key)
                raise error
            result[tensor] = number
    return result


def _reciprocal(value: Any) -> Any:
    """Turn seconds per action into actions per second, or an expression for them."""
    if isinstance(value, (int, float)):
        return 1 / value if value else math.inf
    return f"1 / ({value}) if ({value}) != 0 else inf"


def replace_latency(data: dict[str, Any], owner: str, suffix: str) -> dict[str, Any]:
    """Turn a field for latency into the one for throughput.

    Parameters
    ----------
    data : dict
        Fields; this is not changed.
    owner : str
        Class that the fields are of, for the warning.
    suffix : str
        Empty, or ``_scale``.
    """
    old, new = f"latency{suffix}", f"throughput{suffix}"
    if old not in data or new in data or data[old] is None:
        return data
    warnings.warn(
        f"{old} of {owner} is deprecated. Give {new}, its reciprocal, instead; "
        f"{old} = {data[old]!r} is converted",
        DeprecationWarning,
        stacklevel=2,
    )
    lines = getattr(data, "lines", None)
    result = type(data)(data) if lines is not None else dict(data)
    if lines is not None:
        result.tag, result.place, result.lines = data.tag, data.place, lines  # type: ignore[attr-defined]
    result[new] = _reciprocal(result.pop(old))
    return result


class Action(EvalableModel):
    """Something that a component does."""

    name: str = field(Text())
    """Its name: ``read``, ``write``, ``compute`` or ``hop``."""

    energy: float | str | None = field(
        Expression(int, float, optional=True, least=0, finite=True), None
    )
    """Joules of one action, before the scales of the action and of its component."""

    energy_scale: float | str = field(Expression(int, float, least=0, finite=True), 1)
    """Factor for the energy."""

    latency: float | str | None = field(Expression(int, float, optional=True), None)
    """Seconds of one action. Deprecated: `throughput` is its reciprocal, and takes its place."""

    latency_scale: float | str = field(Expression(int, float, least=0, finite=True), 1)
    """Deprecated: `throughput_scale` is its reciprocal, and takes its place."""

    throughput: float | str | None = field(Expression(int, float, optional=True, above=0), None)
    """Actions per second, before the scales of the action and of its component."""

    throughput_scale: float | str = field(Expression(int, float, above=0), 1)
    """Factor for the throughput."""

    extra_attributes_for_component_model: EvalExtras = field(Part(EvalExtras), EvalExtras())
    """Further attributes for the component model."""

    _n_calls: int | float | None = None
    _expression_names: ClassVar[frozenset[str]] = EvalableModel._expression_names | {"n_calls"}

    @classmethod
    def _prepare(cls, data: dict[str, Any]) -> dict[str, Any]:
        data = replace_latency(data, cls.__name__, "")
        return replace_latency(data, cls.__name__, "_scale")

    @property
    def n_calls(self) -> int | float:
        """Number of times that the action is done while an Einsum runs.

        Raises
        ------
        RuntimeError
            Outside of an expression for ``total_latency``.
        """
        if self._n_calls is None:
            raise RuntimeError(
                f"n_calls of the action {self.name} is known only while a mapping is evaluated; "
                f"use it in an expression for total_latency"
            )
        return self._n_calls

    def _attributes_for_component_model(self) -> dict[str, Any]:
        return {
            **self.shallow_model_dump(),
            **self.extra_attributes_for_component_model.shallow_model_dump(),
        }


class TensorHolderAction(Action):
    """An action that moves values of tensors."""

    bits_per_action: float | str = field(
        Expression(int, float, above=0, finite=True),
        "1 if bits_per_action is None else bits_per_action",
    )
    """Bits that one action moves; by default those of the component, or else 1."""

    values_per_action: dict[str, Any] | str = field(Expression(dict), {})
    """Values that one action moves, by set expression. It comes before `bits_per_action`."""

    def _evaluated_value(self, name: str, value: Any, scope: dict[str, Any]) -> Any:
        if name == "values_per_action" and value:
            return evaluate_tensor_numbers(value, name, scope)
        return value
