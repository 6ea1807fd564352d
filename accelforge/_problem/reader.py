# SPDX-License-Identifier: BSD-3-Clause
"""Reads the fields of a problem; what is wrong is said with its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from accelforge._problem.format import ALLOWED, AMOUNT, POSITIVE, Path, Record
from accelforge._problem.tables import ProblemError, Tables, path_text

__all__ = ["Reader"]

_MISSING: Any = object()


class Reader:
    """Reads fields of records, and adds records to tables."""

    def __init__(self) -> None:
        self.tables = Tables()
        self.components: dict[str, int] = {}
        self.tensors: dict[str, int] = {}

    # -- fields ----------------------------------------------------------------------------

    def record(self, value: object, kind: str, path: Path) -> Record:
        if not isinstance(value, Mapping):
            raise ProblemError(f"must be a dictionary ({kind})", path_text(path))
        unknown = value.keys() - ALLOWED[kind]
        if unknown:
            names = ", ".join(sorted(map(str, unknown)))
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
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise ProblemError("must be a list", path_text((path, key)))
        return value

    def mapping(self, record: Record, key: str, path: Path, default: Any = _MISSING) -> Any:
        value = self.field(record, key, path, default)
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
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
        return self.value(self.field(record, key, path, default), kind, (path, key))

    def value(self, number: Any, kind: int, path: Path) -> int:
        """Keep a number; its index among the values."""
        if isinstance(number, str) and number == "inf":
            number = float("inf")
        if type(number) is not float:
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
