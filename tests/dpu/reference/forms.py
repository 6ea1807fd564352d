# SPDX-License-Identifier: BSD-3-Clause
"""The forms that instructions have, read from the simulator's table, and which one a word is."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

REGISTERS = frozenset(range(24))
ZERO = 24


@dataclass(frozen=True)
class Field:
    """An operand in the word: ``(bit of the word, width, bit of the value)`` for each piece."""

    pieces: tuple[tuple[int, int, int], ...]
    width: int
    signed: bool

    def read(self, word: int) -> int:
        value = 0
        for at, width, to in self.pieces:
            value |= (word >> at & (1 << width) - 1) << to
        return value - (1 << self.width) if self.signed and value >> (self.width - 1) else value

    def write(self, word: int, value: int) -> int:
        for at, width, to in self.pieces:
            mask = (1 << width) - 1
            word = word & ~(mask << at) | (value >> to & mask) << at
        return word


@dataclass(frozen=True)
class Form:
    """A mnemonic with one layout of its operands."""

    mnemonic: str
    suffix: str
    mask: int
    match: int
    canon: int
    checks: tuple[tuple[Field, frozenset[int]], ...]
    """Values that fields must hold for a word to be of this form."""
    fields: Mapping[str, Field]
    destination: str
    """``none``, ``discard``, ``r32``, ``d64``, ``d64s`` or ``d64u``."""
    role: str
    """Use of the condition: ``jump``, ``set``, or nothing."""
    conditions: Mapping[int, str]

    def __str__(self) -> str:
        return f"{self.mnemonic}:{self.suffix}"

    def __hash__(self) -> int:
        return hash((self.mnemonic, self.suffix))

    def matches(self, word: int) -> bool:
        return word & self.mask == self.match and all(
            field.read(word) in allowed for field, allowed in self.checks
        )

    def operands_of(self, word: int) -> dict[str, int]:
        return {name: field.read(word) for name, field in self.fields.items()}

    def encode(self, **operands: int) -> int:
        """Make a word; operands that are not given are 0."""
        word = self.canon
        for name, value in operands.items():
            word = self.fields[name].write(word, value)
        return word


class Table:
    """All forms."""

    def __init__(self, forms: Iterable[Form]) -> None:
        self.forms = list(forms)
        self._by_name = {str(form): form for form in self.forms}
        self.decode = functools.lru_cache(maxsize=1 << 14)(self._decode)

    def __iter__(self) -> Iterator[Form]:
        return iter(self.forms)

    def __len__(self) -> int:
        return len(self.forms)

    def __getitem__(self, name: str) -> Form:
        return self._by_name[name]

    def _decode(self, word: int) -> Form | None:
        found = [form for form in self.forms if form.matches(word)]
        assert len(found) <= 1, f"{word:012x} is {', '.join(map(str, found))}"
        return found[0] if found else None


# --- the simulator's table --------------------------------------------------------------------

FIELD = re.compile(r"^FIELD\((\w+), (\w+), (\w+), (\d+), ([01]), (.*)\)$", re.MULTILINE)
SEGMENT = re.compile(r"SEG\((\d+), (\d+), (\d+)\)")
CONDITION = re.compile(r"^CONDITION\((\w+), \"(\w+)\"\)$", re.MULTILINE)
CODE = re.compile(r"^CODE\((\w+), (\w+), (\d+)\)$", re.MULTILINE)
FORM = re.compile(
    r"^FORM\(\w+, \"(?P<mnemonic>[\w.]+)\", \"(?P<suffix>\w*)\", (?P<mask>\w+), (?P<match>\w+),"
    r" (?P<canon>\w+), (?P<destination>\w+), \w+, (?P<class>\w+), (?P<codes>\w+), [01],"
    r" (?P<kind>OPERANDS|CHECKED)\d\((?P<fields>[\w, ]*)\)\)$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class _Place:
    operand: str
    check: str
    field: Field


def _places(text: str) -> dict[str, _Place]:
    found = {}
    for name, operand, check, width, signed, segments in FIELD.findall(text):
        pieces = [(int(at), int(size), int(to)) for at, size, to in SEGMENT.findall(segments)]
        where = Field(tuple(pieces), int(width), signed == "1")
        found[name] = _Place("immDma" if operand == "IMMDMA" else operand.lower(), check, where)
    return found


def _classes(text: str) -> dict[str, dict[int, str]]:
    names = dict(CONDITION.findall(text))
    found: dict[str, dict[int, str]] = {"NONE": {}}
    for group, condition, code in CODE.findall(text):
        found.setdefault(group, {})[int(code)] = names[condition]
    return found


def _allowed(check: str, codes: int) -> frozenset[int]:
    match check:
        case "GENERAL" | "EVEN":
            return REGISTERS
        case "NOT_ZERO":
            return frozenset(range(32)) - {ZERO}
        case "CODE":
            return frozenset(code for code in range(64) if codes >> code & 1)
    raise ValueError(check)


def read_table(folder: Path) -> Table:
    """Read the description of the instruction set that the simulator is built from."""
    places = _places((folder / "fields.def").read_text())
    classes = _classes((folder / "conditions.def").read_text())
    forms = []
    for row in FORM.finditer((folder / "instructions.def").read_text()):
        names = row["fields"].split(", ") if row["fields"] else []
        codes = int(row["codes"], 16)
        checks = tuple(
            (places[name].field, _allowed(places[name].check, codes))
            for name in names
            if places[name].check != "ANY"
        )
        operands = names[:-1] if row["kind"] == "CHECKED" else names
        found = [places[name] for name in operands]
        fields = {place.operand: place.field for place in found if place.field.width}
        sets = "cc" in fields and row["suffix"].endswith("c")
        forms.append(
            Form(
                mnemonic=row["mnemonic"],
                suffix=row["suffix"],
                mask=int(row["mask"], 16),
                match=int(row["match"], 16),
                canon=int(row["canon"], 16),
                checks=checks,
                fields=fields,
                destination=row["destination"].lower(),
                role="set" if sets else "jump" if "pc" in fields else "",
                conditions={c: n for c, n in classes[row["class"]].items() if codes >> c & 1},
            )
        )
    return Table(forms)
