# SPDX-License-Identifier: BSD-3-Clause
"""A flattened problem, and errors that name a place in one."""

from __future__ import annotations

import json
import re
from array import array

from accelforge._problem.format import Path

__all__ = ["ProblemError", "Tables", "parse_path", "path_text"]

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_KEY = re.compile(
    rf"(?P<first>(?<![\s\S]){_NAME})|\.(?P<name>{_NAME})"
    r'|\[(?P<index>[0-9]{1,9})\]|\[(?P<quoted>"(?:[^"\\]|\\.)*")\]'
)


class ProblemError(ValueError):
    """A problem that the engine cannot take.

    Parameters
    ----------
    message : str
        What is wrong.
    path : str
        Where, for example ``einsums[0].levels[2].size``; empty for the whole problem.
    """

    path: str

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path


def path_text(path: Path) -> str:
    """Write a path as text, as users give it."""
    parts: list[str] = []
    while path is not None:
        path, key = path
        if isinstance(key, int):
            parts.append(f"[{key}]")
        elif re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
            parts.append(f".{key}")
        else:
            parts.append(f"[{json.dumps(key)}]")
    return "".join(reversed(parts)).removeprefix(".")


def parse_path(text: str) -> Path:
    """Read a path; None if it is none."""
    path: Path = None
    position = 0
    while position < len(text):
        found = _KEY.match(text, position)
        if found is None or (position == 0) != (found["first"] is not None):
            return None
        key: str | int = found["first"] or found["name"] or ""
        if found["index"]:
            key = int(found["index"])
        elif found["quoted"]:
            try:
                key = json.loads(found["quoted"])
            except ValueError:
                return None
        path = (path, key)
        position = found.end()
    return path


class Tables:
    """A flattened problem.

    Attributes
    ----------
    records : dict of str to array
        For each table of the engine its records, one after the other, as 32-bit numbers.
    values : array of double
        All numbers.
    numbers : bytearray
        What kind of number each is.
    paths : list
        Where each came from.
    parameters : dict of str to list of int
        The values that each parameter sets.
    """

    def __init__(self) -> None:
        names = "components einsums variables tensors ranks terms levels dimensions actions"
        names += " holdings tokens leaks gates steps indices"
        self.records: dict[str, array[int]] = {name: array("I") for name in names.split()}
        self.values = array("d")
        self.numbers = bytearray()
        self.paths: list[Path] = []
        self.parameters: dict[str, list[int]] = {}
        self.n_instances = 0
        self.component_names: list[str] = []
        self.tensor_names: list[str] = []
        self.einsum_names: list[str] = []
        # Per Einsum.
        self.variables: list[list[str]] = []
        self.accesses: list[list[str]] = []
        self.levels: list[list[str]] = []
        self.dimensions: list[list[list[str]]] = []
        self._slots: dict[Path, int] | None = None

    def slot(self, path: str) -> int | None:
        """Find the value that a path names."""
        if self._slots is None:
            self._slots = {known: i for i, known in enumerate(self.paths)}
        return self._slots.get(parse_path(path))
