# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of an exploration: where they are in a specification, and which values they take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from accelforge.frontend.spec import Spec

__all__ = ["Axis", "Choices", "Range", "axes_of", "changed", "check_paths"]

# Places of values are numbers from 0 to 1.
Places = NDArray[np.float64]

# The difference of two ends is finite, and so is the number of each integer exact.
_LARGEST, _LARGEST_WHOLE = 1e307, 2**52


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and bool(abs(value) <= _LARGEST)  # type: ignore[operator]


@dataclass(frozen=True)
class Range:
    """All numbers from one to another.

    Parameters
    ----------
    low, high : float
        The ends, which belong to it.
    log : bool
        Whether as many values are tried from 1 to 10 as from 10 to 100.
    integer : bool
        Whether it has whole numbers only.
    """

    low: float
    high: float
    log: bool = False
    integer: bool = False

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            number: Any = getattr(self, name)
            number = number.item() if isinstance(number, np.generic) else number
            if not _is_number(number):
                raise ValueError(
                    f"the ends of a Range are finite numbers, up to {_LARGEST:g}, not {number!r}"
                )
            # Fractions and truth values cannot be kept in a file.
            plain = int if isinstance(number, Integral) else float
            object.__setattr__(self, name, plain(number))
        if not self.low < self.high:
            raise ValueError(f"a Range goes upwards, not from {self.low:g} to {self.high:g}")
        if self.log and self.low <= 0:
            raise ValueError(f"a Range with log=True has positive numbers, not {self.low:g}")
        if self.integer and not (float(self.low).is_integer() and float(self.high).is_integer()):
            raise ValueError(
                f"a Range of integers ends with these, not {self.low:g}, {self.high:g}"
            )
        if self.integer and not max(-self.low, self.high) <= _LARGEST_WHOLE:
            raise ValueError(
                f"a Range of integers has numbers up to {_LARGEST_WHOLE:g}, "
                f"not from {self.low:g} to {self.high:g}"
            )

    @property
    def count(self) -> int | None:
        """How many values there are; None if there is no number of them."""
        return int(self.high - self.low) + 1 if self.integer else None

    def values(self, places: Places) -> list[Any]:
        """Return the values at places from 0 to 1.

        Parameters
        ----------
        places : numpy.ndarray
            The places.
        """
        low, high = (self.low - 0.5, self.high + 0.5) if self.integer else (self.low, self.high)
        if self.log:
            low = max(low, self.low / 2)
            found = np.exp(np.log(low) + places * (np.log(high) - np.log(low)))
        else:
            found = low + places * (high - low)
        found = np.clip(np.rint(found) if self.integer else found, self.low, self.high)
        return [int(x) for x in found] if self.integer else found.tolist()

    def places(self, values: list[Any]) -> Places:
        """Return the places of values."""
        found = np.array(values, dtype=np.float64)
        low, high = (self.low - 0.5, self.high + 0.5) if self.integer else (self.low, self.high)
        if self.log:
            low = max(low, self.low / 2)
            return np.asarray(np.log(found / low) / np.log(high / low))
        return np.asarray((found - low) / (high - low))

    def at(self, number: int) -> Any:
        """Return a whole number of the range."""
        return int(self.low) + number

    def index(self, value: Any) -> int:
        """Return the number that `at` takes."""
        return int(value - self.low)

    def described(self) -> Any:
        """Return what JSON can hold."""
        return {"low": self.low, "high": self.high, "log": self.log, "integer": self.integer}

    def restored(self, values: list[Any]) -> list[Any]:
        """Return values of a file as they were given."""
        return values


@dataclass(frozen=True)
class Choices:
    """Values one by one.

    Parameters
    ----------
    given : tuple
        Numbers, texts or truth values.
    """

    given: tuple[Any, ...]

    @property
    def count(self) -> int:
        """How many values there are."""
        return len(self.given)

    def values(self, places: Places) -> list[Any]:
        """Return the values at places from 0 to 1."""
        numbers = np.minimum((places * len(self.given)).astype(int), len(self.given) - 1)
        return [self.given[i] for i in numbers.tolist()]

    def places(self, values: list[Any]) -> Places:
        """Return the places of values: the middles of their parts."""
        index = {value: i for i, value in enumerate(self.given)}
        return (np.array([index[value] for value in values]) + 0.5) / len(self.given)

    def at(self, number: int) -> Any:
        """Return one of the values."""
        return self.given[number]

    def index(self, value: Any) -> int:
        """Return the number that `at` takes."""
        return self.given.index(value)

    def described(self) -> Any:
        """Return what JSON can hold."""
        return list(self.given)

    def restored(self, values: list[Any]) -> list[Any]:
        """Return values of a file as they were given: it has numbers in place of truth values."""
        as_given = {value: value for value in self.given}
        return [as_given.get(value, value) for value in values]


