# SPDX-License-Identifier: BSD-3-Clause
"""The order in which fields that depend on one another are evaluated."""

from __future__ import annotations

import heapq
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

    users: dict[str, list[str]] = {}
    for name, used in needs.items():
        for other in used:
            users.setdefault(other, []).append(name)
    missing = {name: len(used) for name, used in needs.items()}
    # Plain text first: models and lists are evaluated when all around them is known.
    rank = {
        name: (not isinstance(value, str), number)
        for number, (name, value) in enumerate(values.items())
    }
    ready = [(*rank[name], name) for name in values if not missing.get(name)]
    heapq.heapify(ready)
    order: list[str] = []
    while ready:
        name = heapq.heappop(ready)[-1]
        order.append(name)
        for user in users.get(name, ()):
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, (*rank[user], user))
    if len(order) < len(values):
        waiting = [name for name in values if missing.get(name)]
        shown = ", ".join(waiting[:10]) + (", ..." if len(waiting) > 10 else "")
        raise EvaluationError(f"circular dependency among {shown}")
    return order
