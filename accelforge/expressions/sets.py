# SPDX-License-Identifier: BSD-3-Clause
"""Sets of tensors and of rank variables, and expressions over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from accelforge.expressions.compiler import Environment, compile_expression, names_in
from accelforge.expressions.functions import FUNCTIONS
from accelforge.util.budget import BudgetError, budget
from accelforge.util.exceptions import EvaluationError

__all__ = ["RANK_VARIABLES", "TENSORS", "InvertibleSet", "evaluate_set", "evaluate_set_keys"]

TENSORS = "tensors"
RANK_VARIABLES = "rank variables"


class InvertibleSet:
    """A set that knows its full space, so that it has a complement (``~``).

    Parameters
    ----------
    instance : iterable of str
        Its members.
    full_space : iterable of str
        The full space.
    space_type : str
        What the members are: `TENSORS` or `RANK_VARIABLES`.
    element_to_child_space : dict, optional
        For tensors, the set of rank variables that index each.
    bits_per_value : int or float, optional
        Of the tensor, if it is one.
    """

    __slots__ = ("_bits", "element_to_child_space", "full_space", "instance", "space_type")

    _expression_names: ClassVar[frozenset[str]] = frozenset(
        ("bits_per_value", "rank_variables", "tensors")
    )

    def __init__(
        self,
        instance: Iterable[str] = (),
        full_space: Iterable[str] = (),
        space_type: str = TENSORS,
        element_to_child_space: Mapping[str, InvertibleSet] | None = None,
        bits_per_value: int | float | None = None,
    ) -> None:
        self.instance = frozenset(instance)
        self.full_space = frozenset(full_space)
        self.space_type = space_type
        self.element_to_child_space = element_to_child_space
        self._bits = bits_per_value

    def to_my_space(self, other: Iterable[str] | InvertibleSet) -> InvertibleSet:
        """Make a set of the same kind with other members."""
        return InvertibleSet(
            self._members(other), self.full_space, self.space_type, self.element_to_child_space
        )

    @staticmethod
    def _members(other: Iterable[str] | InvertibleSet) -> frozenset[str]:
        return other.instance if isinstance(other, InvertibleSet) else frozenset(other)

    def _partner(self, other: Any) -> frozenset[str]:
        if isinstance(other, InvertibleSet):
            if other.space_type != self.space_type:
                raise TypeError(
                    f"a set of {self.space_type} and a set of {other.space_type} do not combine"
                )
            return other.instance
        if isinstance(other, (set, frozenset)):
            return frozenset(other)
        raise TypeError(f"{type(other).__name__} is not a set")

    def __invert__(self) -> InvertibleSet:
        return self.to_my_space(self.full_space - self.instance)

    def __and__(self, other: Any) -> InvertibleSet:
        return self.to_my_space(self.instance & self._partner(other))

    def __or__(self, other: Any) -> InvertibleSet:
        return self.to_my_space(self.instance | self._partner(other))

    def __sub__(self, other: Any) -> InvertibleSet:
        return self.to_my_space(self.instance - self._partner(other))

    def __xor__(self, other: Any) -> InvertibleSet:
        return self.to_my_space(self.instance ^ self._partner(other))

    def __call__(self) -> InvertibleSet:
        """Return the set itself: ``All()`` is the same as ``All``."""
        return self

    def __bool__(self) -> bool:
        return bool(self.instance)

    def __len__(self) -> int:
        return len(self.instance)

    def __contains__(self, member: object) -> bool:
        return member in self.instance

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.instance))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, InvertibleSet):
            return NotImplemented
        return (self.instance, self.full_space, self.space_type) == (
            other.instance,
            other.full_space,
            other.space_type,
        )

    def __hash__(self) -> int:
        return hash((self.instance, self.full_space, self.space_type))

    def __repr__(self) -> str:
        return f"InvertibleSet({{{', '.join(self)}}})"

    def iter_one_element_sets(self) -> Iterator[InvertibleSet]:
        """Yield one set for each member."""
        for member in self:
            yield self.to_my_space((member,))

    @property
    def bits_per_value(self) -> int | float:
        """The bits of a value of the one tensor in this set."""
        if len(self.instance) != 1:
            raise ValueError(f"bits_per_value is of one tensor, not of {len(self)}: {list(self)}")
        if self._bits is None:
            raise ValueError(f"bits_per_value of {next(iter(self))} is unknown here")
        return self._bits

    @bits_per_value.setter
    def bits_per_value(self, value: int | float) -> None:
        self._bits = value

    @property
    def rank_variables(self) -> InvertibleSet:
        """The rank variables that index any tensor of this set."""
        if self.space_type != TENSORS:
            raise ValueError(f"a set of {self.space_type} has no rank variables of its own")
        spaces = self.element_to_child_space or {}
        missing = [member for member in self if member not in spaces]
        if missing or not spaces:
            raise ValueError(f"the rank variables of {missing or 'no tensor'} are unknown here")
        members = frozenset().union(*(spaces[member].instance for member in self))
        return next(iter(spaces.values())).to_my_space(members)

    @property
    def tensors(self) -> InvertibleSet:
        """The set itself, if it is one of tensors."""
        if self.space_type != TENSORS:
            raise ValueError(f"a set of {self.space_type} has no tensors")
        return self


def evaluate_set(
    expression: str | InvertibleSet,
    symbols: Mapping[str, Any],
    space_type: str | None,
    location: str | None = None,
    expected_count: int | None = None,
) -> InvertibleSet:
    """Evaluate a set expression.

    Parameters
    ----------
    expression : str or InvertibleSet
        Such as ``~(input | output)``.
    symbols : mapping
        Sets by name.
    space_type : str or None
        What the members must be; None allows both.
    location : str, optional
        Field for the error.
    expected_count : int, optional
        How many members there must be.
    """
    try:
        result: Any = expression
        if isinstance(expression, str):
            name = expression.strip()
            result = symbols.get(name)
            if not isinstance(result, InvertibleSet):
                with budget() as paid:
                    paid.spend(10)
                    result = compile_expression(expression)(Environment(symbols, FUNCTIONS))
        if not isinstance(result, InvertibleSet):
            raise TypeError(f"it is {type(result).__name__}, not a set")
        if space_type is not None and result.space_type != space_type:
            raise TypeError(f"it is a set of {result.space_type}, not of {space_type}")
        if expected_count is not None and len(result) != expected_count:
            raise ValueError(f"it has {len(result)} members, not {expected_count}: {list(result)}")
    except BudgetError:
        raise
    except Exception as error:
        cause = error.msg if isinstance(error, SyntaxError) else str(error)
        raise EvaluationError(
            f'the set expression "{expression}" cannot be evaluated: {cause}', source_field=location
        ) from error
    return result


def evaluate_set_keys(
    table: Mapping[Any, Any],
    symbols: Mapping[str, Any],
    location: str,
    space_type: str = TENSORS,
) -> list[tuple[str, frozenset[str], Any]]:
    """Evaluate the keys of a dictionary, which are set expressions.

    ``Other`` in one key stands for the members of no other key.

    Returns
    -------
    list of tuple
        Key, its members, and the value.

    Raises
    ------
    EvaluationError
        Two keys share a member, or two use ``Other``.
    """
    keys = [str(key) for key in table]
    last = [key for key in keys if "Other" in names_in(key)]
    if len(last) > 1:
        raise EvaluationError(
            f"Other is in more than one key: {', '.join(last)}", source_field=location
        )

    scope = dict(symbols)
    left = scope.get("Other", scope.get("All", InvertibleSet()))
    result: list[tuple[str, frozenset[str], Any]] = []
    values = dict(zip(keys, table.values(), strict=True))
    for key in [key for key in keys if key not in last] + last:
        scope["Other"] = left
        members = evaluate_set(key, scope, space_type, f"{location}[{key}]").instance
        left = left - members
        for other, seen, _ in result:
            if seen & members:
                raise EvaluationError(
                    f"the keys {other} and {key} overlap on {', '.join(sorted(seen & members))}",
                    source_field=location,
                )
        result.append((key, members, values[key]))

    return result
