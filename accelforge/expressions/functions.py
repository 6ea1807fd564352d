# SPDX-License-Identifier: BSD-3-Clause
"""The functions and constants of expressions, with limits on what they may produce."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from typing import Any

from accelforge.util.budget import current, spend, weigh

__all__ = ["FUNCTIONS", "MAX_BITS", "MAX_ITEMS", "add", "multiply", "power", "shift_left"]

# An integer of an expression has at most this many bits, more than a float can hold: then no
# operator takes longer than a step or two. A sequence has at most this many items.
MAX_BITS = 1 << 11
MAX_ITEMS = 1 << 20
MAX_DIGITS = 400


def add(a: Any, b: Any) -> Any:
    """Add; sequences stay short."""
    if not isinstance(a, (int, float)) and hasattr(a, "__len__") and hasattr(b, "__len__"):
        _check_items(len(a) + len(b))
    return a + b


def multiply(a: Any, b: Any) -> Any:
    """Multiply; integers and sequences stay small."""
    if isinstance(a, int) and isinstance(b, int):
        _check_bits(a.bit_length() + b.bit_length())
    elif isinstance(a, int) and hasattr(b, "__len__"):
        _check_items(a * len(b))
    elif isinstance(b, int) and hasattr(a, "__len__"):
        _check_items(b * len(a))
    return a * b


def power(a: Any, b: Any, modulus: Any = None) -> Any:
    """Raise to a power; integers stay small."""
    if modulus is not None:
        bits = max(int(x).bit_length() for x in (a, b, modulus))
        _check_bits(bits)
        spend(1 + (bits >> 6) ** 3 // 4)
        return pow(a, b, modulus)
    if isinstance(a, int) and isinstance(b, int) and b > 0:
        _check_bits(a.bit_length() * b)
    return a**b


def shift_left(a: Any, b: Any) -> Any:
    """Shift; integers stay small."""
    if isinstance(a, int) and isinstance(b, int):
        _check_bits(a.bit_length() + max(b, 0))
    return a << b


def _check_bits(bits: int) -> None:
    if bits > MAX_BITS:
        raise OverflowError(f"the result would have up to {bits} bits, more than {MAX_BITS}")


def _check_items(items: int) -> None:
    if items > MAX_ITEMS:
        raise OverflowError(f"the result would have {items} items, more than {MAX_ITEMS}")


def _range(*args: Any) -> range:
    result = range(*args)
    if result and (result[-1] - result[0]) // result.step >= MAX_ITEMS:
        raise OverflowError(f"range() of more than {MAX_ITEMS} items")
    return result


def _prod(items: Iterable[Any], start: Any = 1) -> Any:
    for item in items:
        spend(1)
        start = multiply(start, item)
    return start


def _sum(items: Iterable[Any], start: Any = 0) -> Any:
    for item in items:
        start = add(start, item)
        spend(1 + weigh(start, MAX_ITEMS))
    return start


def _round(number: Any, digits: Any = None) -> Any:
    if digits is not None and abs(digits) > MAX_DIGITS:
        raise OverflowError(f"round() takes up to {MAX_DIGITS} digits in expressions")
    return round(number, digits)


def _small(function: Callable[..., Any], limit: int) -> Callable[..., Any]:
    """Limit the arguments of a function whose result grows fast."""

    def limited(*args: Any) -> Any:
        if any(isinstance(arg, int) and abs(arg) > limit for arg in args):
            raise OverflowError(f"{function.__name__}() takes numbers up to {limit} in expressions")
        spend(1 + limit // 16)
        return function(*args)

    limited.__name__ = function.__name__
    return limited


def _walks(function: Callable[..., Any], whole: bool = False) -> Callable[..., Any]:
    """Make a function pay for the arguments that it walks through.

    Parameters
    ----------
    function : callable
        The function.
    whole : bool
        Whether it walks through what is in the items, too.
    """

    def paid(*args: Any, **named: Any) -> Any:
        steps = 1
        for arg in args:
            if whole:
                steps += 4 * weigh(arg, current().left)
            elif hasattr(arg, "__len__"):
                steps += len(arg) >> 3
        spend(steps)
        return function(*args, **named)

    paid.__name__ = function.__name__
    return paid


FUNCTIONS: dict[str, Any] = (
    {
        name: getattr(math, name)
        for name in (
            *("ceil", "copysign", "fabs", "floor", "fmod", "frexp", "gcd", "isclose"),
            *("isfinite", "isinf", "isnan", "isqrt", "ldexp", "modf", "remainder", "trunc"),
            *("exp", "expm1", "log", "log1p", "log2", "log10", "sqrt"),
            *("acos", "asin", "atan", "atan2", "cos", "hypot", "sin", "tan"),
            *("degrees", "radians", "acosh", "asinh", "atanh", "cosh", "sinh", "tanh"),
            *("erf", "erfc", "gamma", "lgamma", "pi", "e", "tau", "inf", "nan"),
        )
    }
    | {
        "comb": _small(math.comb, 1000),
        "factorial": _small(math.factorial, 300),
        "perm": _small(math.perm, 300),
        "prod": _prod,
        "pow": power,
        "range": _range,
        "round": _round,
        "sum": _sum,
        "abs": abs,
        "bool": bool,
        "enumerate": enumerate,
        "getcwd": os.getcwd,
        "len": len,
        "map": map,
        "zip": zip,
    }
    | {
        function.__name__: _walks(function)
        for function in (all, any, float, int, list, math.dist, math.fsum, tuple)
    }
    | {
        # Comparing and writing look into the items.
        function.__name__: _walks(function, whole=True)
        for function in (max, min, sorted, str)
    }
)
"""All names that expressions have without a specification."""
