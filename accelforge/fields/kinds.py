# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of fields: what a field accepts, and how it is evaluated.

A kind has two methods: `accept` converts a value of a program or a file to the field's value, or
raises `ValidationError`; `evaluate` turns expressions into values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from math import inf
from typing import TYPE_CHECKING, Any

from accelforge.expressions import (
    InvertibleSet,
    LiteralString,
    evaluate,
    evaluate_set,
    is_literal_string,
)
from accelforge.fields.lists import EvalableDict, EvalableList
from accelforge.util.budget import BudgetError, spend
from accelforge.util.exceptions import EvaluationError, ValidationError
from accelforge.yaml.sections import place_of

if TYPE_CHECKING:
    from accelforge.fields.model import EvalableModel

__all__ = [
    "Anything",
    "Choice",
    "Expression",
    "Fixed",
    "Items",
    "Kind",
    "Members",
    "Nodes",
    "Part",
    "Table",
    "Text",
]

Symbols = dict[str, Any]


def describe(value: Any) -> str:
    """Show a value and its type in a message."""
    text = repr(value)
    return f"{text if len(text) <= 80 else text[:80] + '...'} ({type(value).__name__})"


class Kind:
    """The values of a field; this class itself allows any."""

    inert = True
    """True if evaluating leaves the value as it is."""

    lazy = False
    """True if a value that cannot be evaluated yet is left unchanged."""

    def accept(self, value: Any) -> Any:
        """Convert a value to the field's, or raise ValidationError."""
        return value

    def evaluate(self, value: Any, symbols: Symbols, must: bool) -> Any:
        """Turn expressions into values."""
        return value


class Anything(Kind):
    """Any value; text in it is an expression."""

    inert = False

    def evaluate(self, value: Any, symbols: Symbols, must: bool) -> Any:
        """Evaluate text."""
        if is_literal_string(value) or not isinstance(value, (str, int, float)):
            return value
        return evaluate(value, symbols)


class Text(Kind):
    """Text that is not an expression, such as a name."""

    def __init__(self, optional: bool = False, number: bool = False) -> None:
        self.optional = optional
        self.number = number

    def accept(self, value: Any) -> Any:
        """Take text, in quotes or not, and a number or None if the field may hold that."""
        if isinstance(value, str):
            return str(value)
        if value is None and self.optional:
            return None
        if self.number and isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
        raise ValidationError(f"expected text, not {describe(value)}")


class Fixed(Kind):
    """A number or truth value, or its text, that is not an expression."""

    def __init__(self, *types: type, optional: bool = False, above: float | None = None) -> None:
        self.types = types
        self.optional = optional
        self.above = above

    def accept(self, value: Any) -> Any:
        """Take a value of the types, or text that can be read as one."""
        return _within(self._read(value), self.above)

    def _read(self, value: Any) -> Any:
        if value is None and self.optional:
            return None
        if isinstance(value, bool) and bool not in self.types:
            raise ValidationError(f"expected {self}, not {describe(value)}")
        if isinstance(value, self.types):
            return value
        number = evaluate(value, {}) if isinstance(value, str) and _plain(value) else value
        if isinstance(number, float) and number.is_integer() and float not in self.types:
            number = int(number)
        if isinstance(number, int) and not isinstance(number, bool) and float in self.types:
            number = float(number)
        if isinstance(number, self.types) and isinstance(number, bool) == (bool in self.types):
            return number
        raise ValidationError(f"expected {self}, not {describe(value)}")

    def __str__(self) -> str:
        return " or ".join(_TYPE_NAMES.get(t, t.__name__) for t in self.types)


def _within(
    value: Any,
    above: float | None = None,
    most: float | None = None,
    least: float | None = None,
    finite: bool = False,
) -> Any:
    """Make sure that a number is in its limits."""
    if isinstance(value, (int, float)):
        if above is not None and not value > above:
            raise ValidationError(f"must be more than {above:g}, but is {value!r}")
        if least is not None and not value >= least:
            raise ValidationError(f"must be at least {least:g}, but is {value!r}")
        if most is not None and value > most:
            raise ValidationError(f"must be at most {most:g}, but is {describe(value)}")
        if finite and value == inf:
            raise ValidationError("must be finite, but is inf")
    return value


_TYPE_NAMES = {
    bool: "a truth value",
    int: "a whole number",
    float: "a number",
    dict: "a mapping",
    str: "text",
}


def _plain(text: str) -> bool:
    """Return whether text can be a number or truth value, rather than an expression."""
    return text.strip().lower() in ("true", "false", "inf") or text.strip()[:1] in "+-.0123456789"


