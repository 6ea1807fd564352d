# SPDX-License-Identifier: BSD-3-Clause
"""The order in which fields that depend on one another are evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accelforge.expressions import is_literal_string
from accelforge.expressions.compiler import names_in
from accelforge.util.exceptions import EvaluationError

__all__ = ["evaluation_order"]


def evaluation_order(values: Mapping[str, Any]) -> list[str]:
    """Sort names so that each expression comes after the names that it uses.

    Parameters
    ----------
    values : mapping
        Text, whose names count, or anything else.

    Raises
    ------
    EvaluationError
        Expressions depend on one another in a cycle.
    """
    if not any(isinstance(value, str) for value in values.values()):
        return list(values)
    needs = {
        name: (names_in(value) & values.keys()) - {name}
        for name, value in values.items()
        if isinstance(value, str) and not is_literal_string(value)
    }
    if not any(needs.values()):
        return [*needs, *(name for name in values if name not in needs)]
    order: list[str] = []
    done: set[str] = set()
    waiting = list(values)
    while waiting:
        # Plain text first: models and lists are evaluated when all around them is known.
        ready = [name for name in waiting if needs.get(name, done) <= done]
        if not ready:
            raise EvaluationError(f"circular dependency among {', '.join(waiting)}")
        first = next((name for name in ready if isinstance(values[name], str)), ready[0])
        order.append(first)
        done.add(first)
        waiting.remove(first)

    return order