Axis = Range | Choices


def axes_of(parameters: Mapping[str, Any]) -> dict[str, Axis]:
    """Check the parameters of a user.

    Parameters
    ----------
    parameters : mapping
        By path: a `Range`, or an iterable of values.
    """
    if not isinstance(parameters, Mapping) or not parameters:
        raise ValueError(
            "parameters are a dict of paths and their values, such as "
            '{"arch.Buffer.size": [1024, 2048]}'
        )
    return {name: _axis(name, given) for name, given in parameters.items()}


def _axis(name: Any, given: Any) -> Axis:
    if not isinstance(name, str) or not name:
        raise ValueError(f"a parameter is a path such as arch.Buffer.size, not {name!r}")
    if isinstance(given, Range):
        return given
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise ValueError(f"{name}: give a list of values or an accelforge.Range, not {given!r}")
    values = []
    for value in given:
        plain = value.item() if isinstance(value, np.generic) else value
        if not isinstance(plain, (int, float, str)) or plain != plain:
            raise ValueError(f"{name}: values are numbers and texts, not {plain!r}")
        values.append(plain)
    if not values:
        raise ValueError(f"{name}: there are no values")
    if len(set(values)) < len(values):
        raise ValueError(f"{name}: a value is there twice")
    return Choices(tuple(values))


# --- in a specification -------------------------------------------------------------------------


def changed(spec: Spec, values: Mapping[str, Any]) -> Spec:
    """Return a copy of a specification with other values.

    Parameters
    ----------
    spec : Spec
        Not evaluated.
    values : mapping
        By path.
    """
    new = spec.model_copy(deep=True)
    for path, value in values.items():
        owner, last = _owner(new, path)
        if isinstance(owner, dict) or (isinstance(owner, list) and isinstance(last, int)):
            owner[last] = value  # type: ignore[index]
        else:
            setattr(owner, str(last), value)
    return new


def check_paths(spec: Spec, paths: Iterable[str]) -> None:
    """Check that paths lead to something.

    Parameters
    ----------
    spec : Spec
        The specification.
    paths : iterable of str
        The paths.

    Raises
    ------
    KeyError
        One does not; with what there is.
    """
    known: dict[tuple[int, int | str], str] = {}
    for path in paths:
        owner, last = _owner(spec, path)
        found = _step(owner, last, path)
        same = known.setdefault((id(owner), last), path)
        if same != path:
            raise KeyError(f"{path} and {same} are the same number; name it once")
        if isinstance(found, (list, dict)) or hasattr(type(found), "_fields"):
            raise KeyError(f"{path} is an object, and no number; name one of its fields")


def _owner(spec: Any, path: str) -> tuple[Any, int | str]:
    parts: list[int | str] = [
        int(part) if part.isascii() and part.isdigit() else part
        for part in path.replace("]", "").replace("[", ".").split(".")
    ]
    found = spec
    for part in parts[:-1]:
        found = _step(found, part, path)
    return found, parts[-1]


def _step(owner: Any, part: int | str, path: str) -> Any:
    names = list(getattr(type(owner), "_fields", ()))
    try:
        # A text has characters, which nothing can be assigned to.
        if isinstance(owner, str):
            raise TypeError
        if part in names:
            return getattr(owner, str(part))
        return owner[part]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        if isinstance(owner, dict):
            names = [str(key) for key in owner]
        elif isinstance(owner, list):
            names = [str(getattr(item, "name", i)) for i, item in enumerate(owner)]
        nodes = getattr(owner, "nodes", ())
        names += [str(node.name) for node in nodes if getattr(node, "name", None)]
        raise KeyError(
            f"{path}: there is no {part!r}; there are: {', '.join(names) or 'none'}"
        ) from None
