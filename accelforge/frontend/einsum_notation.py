# SPDX-License-Identifier: BSD-3-Clause
"""Reads the short notation of Einsums, such as ``Z[m, n] = A[m, k] * B[k, n]``."""

from __future__ import annotations

import copy
import functools
import re
from typing import Any

from accelforge.frontend.renames import rename_list_factory
from accelforge.util.budget import spend
from accelforge.util.exceptions import EvaluationError, ValidationError
from accelforge.yaml.sections import place_of

__all__ = [
    "IDENTIFIER",
    "ImpliedProjection",
    "identifiers",
    "isl_expression_has_variable",
    "parse_einsum_entry",
    "parse_einsum_string",
    "parse_projection",
    "projection_factory",
]

# Words that are comparisons or connectives in the notation of ISL.
_OPERATORS = ("EQ", "NE", "LT", "GT", "LE", "GE", "NG", "NL", "AND", "OR")
IDENTIFIER = re.compile(r"\b(?!(?:" + "|".join(_OPERATORS) + r")\b)[a-zA-Z#$@][a-zA-Z0-9_]*\b")
_TENSOR = re.compile(r"([A-Za-z_]\w*)\[([^\[\]]*)\]")


def identifiers(expression: str) -> tuple[str, ...]:
    """List the names in an expression, as often as they occur."""
    return _cached_identifiers(expression)


def _identifiers(expression: str) -> tuple[str, ...]:
    return tuple(IDENTIFIER.findall(expression))


_cached_identifiers = functools.lru_cache(maxsize=4096)(_identifiers)


def isl_expression_has_variable(expression: str, variable: str) -> bool:
    """Say whether an expression uses a variable.

    Parameters
    ----------
    expression : str
        In the notation of ISL.
    variable : str
        A rank variable.
    """
    return variable in identifiers(expression)


class ImpliedProjection(dict[str, str]):
    """A projection given as a list of rank variables.

    The ranks are their names in capitals: ``[a, b]`` stands for ``{A: a, B: b}``.
    """


def projection_factory(projection: Any) -> dict[str, str]:
    """Check a projection, and fill in implied ranks.

    Parameters
    ----------
    projection : dict or list
        Expressions by rank, or rank variables.
    """
    if isinstance(projection, (list, tuple)):
        return _implied(list(projection))
    if not isinstance(projection, dict):
        raise TypeError(
            f"a projection is a list of rank variables, or a mapping of ranks to expressions, not "
            f"{projection!r}"
        )
    for rank, expression in projection.items():
        if not isinstance(rank, str):
            raise TypeError(f"the rank {rank!r} of a projection is not text")
        if not isinstance(expression, str):
            raise TypeError(f"the index of rank {rank} is {expression!r}, which is not text")
        if not rank.isidentifier():
            raise ValueError(f"the rank {rank!r} of a projection is not a name")
        check_rank(rank, "projection")
    return dict(projection) if type(projection) is not ImpliedProjection else projection


def _implied(variables: list[Any]) -> ImpliedProjection:
    result = ImpliedProjection()
    for number, variable in enumerate(variables):
        if not isinstance(variable, str):
            raise TypeError(f"entry {number} of a projection is {variable!r}, which is not text")
        if not IDENTIFIER.fullmatch(variable):
            raise ValueError(
                f"entry {number} of a projection is {variable!r}, which is not a name; "
                f"expressions need their rank, as in {{P: 2 * p + r}}"
            )
        if variable[0].isupper():
            raise ValueError(
                f"entry {number} of a projection is {variable}; rank variables begin with a lower "
                f"case letter, ranks with a capital"
            )
        result[variable.upper()] = variable
    return result


def check_rank(rank: str, where: str) -> None:
    """Refuse a rank that begins with a lower case letter."""
    if not rank or rank[0].islower():
        raise ValueError(
            f"Rank name '{rank}' in {where} must start with an uppercase letter; rank variables "
            f"begin with a lower case letter"
        )