class Choice(Kind):
    """One of an enumeration's members, given as such, by its value or by its name."""

    def __init__(self, choices: type[Enum]) -> None:
        self.choices = choices

    def accept(self, value: Any) -> Any:
        """Take a member; of flags, several with ``|`` between."""
        if isinstance(value, self.choices):
            return value
        try:
            if isinstance(value, str):
                result = None
                for word in value.replace("Metrics.", "").split("|"):
                    member = self._member(word.strip())
                    result = member if result is None else result | member
                return result
            return self.choices(value)
        except (KeyError, ValueError, TypeError):
            names = ", ".join(member.name for member in self.choices)
            raise ValidationError(f"expected one of {names}, not {describe(value)}") from None

    def _member(self, word: str) -> Any:
        try:
            return self.choices(word)
        except ValueError:
            return self.choices[word.upper()]


class Expression(Kind):
    """A number, a truth value or another plain value, or an expression for one.

    Parameters
    ----------
    *types : type
        What it evaluates to.
    optional : bool
        Whether it may be None.
    lazy : bool
        Whether text that cannot be evaluated yet stays text.
    above, most, least : float, optional
        Limits of numbers; `above` itself is outside, and so is NaN of the others.
    finite : bool
        Whether infinity is outside too.
    """

    inert = False

    def __init__(
        self,
        *types: type,
        optional: bool = False,
        lazy: bool = False,
        above: float | None = None,
        most: float | None = None,
        least: float | None = None,
        finite: bool = False,
    ) -> None:
        self.types = types
        self.limits = above, most, least, finite
        self.limited = self.limits != (None, None, None, False)
        self.optional = optional
        self.lazy = lazy
        self.simple = frozenset(types) <= {int, float, bool}
        self.numbers = {float: (int, float), int: (int,)}.get(
            next((t for t in (float, int) if t in types), str), ()
        )

    def accept(self, value: Any) -> Any:
        """Take a value of the types, or text."""
        if isinstance(value, str) or (value is None and self.optional):
            return value
        self.check(value, value)
        return value

    def evaluate(self, value: Any, symbols: Symbols, must: bool) -> Any:
        """Evaluate text, and check the result."""
        kind = type(value)
        if kind is float and value.is_integer() and -1e18 < value < 1e18:
            value, kind = int(value), int
        if kind in self.numbers:
            return _within(value, *self.limits) if self.limited else value
        if is_literal_string(value):
            result: Any = value
        else:
            try:
                result = evaluate(value, symbols, must or not self.lazy)
            except BudgetError:
                raise
            except EvaluationError:
                if self.lazy and not must:
                    return LiteralString(value)
                raise
        if result is None and self.optional:
            return None
        try:
            return self.check(result, value)
        except EvaluationError:
            if self.lazy and not must:
                return LiteralString(value)
            raise

    def check(self, result: Any, value: Any) -> Any:
        """Make sure that a value has one of the types, and is within the limits."""
        checked = self._of_type(result, value)
        return _within(checked, *self.limits) if self.limited else checked

    def _of_type(self, result: Any, value: Any) -> Any:
        kind = type(result)
        if kind in self.types or (kind is int and float in self.types):
            return result
        if kind is float and int in self.types and result.is_integer():
            return int(result)
        if isinstance(result, self.types) and kind is not bool:
            return result
        if self.simple and kind is not bool and hasattr(result, "item"):
            return self._of_type(result.item(), value)
        of = f"{value!r} is {describe(result)}" if value is not result else describe(result)
        wanted = " or ".join(_TYPE_NAMES.get(t, t.__name__) for t in self.types)
        raise ValidationError(f"expected {wanted}, but {of}")


class Members(Kind):
    """A set expression; it stays text until the Einsum is known."""

    inert = False
    lazy = True

    def __init__(self, space_type: str | None) -> None:
        self.space_type = space_type

    def accept(self, value: Any) -> Any:
        """Take text, a set, or a collection of names."""
        if isinstance(value, (str, InvertibleSet)):
            return value
        if isinstance(value, (set, frozenset, list, tuple)) and all(
            isinstance(item, str) for item in value
        ):
            return " | ".join(sorted(value)) or "Nothing"
        raise ValidationError(f"expected a set expression, not {describe(value)}")

    def evaluate(self, value: Any, symbols: Symbols, must: bool) -> Any:
        """Evaluate the expression if all its names are known."""
        try:
            return evaluate_set(value, symbols, self.space_type)
        except BudgetError:
            raise
        except EvaluationError:
            if must:
                raise
            return value


