# SPDX-License-Identifier: BSD-3-Clause
"""The values that rank variables take: linear expressions, and the bounds that they obey."""

from __future__ import annotations

import ast
import functools
import itertools
import math
import re
from collections.abc import Iterable
from typing import NamedTuple

__all__ = [
    "MAX_RANK_SIZE",
    "Affine",
    "Bounds",
    "count_points",
    "parse_affine",
    "solve_bounds",
    "values_of",
]

MAX_ENUMERATION = 1 << 22
# The engine counts in doubles, which have all whole numbers up to this one.
MAX_RANK_SIZE = 1 << 53


class Affine(NamedTuple):
    """A linear expression: coefficients of variables, and a constant."""

    terms: tuple[tuple[str, int], ...]
    constant: int

    def range(self, bounds: dict[str, tuple[int, int]]) -> tuple[int, int]:
        """Return the least and the largest value, both included."""
        low = high = self.constant
        for name, factor in self.terms:
            ends = (factor * bounds[name][0], factor * bounds[name][1])
            low, high = low + min(ends), high + max(ends)
        return low, high


class Bounds(NamedTuple):
    """``low <= expression <= high``; None means no limit."""

    expression: Affine
    low: int | None
    high: int | None


def parse_affine(text: str) -> Affine:
    """Read a linear expression with whole numbers, such as ``2 * p + r - 1``."""
    return _cached_parse_affine(text)


