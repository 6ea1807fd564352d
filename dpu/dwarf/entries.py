# SPDX-License-Identifier: BSD-3-Clause
"""The entries of ``.debug_info``: units, functions, variables and types, as trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .constants import Attribute, Form
from .stream import Reader

__all__ = ["Entry", "Unit", "Value", "read_units"]

_FIXED = {
    Form.ADDR: 4,
    Form.DATA1: 1,
    Form.DATA2: 2,
    Form.DATA4: 4,
    Form.DATA8: 8,
    Form.FLAG: 1,
    Form.SEC_OFFSET: 4,
    Form.REF_SIG8: 8,
}
_REFERENCES = {Form.REF1: 1, Form.REF2: 2, Form.REF4: 4, Form.REF8: 8}
_BLOCKS = {Form.BLOCK1: 1, Form.BLOCK2: 2, Form.BLOCK4: 4}
_HEADER = 11
_VERSIONS = range(2, 5)


class Value(NamedTuple):
    """The value of an attribute, and where in the section its bytes are.

    References are offsets in the section; strings are text, and blocks are bytes.
    """

    form: int
    value: int | bytes | str
    at: int


class Entry:
    """An entry and what is inside it."""

    __slots__ = ("children", "offset", "parent", "tag", "unit", "values")

    def __init__(self, unit: Unit, offset: int, tag: int, parent: Entry | None) -> None:
        self.unit = unit
        self.offset = offset
        self.tag = tag
        self.parent = parent
        self.values: dict[int, Value] = {}
        self.children: list[Entry] = []

    def number(self, attribute: int) -> int | None:
        """Return an attribute that is a number or a reference, None if there is none."""
        found = self.values.get(attribute)
        return found.value if found is not None and isinstance(found.value, int) else None

    def block(self, attribute: int) -> bytes | None:
        """Return an attribute that is a block of bytes, None if there is none."""
        found = self.values.get(attribute)
        return found.value if found is not None and isinstance(found.value, bytes) else None

    @property
    def name(self) -> str:
        """The name, "" without one."""
        found = self.values.get(Attribute.NAME)
        return found.value if found is not None and isinstance(found.value, str) else ""

    def walk(self) -> Iterator[Entry]:
        """Yield the entry and all inside it."""
        pending = [self]
        while pending:
            entry = pending.pop()
            yield entry
            pending += reversed(entry.children)


class Unit:
    """A compiled file.

    Attributes
    ----------
    offset, version : int
        Where it is, and the version of DWARF.
    root : Entry
        Its outermost entry.
    """

    def __init__(self, offset: int, version: int) -> None:
        self.offset = offset
        self.version = version
        self.root = Entry(self, offset, 0, None)

    @property
    def base(self) -> int:
        """The address that its location lists and ranges are relative to."""
        return self.root.number(Attribute.LOW_PC) or 0


_Shape = tuple[int, bool, list[tuple[int, int]]]


def read_units(info: bytes, abbreviations: bytes, strings: bytes) -> list[Unit]:
    """Read a section; units that are damaged, or of another version, are left out.

    Parameters
    ----------
    info, abbreviations, strings : bytes
        The sections ``.debug_info``, ``.debug_abbrev`` and ``.debug_str``.
    """
    units = []
    tables: dict[int, dict[int, _Shape]] = {}
    at = 0
    while len(info) - at >= _HEADER:
        start, end = at, at + 4 + int.from_bytes(info[at : at + 4], "little")
        if end > len(info):
            break
        at = end
        try:
            unit = _read_unit(Reader(info, start, end), abbreviations, strings, tables)
        except (IndexError, ValueError):
            continue
        if unit is not None:
            units.append(unit)
    return units


def _read_unit(
    r: Reader, abbreviations: bytes, strings: bytes, tables: dict[int, dict[int, _Shape]]
) -> Unit | None:
    start = r.at
    r.number(4)
    version, table, address_size = r.number(2), r.number(4), r.number(1)
    if version not in _VERSIONS or address_size != 4:
        return None
    unit = Unit(start, version)
    if table not in tables:
        tables[table] = _read_abbreviations(Reader(abbreviations, table))
    shapes = tables[table]

    parent: Entry | None = None
    while not r.is_at_end:
        offset, code = r.at, r.uleb()
        if code == 0:
            if parent is None or parent.parent is None:
                break
            parent = parent.parent
            continue
        tag, has_children, attributes = shapes[code] if code in shapes else _unknown(code)
        entry = Entry(unit, offset, tag, parent)
        for attribute, form in attributes:
            entry.values[attribute] = _read_value(r, form, start, strings)
        if parent is None:
            unit.root = entry
            if not has_children:
                break
        else:
            parent.children.append(entry)
        if has_children:
            parent = entry
    return unit


def _unknown(code: int) -> _Shape:
    raise ValueError(f"abbreviation {code} is not in the table")


def _read_abbreviations(r: Reader) -> dict[int, _Shape]:
    shapes: dict[int, _Shape] = {}
    while code := r.uleb():
        tag, has_children = r.uleb(), r.number(1) != 0
        attributes = []
        while True:
            pair = r.uleb(), r.uleb()
            if pair == (0, 0):
                break
            attributes.append(pair)
        shapes[code] = tag, has_children, attributes
    return shapes


def _read_value(r: Reader, form: int, unit: int, strings: bytes) -> Value:
    at = r.at
    if form in _FIXED:
        return Value(form, r.number(_FIXED[Form(form)]), at)
    if form in _REFERENCES:
        return Value(form, unit + r.number(_REFERENCES[Form(form)]), at)
    if form in _BLOCKS:
        size = r.number(_BLOCKS[Form(form)])
        return Value(form, r.bytes(size), r.at - size)
    match form:
        case Form.EXPRLOC | Form.BLOCK:
            size = r.uleb()
            return Value(form, r.bytes(size), r.at - size)
        case Form.STRP:
            return Value(form, Reader(strings, r.number(4)).string(), at)
        case Form.STRING:
            return Value(form, r.string(), at)
        case Form.FLAG_PRESENT:
            return Value(form, 1, at)
        case Form.SDATA:
            return Value(form, r.sleb(), at)
        case Form.UDATA:
            return Value(form, r.uleb(), at)
        case Form.REF_UDATA:
            return Value(form, unit + r.uleb(), at)
        case Form.REF_ADDR:
            return Value(form, r.number(4), at)
    raise ValueError(f"form {form:#x} is not known")
