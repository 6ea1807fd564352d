# SPDX-License-Identifier: BSD-3-Clause
"""The points of an exploration or a study in a file of SQLite, which outlives a stop at any time.

Table ``points`` has a row for each point and mapping: its number, that of its mapping, the value of
each parameter, and each objective (NULL if the point is invalid). A chunk is written in one
transaction, so that it is there as a whole or not at all.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Store", "StoreError"]


class StoreError(Exception):
    """The file has something else, or is in use."""


class Store:
    """An open file.

    Parameters
    ----------
    path : path
        The file; it is made if it does not exist.
    described : dict
        What is explored, as JSON: a file of something else is refused.
    parameters, objectives : sequence of str
        Names of columns.
    kind : str
        What is in the file: a word for messages, and after the package's name its format.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        described: dict[str, Any],
        parameters: Sequence[str],
        objectives: Sequence[str],
        kind: str = "accelforge-exploration",
    ) -> None:
        self.path = Path(path)
        self.format, self.kind = kind, kind.rpartition("-")[2]
        self.names = [*parameters, *objectives]
        self.width = len(parameters)
        # SQLite makes and removes journals beside the file, in /dev too.
        if self.path.exists() and not self.path.is_file():
            raise StoreError(f"{self.path} is no regular file, in which points could be kept")
        try:
            self.connection = sqlite3.connect(self.path, timeout=1, isolation_level=None)
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be opened: {error}") from error
        try:
            self._open(described)
        except sqlite3.OperationalError as error:
            self.connection.close()
            where = "another process writes to it" if "locked" in str(error) else error
            raise StoreError(f"{self.path} cannot be used: {where}") from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            self.connection.close()
            raise StoreError(f"{self.path} has no {self.kind}: {error}") from error
        except BaseException:
            self.connection.close()
            raise

    def _open(self, described: dict[str, Any]) -> None:
        self.connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute("BEGIN IMMEDIATE")
        tables = {
            name
            for (name,) in self.connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            )
        }
        if not tables:
            self._create(described)
        elif not {"about", "chunks", "points"} <= tables:
            raise StoreError(f"{self.path} is a file of SQLite, but has no {self.kind}")
        else:
            self._compare(described)
        self.connection.execute("COMMIT")

    def _create(self, described: dict[str, Any]) -> None:
        # Names of SQLite that differ in their case alone are the same.
        low = [name.lower() for name in self.names]
        columns = ", ".join(
            _quoted(name if low.count(name.lower()) == 1 else f"{name} ({i})")
            for i, name in enumerate(self.names)
        )
        self.connection.execute("CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT)")
        self.connection.execute("CREATE TABLE chunks (number INTEGER PRIMARY KEY, reason TEXT)")
        self.connection.execute(
            f"CREATE TABLE points (point INTEGER, mapping INTEGER, {columns}, "
            f"PRIMARY KEY (point, mapping)) WITHOUT ROWID"
        )
        about = {"format": self.format, **described}
        self.connection.executemany(
            "INSERT INTO about VALUES (?, ?)", [(k, json.dumps(v)) for k, v in about.items()]
        )

    def _compare(self, described: dict[str, Any]) -> None:
        about = dict(self.connection.execute("SELECT name, value FROM about"))
        if about.get("format") != json.dumps(self.format):
            raise StoreError(f"{self.path} is a file of SQLite, but has no {self.kind}")
        other = [name for name, value in described.items() if about.get(name) != json.dumps(value)]
        if other:
            raise StoreError(
                f"{self.path} has another {self.kind}: different {' and '.join(other)}. "
                f"Give another file, or the same arguments to go on with it"
            )

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def done(self) -> set[int]:
        """Return the numbers of the chunks that are there."""
        numbers = {number for (number,) in self._all("SELECT number FROM chunks")}
        # A column whose definition is damaged may have anything.
        if not all(isinstance(number, int) for number in numbers):
            raise StoreError(f"{self.path} is damaged: a chunk has no number")
        return numbers

    def reasons(self) -> dict[int, str]:
        """Return why the first invalid point of each chunk is invalid, in their order."""
        query = "SELECT number, reason FROM chunks WHERE reason != '' ORDER BY number"
        return {number: str(reason) for number, reason in self._all(query)}

    def reason(self) -> str:
        """Return why the first invalid point is invalid."""
        return next(iter(self.reasons().values()), "")

    def _all(self, query: str, values: tuple[int, ...] = ()) -> list[tuple[Any, ...]]:
        try:
            return self.connection.execute(query, values).fetchall()
        # Damaged text is an error of its own.
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise StoreError(f"{self.path} cannot be read: {error}") from error

    def write(
        self,
        number: int,
        points: Iterable[tuple[int, int]],
        columns: Sequence[Sequence[Any]],
        costs: NDArray[np.float64],
        reason: str,
    ) -> None:
        """Write a chunk.

        Parameters
        ----------
        number : int
            Its number.
        points : iterable of tuple
            Number of the point and of its mapping, row by row.
        columns : sequence of sequence
            The values of each parameter, row by row.
        costs : numpy.ndarray
            The objectives, row by row.
        reason : str
            Why the first invalid point is invalid.
        """
        # SQLite has NULL for NaN.
        rows = (
            (*point, *row)
            for point, row in zip(
                points, zip(*columns, *costs.T.tolist(), strict=True), strict=True
            )
        )
        marks = ", ".join("?" * (2 + len(self.names)))
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.executemany(f"INSERT INTO points VALUES ({marks})", rows)
            self.connection.execute("INSERT INTO chunks VALUES (?, ?)", (number, reason))
            self.connection.execute("COMMIT")
        except (sqlite3.Error, OverflowError) as error:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise StoreError(f"{self.path} cannot be written: {error}") from error

    def read(
        self, first: int = 0, end: int = 1 << 62
    ) -> tuple[NDArray[np.int64], list[list[Any]], NDArray[np.float64]]:
        """Read points in their order: their numbers, values of parameters, objectives.

        Parameters
        ----------
        first, end : int
            Numbers of points; the last one is left out.
        """
        rows = self._all(
            "SELECT * FROM points WHERE point >= ? AND point < ? ORDER BY point, mapping",
            (first, end),
        )
        turned = [list(column) for column in zip(*rows, strict=True)]
        if not turned:
            turned = [[] for _ in range(2 + len(self.names))]
        try:
            costs = [np.array(c, dtype=np.float64) for c in turned[2 + self.width :]]
            points = np.array(turned[0], dtype=np.int64)
        except (TypeError, ValueError, OverflowError) as error:
            raise StoreError(f"{self.path} is damaged: {error}") from error
        return points, turned[2 : 2 + self.width], np.column_stack(costs)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