def parse_projection(text: str) -> dict[str, str]:
    """Read the indices in brackets after a tensor.

    Parameters
    ----------
    text : str
        Such as ``b, H: 2 * p + r``.
    """
    if not text.strip():
        raise ValueError("the brackets of a tensor are empty; a projection cannot be empty")
    result: dict[str, str] = {}
    for part in text.split(","):
        rank, colon, expression = (piece.strip() for piece in part.partition(":"))
        if not colon:
            if not rank:
                raise ValueError(f"Empty projection entry. It is in [{text}]")
            if rank[0].isupper():
                raise ValueError(
                    f"'{rank}' in [{text}] is the name of a rank; write {rank}: and its "
                    f"expression, or a rank variable, which begins with a lower case letter"
                )
            rank, expression = rank.upper(), rank
        elif ":" in expression:
            raise ValueError(f"Invalid projection: '{part.strip()}' has more than one colon")
        else:
            check_rank(rank, f"[{text}]")
        if not IDENTIFIER.fullmatch(rank):
            raise ValueError(
                f"'{part.strip()}' in [{text}] is not a name; expressions need their rank, as in "
                f"[P: 2 * p + r]"
            )
        if rank in result:
            raise ValueError(f"duplicate rank {rank} in [{text}]")
        result[rank] = expression

    return result


def parse_einsum_string(text: str) -> dict[str, Any]:
    """Read an Einsum.

    Parameters
    ----------
    text : str
        Such as ``Z[m, n] = A[m, k] * B[k, n]``. What stands between the tensors on the right
        counts for nothing.

    Returns
    -------
    dict
        ``name``, which is that of the output, and ``tensor_accesses``.
    """
    spend(100 + len(text))
    short = re.sub(r"\s+", "", text)
    if not short:
        raise ValueError("Einsum string cannot be empty")
    if short.count("=") != 1:
        raise ValueError(
            f'Invalid einsum format: "{text}" has {short.count("=")} equals signs, and needs one'
        )

    left, right = short.split("=")
    output = _TENSOR.fullmatch(left)
    if not output:
        raise ValueError(
            f'Invalid einsum format: the left side of "{text}" is not a tensor with indices in '
            f"brackets"
        )

    inputs = list(_TENSOR.finditer(right))
    rest = _TENSOR.sub("", right)
    if not inputs:
        raise ValueError(
            f'Invalid einsum format: the right side of "{text}" has no tensor with indices in '
            f"brackets"
        )

    if "[" in rest or "]" in rest:
        raise ValueError(f'Invalid projection: brackets in "{text}" do not match')
    accesses = []
    for match in (*inputs, output):
        try:
            projection = parse_projection(match.group(2))
        except ValueError as error:
            raise ValueError(f'in "{text}": {error}') from None
        accesses.append(
            {"name": match.group(1), "projection": projection, "output": match is output}
        )

    return {"name": output.group(1), "tensor_accesses": accesses}


def parse_einsum_entry(entry: Any) -> dict[str, Any]:
    """Read an entry of the list of Einsums.

    Parameters
    ----------
    entry : dict
        The fields of an `Einsum`, or ``einsum`` with the short notation and further fields;
        ``tensor_accesses`` then adds properties that the notation cannot express.
    """
    if not isinstance(entry, dict):
        raise ValueError(
            f"entries of workload.einsums must be dicts, strings, or Einsum objects. This one is "
            f"{entry!r}"
        )

    if "einsum" not in entry:
        return entry
    result = copy.copy(entry)
    text = result.pop("einsum")
    if not isinstance(text, str):
        raise ValueError(f"einsum is {text!r}, and not text such as Z[m] = A[m, k] * B[k]")
    parsed = parse_einsum_string(text)
    accesses = {access["name"]: access for access in parsed["tensor_accesses"]}
    given = result.get("tensor_accesses", [])
    if not isinstance(given, list):
        raise ValueError(f"tensor_accesses is a list, not {given!r}")
    for more in given:
        _add_to_access(accesses, more, text)
    result["name"] = parsed["name"]
    result["tensor_accesses"] = list(accesses.values())
    result["renames"] = rename_list_factory(result.get("renames", {}))
    return result


def _add_to_access(accesses: dict[str, Any], more: Any, text: str) -> None:
    if not isinstance(more, dict):
        dump = getattr(more, "_given", None)
        if dump is None:
            raise ValueError(f"an entry of tensor_accesses is a mapping, not {more!r}")
        more = dump()
    name = more.get("name")
    try:
        if name is None:
            raise ValidationError(f"an entry of tensor_accesses is missing a name: {dict(more)}")
        if name not in accesses:
            raise ValidationError(f'the tensor {name} of tensor_accesses is not found in "{text}"')
        for key, value in more.items():
            if key != "name" and key in accesses[name]:
                raise ValidationError(f'{key} of {name} is already set by "{text}"')
            accesses[name][key] = value
    except EvaluationError as error:
        error.locate(place_of(more))
        raise
