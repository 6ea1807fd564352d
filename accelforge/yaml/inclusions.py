# SPDX-License-Identifier: BSD-3-Clause
"""Inclusions of one file; its templates and its parser read other files through this."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from accelforge.util.exceptions import EvaluationError

__all__ = ["Inclusions"]

MAX_INCLUSIONS = 30

Reader = Callable[[str, dict[str, Any], "Inclusions"], Any]
Renderer = Callable[[str, dict[str, Any], "Inclusions"], tuple[str, bool]]


class Inclusions:
    """The files that one file includes.

    Parameters
    ----------
    reader : callable
        Reads a file, given its path, the variables of its templates and its own inclusions.
    renderer : callable
        Takes the same, and returns the file's text after its templates.
    folders : list of str
        Folders that files are searched in besides the folder of the file itself.
    depth : int
        Number of files that include one another to get here.

    Attributes
    ----------
    loaded : dict
        What was included, by the name that the parser finds it under.
    """

    def __init__(
        self, reader: Reader, renderer: Renderer, folders: Iterable[str] = (), depth: int = 0
    ) -> None:
        self._reader = reader
        self._renderer = renderer
        self.folders = list(folders)
        self.depth = depth
        self.loaded: dict[str, Any] = {}

    def read(self, path: str, variables: dict[str, Any]) -> Any:
        """Read an included file."""
        return self._reader(path, variables, self._deeper())

    def render(self, path: str, variables: dict[str, Any]) -> str:
        """Read the text of an included file, after its templates."""
        inner = self._deeper()
        # Files that the text includes are looked up where the text ends up.
        inner.loaded = self.loaded
        return self._renderer(path, variables, inner)[0]

    def _deeper(self) -> Inclusions:
        if self.depth >= MAX_INCLUSIONS:
            raise EvaluationError(
                f"files include one another {MAX_INCLUSIONS} levels deep; does one include itself?"
            )
        return Inclusions(self._reader, self._renderer, self.folders, self.depth + 1)
