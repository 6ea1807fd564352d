# SPDX-License-Identifier: BSD-3-Clause
"""Errors, which name the field they are about and where the file has it, and warnings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = [
    "EvaluationError",
    "InvalidMappingError",
    "MapperError",
    "MapperInterrupt",
    "MapperLimitWarning",
    "Place",
    "ValidationError",
]


class Place(NamedTuple):
    """A line of a file.

    Parameters
    ----------
    file : str
        Path as it was given.
    line : int
        Counted from one.
    rendered : bool
        Whether the line is counted in the text that the file's templates made.
    """

    file: str
    line: int
    rendered: bool = False

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}" + (
            " of what its templates made" if self.rendered else ""
        )


class EvaluationError(Exception):
    """A specification cannot be read or evaluated.

    Parameters
    ----------
    *args : object
        The first one is the message, if `message` is not given.
    source_field : object, optional
        The innermost field that is concerned.
    message : str, optional
        What failed, why, and what to do about it.
    **kwargs : object
        Kept as `details`.
    """

    def __init__(
        self, *args: Any, source_field: Any = None, message: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args)
        self._fields: list[Any] = [] if source_field is None else [source_field]
        self.message = str(args[0]) if message is None and args else message
        self.place: Place | None = None
        self.details = kwargs

    def add_field(self, field: Any) -> None:
        """Put the name of an enclosing field in front of the path.

        Parameters
        ----------
        field : object
            Name or number; the text of the error shows ``spec.arch.nodes.0.name``.
        """
        self._fields.append(field)

    @property
    def path(self) -> str:
        """The field, from the outside to the inside, with dots between."""
        return ".".join(str(field) for field in reversed(self._fields))

    def locate(self, place: Place | None) -> None:
        """Say where the file has it, unless something further inside said so already."""
        if self.place is None:
            self.place = place

    def __str__(self) -> str:
        text = type(self).__name__
        if self._fields:
            text += f" in {self.path}"
        if self.place is not None:
            text += f" ({self.place})"
        if self.message is not None:
            text += f": {self.message}"
        return text


class ValidationError(EvaluationError, ValueError):
    """A field is missing, is not known, or has a value of the wrong type."""


class InvalidMappingError(Exception):
    """A mapping does not fit its architecture or its workload."""


class MapperError(RuntimeError):
    """The mapper contradicts the model: an error of this package, which should be reported."""


class MapperLimitWarning(UserWarning):
    """The mapper stopped at a limit; its result may not be the best."""


class MapperInterrupt(KeyboardInterrupt):
    """Ctrl-C stopped the mapper, which had something to make mappings of.

    Parameters
    ----------
    join : callable
        Makes them within some seconds.
    """

    def __init__(self, join: Callable[[float], Any]) -> None:
        super().__init__("the mapper was stopped; best() of this returns the best mappings so far")
        self._join = join

    def best(self, seconds: float = 10.0) -> Any:
        """Return the best mappings that were found, as `map_workload_to_arch` does.

        Parameters
        ----------
        seconds : float
            Time to put them together.

        Returns
        -------
        Mappings or None
            None if what was found does not make a mapping of all Einsums. ``bounds`` says how
            much better a mapping can be at most.
        """
        return self._join(seconds)