def _parse_affine(text: str) -> Affine:
    try:
        terms, constant = _affine(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = f": {error}" if isinstance(error, ValueError) else ""
        raise ValueError(
            f'"{text}" is not a sum of rank variables with whole factors{reason}'
        ) from None
    return Affine(tuple(sorted((k, v) for k, v in terms.items() if v)), constant)


_cached_parse_affine = functools.lru_cache(maxsize=4096)(_parse_affine)


def _affine(node: ast.expr) -> tuple[dict[str, int], int]:
    if isinstance(node, ast.Name):
        return {node.id: 1}, 0
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value.bit_length() < 63:
        return {}, node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        sign = -1 if isinstance(node.op, ast.USub) else 1
        return _scaled(_affine(node.operand), sign)

    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        left = _affine(node.left)
        right = _scaled(_affine(node.right), 1 if isinstance(node.op, ast.Add) else -1)
        terms = dict(left[0])
        for name, factor in right[0].items():
            terms[name] = terms.get(name, 0) + factor
        return terms, left[1] + right[1]

    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _affine(node.left), _affine(node.right)
        if left[0] and right[0]:
            raise ValueError("a product of variables")
        return _scaled(right, left[1]) if right[0] else _scaled(left, right[1])

    raise ValueError("only names, numbers, +, - and * are known")


def _scaled(value: tuple[dict[str, int], int], factor: int) -> tuple[dict[str, int], int]:
    return {name: factor * k for name, k in value[0].items()}, factor * value[1]


def parse_bounds(text: str) -> tuple[Bounds, ...]:
    """Read conditions such as ``0 <= m < 10 and p <= m``."""
    return _cached_parse_bounds(text)


def _parse_bounds(text: str) -> tuple[Bounds, ...]:
    plain = re.sub(r"\bAND\b|\bAnd\b|&&?|;", " and ", text)
    plain = re.sub(r"(?<![<>=!])=(?!=)", "==", plain)
    try:
        node = ast.parse(plain.strip(), mode="eval").body
        parts = node.values if isinstance(node, ast.BoolOp) else [node]
        if isinstance(node, ast.BoolOp) and not isinstance(node.op, ast.And):
            raise ValueError("conditions are joined by and")
        return tuple(itertools.chain.from_iterable(_comparison(part) for part in parts))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = f": {error}" if isinstance(error, ValueError) else ""
        raise ValueError(
            f'"{text}" is not a condition on rank variables, such as 0 <= m < 10{reason}'
        ) from None


_cached_parse_bounds = functools.lru_cache(maxsize=4096)(_parse_bounds)


def _comparison(node: ast.expr) -> list[Bounds]:
    if not isinstance(node, ast.Compare):
        raise ValueError("a comparison is missing")
    sides = [_affine(side) for side in (node.left, *node.comparators)]
    result = []
    for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
        # left - right compared with 0
        terms = dict(left[0])
        for name, factor in right[0].items():
            terms[name] = terms.get(name, 0) - factor
        at = right[1] - left[1]
        expression = Affine(tuple(sorted((k, v) for k, v in terms.items() if v)), 0)
        limits: dict[type[ast.cmpop], tuple[int | None, int | None]] = {
            ast.Lt: (None, at - 1),
            ast.LtE: (None, at),
            ast.Gt: (at + 1, None),
            ast.GtE: (at, None),
            ast.Eq: (at, at),
        }
        if type(op) not in limits:
            raise ValueError("the comparisons are <, <=, >, >= and =")
        result.append(Bounds(expression, *limits[type(op)]))

    return result


def solve_bounds(variables: Iterable[str], conditions: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Find the least and the largest value of each variable.

    Parameters
    ----------
    variables : iterable of str
        The rank variables.
    conditions : iterable of str
        What they obey.

    Raises
    ------
    ValueError
        A variable has no bounds, or no value obeys all conditions.
    """
    texts = list(conditions)
    bounds = [bound for text in texts for bound in parse_bounds(text)]
    low: dict[str, float] = dict.fromkeys(variables, -math.inf)
    high: dict[str, float] = dict.fromkeys(low, math.inf)
    for bound in bounds:
        for name, _ in bound.expression.terms:
            if name not in low:
                raise ValueError(f"no tensor is indexed by {name}, which a condition names")

    # Each round carries a bound over one more condition.
    for _ in range(2 * len(low) + 4):
        if not _tighten(bounds, low, high):
            break

    for name in low:
        if math.isinf(low[name]) or math.isinf(high[name]):
            raise ValueError(
                f"the rank variable {name} has no bounds. Give its rank a size in rank_sizes, or "
                f"the variable a condition in iteration_space_shape"
            )
        if low[name] > high[name]:
            raise ValueError(f"no value of {name} obeys: {' and '.join(texts)}")

    return {name: (int(low[name]), int(high[name])) for name in low}


def _tighten(bounds: list[Bounds], low: dict[str, float], high: dict[str, float]) -> bool:
    changed = False
    for expression, least, most in bounds:
        for name, factor in expression.terms:
            others_low = others_high = 0.0
            for other, k in expression.terms:
                if other != name:
                    ends = (k * low[other], k * high[other])
                    others_low, others_high = others_low + min(ends), others_high + max(ends)
            limits = []
            if most is not None and not math.isinf(others_low):
                limits.append((most - others_low, factor > 0))
            if least is not None and not math.isinf(others_high):
                limits.append((least - others_high, factor < 0))
            for limit, upper in limits:
                if upper and math.floor(limit / factor) < high[name]:
                    high[name], changed = math.floor(limit / factor), True
                elif not upper and math.ceil(limit / factor) > low[name]:
                    low[name], changed = math.ceil(limit / factor), True
    return changed


def count_points(box: dict[str, tuple[int, int]], conditions: Iterable[str]) -> int:
    """Count the values of all variables together that obey all conditions."""
    import numpy as np

    active = [
        bound for text in conditions for bound in parse_bounds(text) if not _always(bound, box)
    ]
    size = math.prod(high - low + 1 for low, high in box.values())
    if not active:
        return size
    # Variables in no active condition only multiply.
    bound_names = sorted({name for bound in active for name, _ in bound.expression.terms})
    cut = math.prod(box[name][1] - box[name][0] + 1 for name in bound_names)
    if cut > MAX_ENUMERATION:
        raise ValueError(f"the conditions cut {cut} points, too many to count one by one")
    axes = np.ix_(*(np.arange(box[n][0], box[n][1] + 1) for n in bound_names))
    inside = np.ones([len(axis.ravel()) for axis in axes], dtype=bool)
    for expression, least, most in active:
        value = sum(k * axes[bound_names.index(n)] for n, k in expression.terms)
        if most is not None:
            inside &= value <= most
        if least is not None:
            inside &= value >= least
    return int(inside.sum()) * (size // cut)


def _always(bound: Bounds, box: dict[str, tuple[int, int]]) -> bool:
    low, high = bound.expression.range(box)
    return (bound.low is None or low >= bound.low) and (bound.high is None or high <= bound.high)


def values_of(expression: Affine, box: dict[str, tuple[int, int]]) -> range | frozenset[int]:
    """Return the values that an expression takes."""
    spans = [(k, box[name][1] - box[name][0] + 1) for name, k in expression.terms]
    spans = sorted((abs(k), n) for k, n in spans if n > 1)
    low, high = expression.range(box)
    # Without gaps if each factor is at most what the smaller ones reach, and one.
    reach = 1
    for factor, count in spans:
        if factor > reach:
            break
        reach += factor * (count - 1)
    else:
        return range(low, high + 1)

    if len(spans) == 1:
        return range(low, high + 1, spans[0][0])
    if math.prod(count for _, count in spans) > MAX_ENUMERATION:
        return range(low, high + 1)
    values = {low}
    for factor, count in spans:
        values = {value + factor * step for value in values for step in range(count)}
    return frozenset(values)
