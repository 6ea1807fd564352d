# SPDX-License-Identifier: BSD-3-Clause
"""Reads the fields of a problem; errors have their path."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from accelforge._problem.format import ALLOWED, AMOUNT, POSITIVE, Path, Record
from accelforge._problem.tables import ProblemError, Tables, path_text

__all__ = ["Reader"]

_MISSING: Any = object()
_STRING = frozenset((str,))


def _is_string(name: object) -> bool:
    return type(name) is str or isinstance(name, str)


class Reader:
    """Reads fields of records, and adds records to tables."""

    def __init__(self) -> None:
        self.tables = Tables()
        self.components: dict[str, int] = {}
        self.tensors: dict[str, int] = {}

    # -- fields ----------------------------------------------------------------------------

    def record(self, value: object, kind: str, path: Path) -> Record:
        # The exact types first: an abstract class takes ten times as long.
        if type(value) is not dict and not isinstance(value, Mapping):
            raise ProblemError(f"must be a dictionary ({kind})", path_text(path))
        if not ALLOWED[kind].issuperset(value):
            names = ", ".join(sorted(map(str, set(value) - ALLOWED[kind])))
            known = ", ".join(sorted(ALLOWED[kind]))
            raise ProblemError(f"unknown field {names}; a {kind} has {known}", path_text(path))
        return value

    def field(self, record: Record, key: str, path: Path, default: Any = _MISSING) -> Any:
        value = record.get(key, default)
        if value is _MISSING:
            raise ProblemError(f"the field {key!r} is missing", path_text(path))
        return value

    def name(self, record: Record, key: str, path: Path) -> str:
        value = self.field(record, key, path)
        if not isinstance(value, str):
            raise ProblemError("must be a string", path_text((path, key)))
        return value

    def sequence(self, record: Record, key: str, path: Path, default: Any = _MISSING) -> Any:
        value = self.field(record, key, path, default)
        if type(value) is not list and (isinstance(value, str) or not isinstance(value, Sequence)):
            raise ProblemError("must be a list", path_text((path, key)))
        return value

    def mapping(self, record: Record, key: str, path: Path, default: Any = _MISSING) -> Any:
        value = self.field(record, key, path, default)
        wrong = type(value) is not dict and not isinstance(value, Mapping)
        if wrong or not (_STRING.issuperset(map(type, value)) or all(map(_is_string, value))):
            raise ProblemError("must be a dictionary with strings as keys", path_text((path, key)))
        return value

    def flag(self, record: Record, key: str, path: Path, default: bool) -> int:
        value = record.get(key, default)
        if value is not True and value is not False:
            raise ProblemError("must be true or false", path_text((path, key)))
        return int(value)

    def number(
        self, record: Record, key: str, kind: int, path: Path, default: Any = _MISSING
    ) -> int:
        value = record.get(key, default)
        if type(value) is not float:
            if value is _MISSING:
                raise ProblemError(f"the field {key!r} is missing", path_text(path))
            return self.value(value, kind, (path, key))
        tables = self.tables
        paths = tables.paths
        tables.values.append(value)
        tables.numbers.append(kind)
        paths.append((path, key))
        return len(paths) - 1

    def value(self, number: Any, kind: int, path: Path) -> int:
        """Keep a number; its index among the values."""
        if type(number) is int and -(1 << 53) < number < 1 << 53:
            number = float(number)
        elif type(number) is str and number == "inf":
            number = math.inf
        elif type(number) is not float:
            if isinstance(number, (bool, str)) or not hasattr(number, "__float__"):
                raise ProblemError("must be a number", path_text(path))
            try:
                number = float(number)
            except (OverflowError, TypeError, ValueError) as error:
                raise ProblemError(f"must be a number ({error})", path_text(path)) from None
        tables = self.tables
        tables.values.append(number)
        tables.numbers.append(kind)
        tables.paths.append(path)
        return len(tables.values) - 1

    def count(self, table: str, width: int) -> int:
        return len(self.tables.records[table]) // width

    def add(self, table: str, *fields: int) -> None:
        self.tables.records[table].extend(fields)

    def choice(
        self, names: Mapping[str, Any], record: Record, key: str, path: Path, what: str
    ) -> Any:
        name = self.name(record, key, path)
        if name not in names:
            known = ", ".join(names) or "none"
            raise ProblemError(f"there is no {what} {name!r}, only {known}", path_text((path, key)))
        return names[name]

    # -- components ------------------------------------------------------------------------

    def component(self, record: Record, path: Path) -> None:
        self.record(record, "component", path)
        name = self.name(record, "name", path)
        if name in self.components:
            raise ProblemError(f"there are two components {name!r}", path_text(path))
        self.new_component(name, record, path)

    def new_component(self, name: str, record: Record, path: Path) -> int:
        self.add(
            "components",
            self.number(record, "area", AMOUNT, path, 0.0),
            self.number(record, "leak_power", AMOUNT, path, 0.0),
            self.number(record, "instances", POSITIVE, path, 1.0),
        )
        self.components[name] = len(self.tables.component_names)
        self.tables.component_names.append(name)
        return self.components[name]
