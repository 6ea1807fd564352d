# SPDX-License-Identifier: BSD-3-Clause
"""The types of a program's variables, from its debug information."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from .constants import Attribute, Encoding, Tag

if TYPE_CHECKING:
    from .entries import Entry

__all__ = ["CHAR", "INT", "LONG", "UNSIGNED", "Kind", "Member", "Type", "TypeReader"]


class Kind(StrEnum):
    """Kinds of types."""

    VOID = "void"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    CHARACTER = "character"
    FLOAT = "float"
    POINTER = "pointer"
    STRUCTURE = "structure"
    ARRAY = "array"
    ENUMERATION = "enumeration"
    FUNCTION = "function"


@dataclass(frozen=True)
class Member:
    """A member of a structure or a union; of a bit field, the first bit and the number of bits."""

    name: str
    type: Type
    offset: int
    bit: int = 0
    bits: int = 0


@dataclass(eq=False)
class Type:
    """A type.

    Parameters
    ----------
    kind : Kind
        What it is, also behind typedefs and qualifiers.
    name : str
        As the source has it.
    size : int
        Bytes.
    is_signed : bool
        Of an integer.
    target : Type, optional
        What a pointer points to, or an array consists of.
    count : int
        Elements of an array.
    members : list of Member
        Of a structure or a union.
    enumerators : dict of int to str
        Of an enumeration.
    in_mram : bool
        Whether a pointer leads to MRAM.
    """

    kind: Kind
    name: str
    size: int = 0
    is_signed: bool = False
    target: Type | None = None
    count: int = 0
    members: list[Member] = field(default_factory=list)
    enumerators: dict[int, str] = field(default_factory=dict)
    in_mram: bool = False

    @property
    def is_number(self) -> bool:
        """True if it takes part in arithmetic."""
        return self.kind in _NUMBERS

    def pointer(self, *, in_mram: bool = False) -> Type:
        """Return the type of pointers to this one."""
        qualifier = "__mram_ptr " if in_mram else ""
        star = "*" if self.name.endswith("*") else " *"
        return Type(Kind.POINTER, f"{qualifier}{self.name}{star}", 4, target=self, in_mram=in_mram)


_NUMBERS = (Kind.INTEGER, Kind.BOOLEAN, Kind.CHARACTER, Kind.FLOAT, Kind.ENUMERATION)
VOID = Type(Kind.VOID, "void")
INT = Type(Kind.INTEGER, "int", 4, is_signed=True)
UNSIGNED = Type(Kind.INTEGER, "unsigned int", 4)
LONG = Type(Kind.INTEGER, "long", 8, is_signed=True)
CHAR = Type(Kind.CHARACTER, "char", 1, is_signed=True)

_ENCODINGS = {
    Encoding.BOOLEAN: (Kind.BOOLEAN, False),
    Encoding.FLOAT: (Kind.FLOAT, True),
    Encoding.SIGNED: (Kind.INTEGER, True),
    Encoding.SIGNED_CHAR: (Kind.CHARACTER, True),
    Encoding.UNSIGNED: (Kind.INTEGER, False),
    Encoding.UNSIGNED_CHAR: (Kind.CHARACTER, False),
}
# The compiler sees `long` as `long long`, which has the same size.
_NAMES = {"long long": "long", "unsigned long long": "unsigned long"}
_QUALIFIERS = {
    Tag.CONST_TYPE: "const",
    Tag.VOLATILE_TYPE: "volatile",
    Tag.RESTRICT_TYPE: "",
    Tag.ATOMIC_TYPE: "_Atomic",
}
_COMPOUND = {
    Tag.STRUCTURE_TYPE: "struct",
    Tag.UNION_TYPE: "union",
    Tag.ENUMERATION_TYPE: "enum",
}
_DEEPEST = 100


class TypeReader:
    """Makes types of entries; each once.

    Parameters
    ----------
    entries : mapping of int to Entry
        All entries by their offsets.
    """

    def __init__(self, entries: Mapping[int, Entry]) -> None:
        self._entries = entries
        self._types: dict[int, Type] = {}
        self._depth = 0

    def of(self, entry: Entry) -> Type:
        """Return the type of a variable, a function's result, or what a type refers to."""
        offset = entry.number(Attribute.TYPE)
        return VOID if offset is None or offset not in self._entries else self.read(offset)

    def read(self, offset: int) -> Type:
        """Return the type that an entry describes."""
        if offset in self._types:
            return self._types[offset]
        if self._depth > _DEEPEST:
            return VOID
        self._depth += 1
        try:
            return self._read(self._entries[offset])
        finally:
            self._depth -= 1

    def _read(self, entry: Entry) -> Type:
        size = entry.number(Attribute.BYTE_SIZE) or 0
        # It is there before its parts are read, which may refer to it.
        made = self._types[entry.offset] = Type(Kind.VOID, entry.name or "void", size)
        if entry.tag in _QUALIFIERS or entry.tag == Tag.TYPEDEF:
            self._copy(made, entry)
        elif entry.tag == Tag.BASE_TYPE:
            encoding = entry.number(Attribute.ENCODING) or 0
            made.kind, made.is_signed = _ENCODINGS.get(encoding, (Kind.VOID, False))  # type: ignore[call-overload]
            made.name = _NAMES.get(entry.name, entry.name)
        elif entry.tag in _COMPOUND:
            self._compound(made, entry)
        elif entry.tag == Tag.POINTER_TYPE:
            self._pointer(made, entry)
        elif entry.tag == Tag.ARRAY_TYPE:
            self._array(made, entry)
        elif entry.tag == Tag.SUBROUTINE_TYPE:
            made.kind, made.name = Kind.FUNCTION, f"{self.of(entry).name} ()"
        return made

    def _copy(self, made: Type, entry: Entry) -> None:
        """Fill in a typedef or a qualified type."""
        target = self.of(entry)
        qualifier = _QUALIFIERS.get(Tag(entry.tag), "")
        made.name = entry.name or " ".join(filter(None, [qualifier, target.name]))
        made.kind, made.size, made.is_signed = target.kind, target.size, target.is_signed
        made.target, made.count, made.in_mram = target.target, target.count, target.in_mram
        made.members, made.enumerators = target.members, target.enumerators

    def _compound(self, made: Type, entry: Entry) -> None:
        made.name = f"{_COMPOUND[Tag(entry.tag)]} {entry.name or '{...}'}"
        if entry.tag == Tag.ENUMERATION_TYPE:
            made.kind = Kind.ENUMERATION
            made.is_signed = self.of(entry).is_signed
            for child in entry.children:
                made.enumerators[child.number(Attribute.CONST_VALUE) or 0] = child.name
            return
        made.kind = Kind.STRUCTURE
        for child in entry.children:
            if child.tag == Tag.MEMBER:
                made.members.append(self._member(child))

    def _member(self, entry: Entry) -> Member:
        kind = self.of(entry)
        offset = entry.number(Attribute.DATA_MEMBER_LOCATION) or 0
        bits = entry.number(Attribute.BIT_SIZE) or 0
        if not bits:
            return Member(entry.name, kind, offset)
        first = entry.number(Attribute.DATA_BIT_OFFSET)
        if first is None:
            # Counted from the highest bit of the storage unit.
            first = 8 * (entry.number(Attribute.BYTE_SIZE) or kind.size) - bits
            first += 8 * offset - (entry.number(Attribute.BIT_OFFSET) or 0)
        return Member(entry.name, kind, first // 8, first % 8, bits)

    def _pointer(self, made: Type, entry: Entry) -> None:
        target = self.of(entry)
        in_mram = any(
            child.tag == Tag.LLVM_ANNOTATION
            and child.values.get(Attribute.CONST_VALUE, (0, ""))[1] == "mram"
            for child in entry.children
        )
        pointer = target.pointer(in_mram=in_mram)
        made.kind, made.name, made.size = pointer.kind, pointer.name, pointer.size
        made.target, made.in_mram = target, in_mram

    def _array(self, made: Type, entry: Entry) -> None:
        counts = [_extent(child) for child in entry.children if child.tag == Tag.SUBRANGE_TYPE]
        element = self.of(entry)
        base, suffix = element.name, ""
        if element.kind is Kind.ARRAY:
            base, _, suffix = element.name.partition("[")
            suffix = f"[{suffix}" if suffix else ""
        for count in reversed(counts[1:]):
            suffix = f"[{count}]{suffix}"
            size = count * element.size
            element = Type(Kind.ARRAY, base + suffix, size, target=element, count=count)
        count = counts[0] if counts else 0
        made.kind, made.target, made.count = Kind.ARRAY, element, count
        made.name, made.size = f"{base}[{count}]{suffix}", count * element.size


def _extent(entry: Entry) -> int:
    """Return how many elements a dimension of an array has, 0 if that is not known."""
    count, last = entry.number(Attribute.COUNT), entry.number(Attribute.UPPER_BOUND)
    if count is not None:
        return count
    # -1 stands for no elements.
    return 0 if last is None else (last + 1) & 0xFFFF_FFFF
