# SPDX-License-Identifier: BSD-3-Clause
"""A flattened problem, and errors that name a place in one."""

from __future__ import annotations

import json
import re
from array import array

from accelforge._problem.format import Path

__all__ = ["ProblemError", "Tables", "path_text"]


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
        self._slots: dict[str, int] | None = None

    def slot(self, path: str) -> int | None:
        """Find the value that a path names."""
        if self._slots is None:
            self._slots = {path_text(known): i for i, known in enumerate(self.paths)}
        return self._slots.get(path)