class Part(Kind):
    """A model of its own.

    Parameters
    ----------
    model : type, or callable that returns one
        Its class; a callable allows for one that is defined later.
    """

    inert = False

    def __init__(self, model: Any, optional: bool = False) -> None:
        self._model = model
        self.optional = optional

    @property
    def model(self) -> type[EvalableModel]:
        """The class."""
        if not isinstance(self._model, type):
            self._model = self._model()
        return self._model

    def accept(self, value: Any) -> Any:
        """Take an object of the class, or a mapping to make one of."""
        if isinstance(value, self.model) or (value is None and self.optional):
            return value
        if isinstance(value, dict):
            return self.model.from_data(value)
        raise ValidationError(f"expected a mapping, not {describe(value)}")

    def evaluate(self, value: Any, symbols: Symbols, must: bool) -> Any:
        """Evaluate the fields of the model."""
        return None if value is None else value._evaluate(symbols, must)


class Items(Kind):
    """A list of values of one kind."""

    inert = False

    def __init__(
        self,
        item: Kind,
        list_class: type[EvalableList[Any]] = EvalableList,
        after: Callable[[Any, Symbols], None] | None = None,
    ) -> None:
        self.item = item
        self.list_class = list_class
        self.after = after

    def accept(self, value: Any) -> Any:
        """Take a list, and each of its items."""
        if not isinstance(value, (list, tuple)):
            raise ValidationError(f"expected a list, not {describe(value)}")
        result = []
        for number, item in enumerate(value):
            try:
                spend(3)
                result.append(self.item.accept(item))
            except EvaluationError as error:
                error.add_field(_label(number, item))
                error.locate(place_of(item) or place_of(value, number))
                raise
        return self.list_class(result)

    def evaluate(self, value: Any, symbols: Symbols, must: bool) -> Any:
        """Evaluate each item, in order."""
        result = self.list_class()
        if not value:
            return result
        if self.after is not None:
            symbols = dict(symbols)
        for number, item in enumerate(value):
            try:
                spend(2)
                evaluated = self.item.evaluate(item, symbols, must)
            except EvaluationError as error:
                error.add_field(_label(number, item))
                raise
            result.append(evaluated)
            if self.after is not None:
                self.after(evaluated, symbols)
        return result


def _label(number: int, item: Any) -> Any:
    """Name an item of a list in the path of an error: by its name, or else by its number."""
    name = item.get("name") if isinstance(item, dict) else getattr(item, "name", None)
    return name if isinstance(name, str) and name else number


class Table(Kind):
    """A dictionary with values of one kind."""

    inert = False

    def __init__(self, value: Kind, key: Kind | None = None) -> None:
        self.value = value
        self.key = key or Text(number=True)

    def accept(self, value: Any) -> Any:
        """Take a dictionary, and each of its values."""
        if not isinstance(value, Mapping):
            raise ValidationError(f"expected a mapping, not {describe(value)}")
        result = EvalableDict()  # type: EvalableDict[Any, Any]
        for key, item in value.items():
            try:
                spend(3)
                result[self.key.accept(key)] = self.value.accept(item)
            except EvaluationError as error:
                error.add_field(key)
                error.locate(place_of(value, key))
                raise
        return result

    def evaluate(self, value: Any, symbols: Symbols, must: bool) -> Any:
        """Evaluate each value; they may use one another."""
        from accelforge.fields.order import evaluation_order

        result = EvalableDict(value)  # type: EvalableDict[Any, Any]
        if self.value.inert or not value:
            return result
        symbols = dict(symbols)
        for key in evaluation_order({str(key): item for key, item in value.items()}):
            try:
                spend(2)
                symbols[key] = result[key] = self.value.evaluate(value[key], symbols, must)
            except EvaluationError as error:
                error.add_field(key)
                raise
        return result


class Nodes(Kind):
    """A model of one of several classes, which a YAML tag or the key ``type`` names.

    Parameters
    ----------
    classes : dict
        The classes by tag; it may be filled after this object is made.
    """

    inert = False

    def __init__(self, classes: Mapping[str, type[EvalableModel]]) -> None:
        self._classes = classes

    def accept(self, value: Any) -> Any:
        """Take an object of one of the classes, or a tagged mapping."""
        classes = self._classes
        if isinstance(value, tuple(classes.values())):
            return value
        if not isinstance(value, dict):
            raise ValidationError(f"expected a tagged mapping, not {describe(value)}")
        tag, data = getattr(value, "tag", ""), value
        for key in ("type", "_type", "_yaml_tag"):
            if not tag and isinstance(value.get(key), str):
                tag, data = value[key], {k: v for k, v in value.items() if k != key}

        tag = tag.lstrip("!")
        if tag not in classes:
            known = ", ".join(f"!{name}" for name in sorted(classes))
            raise ValidationError(
                f"unknown tag !{tag}; a node here is one of {known}"
                if tag
                else f"the node has no tag; it must be one of {known}"
            )

        return classes[tag].from_data(data)

    def evaluate(self, value: Any, symbols: Symbols, must: bool) -> Any:
        """Evaluate the fields of the model."""
        return value._evaluate(symbols, must)
