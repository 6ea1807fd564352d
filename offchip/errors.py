# SPDX-License-Identifier: BSD-3-Clause
"""The base class of all errors that the packages raise about a native library."""

from __future__ import annotations

from typing import Any

from offchip.error_pages import point_to_page

__all__ = ["LibraryNotFoundError", "OffchipError", "ReadOnlyError", "RequestTimeoutError"]


class OffchipError(Exception):
    """A native call failed.

    Parameters
    ----------
    message : str
        What failed, why, and what to do about it.
    code : int, optional
        The number that the library gave.
    name : str, optional
        The library's name for that number, or the name of the object concerned, such as a
        symbol.
    function : str, optional
        The C function that failed.
    """

    code: int | None
    function: str | None
    # Builtins such as AttributeError and ImportError have a ``name`` of their own, which a
    # derived class then uses; an annotation here would conflict with theirs.

    def __init__(
        self,
        message: str = "",
        *,
        code: int | None = None,
        name: str | None = None,
        function: str | None = None,
    ) -> None:
        super().__init__(message)
        # With two builtin bases, only the first is initialised by the line above.
        self.args = (message,)
        self.code = code
        self.name = name
        self.function = function
        point_to_page(self)

    def __str__(self) -> str:
        # KeyError and OSError, as second bases, would format the message in their own way.
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        # The reduce methods of ImportError, OSError and AttributeError each drop an attribute.
        state = dict(self.__dict__)
        state.update(code=self.code, name=self.name, function=self.function)
        return _restore, (type(self), self.args, state)


def _restore(cls: type[OffchipError], args: tuple[Any, ...], state: dict[str, Any]) -> OffchipError:
    """Recreate an exception without calling the constructor, whose signature may differ."""
    # OSError and the like are made by a function of their own, which is not that of the first base.
    builtin: Any = cls
    while builtin.__module__ != "builtins":
        builtin = builtin.__base__
    error: OffchipError = builtin.__new__(cls)
    error.args = args
    for key, value in state.items():
        setattr(error, key, value)
    return error


class LibraryNotFoundError(OffchipError, ImportError):
    """No library that may be used for a package was found; the message lists every candidate."""


class RequestTimeoutError(OffchipError, TimeoutError):
    """A request did not finish within the timeout; it continues."""


class ReadOnlyError(BufferError, TypeError, ValueError):
    """Memory that would be written to is read-only."""
