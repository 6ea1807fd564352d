# SPDX-License-Identifier: BSD-3-Clause
"""An assembled source: sections with contents, fixups, and symbols."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from ..elf.format import Binding, SymbolType, Visibility
from .errors import Location, Problem
from .expressions import Expression, Unknown, Value, evaluate
from .forms import Candidate
from .sources import Line

__all__ = ["DataFixup", "InstructionFixup", "Place", "Section", "Symbol", "Unit", "local_name"]

# The prefix of names for labels such as `1:`, which no source can contain.
_LOCAL = "\x01"


class Place(Enum):
    """The part of a memory that a section belongs to."""

    TEXT = ".text"
    DATA = ".data"
    IMMEDIATE = ".data.immediate_memory"
    HOST = ".data.__sys_host"
    PROFILING = ".data.__sys_profiling"
    MRAM = ".mram"
    MRAM_NOINIT = ".mram.noinit"
    ATOMIC = ".atomic"
    NOWHERE = ""

    @property
    def is_empty(self) -> bool:
        """True if such sections have no contents in the file."""
        return self in (Place.MRAM_NOINIT, Place.ATOMIC)


@dataclass(slots=True)
class DataFixup:
    """A number that the linker computes."""

    offset: int
    size: int
    expression: Expression
    location: Location


@dataclass(slots=True)
class InstructionFixup:
    """An instruction that the linker encodes.

    Parameters
    ----------
    offset : int
        In its section.
    mnemonic : str
        As written in the source.
    classes : tuple of str
        The classes of the operands, as in `forms`.
    candidates : tuple of Candidate
        Its possible meanings, the preferred ones first.
    operands : list
        Registers as numbers, names of conditions as (name, symbol), others as expressions.
    columns : list of int
        The columns of the operands.
    line : Line
        Its line.
    """

    offset: int
    mnemonic: str
    classes: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    operands: list[Expression]
    columns: list[int]
    line: Line


@dataclass(eq=False)
class Section:
    """A section of one source; a section without contents has a size and no data."""

    name: str
    place: Place
    alignment: int = 1
    data: bytearray = field(default_factory=bytearray)
    empty_size: int = 0
    instructions: list[InstructionFixup] = field(default_factory=list)
    numbers: list[DataFixup] = field(default_factory=list)
    address: int | None = None

    @property
    def size(self) -> int:
        """The size in bytes, with or without contents."""
        return self.empty_size if self.place.is_empty else len(self.data)

    @property
    def is_code(self) -> bool:
        """True if it contains instructions, which its labels count."""
        return self.place is Place.TEXT

    def value_at(self, offset: int) -> Value:
        """Return the value of a label at an offset in expressions.

        That is its position in its memory, in instructions for code, otherwise in bytes.
        """
        number = offset // 8 if self.is_code else offset
        if self.address is None:
            return Value(number, self)
        return Value(number + (self.address // 8 if self.is_code else self.address))


@dataclass(eq=False, slots=True)
class Symbol:
    """A symbol of one source."""

    name: str
    section: Section | None = None
    offset: int = 0
    expression: Expression | None = None
    binding: Binding = Binding.LOCAL
    visibility: Visibility = Visibility.DEFAULT
    type: SymbolType = SymbolType.NOTYPE
    size: Expression | None = None
    location: Location | None = None
    common: int | None = None
    evaluating: bool = False

    @property
    def is_defined(self) -> bool:
        """True if the source defines it."""
        return self.section is not None or self.expression is not None


def local_name(digits: str, count: int) -> str:
    """Return the symbol of the COUNTth label `1:`."""
    return f"{_LOCAL}{digits}{_LOCAL}{count}"


def shown_name(name: str) -> str:
    """Return a symbol's name as in the source."""
    return name.split(_LOCAL)[1] if name.startswith(_LOCAL) else name


@dataclass(eq=False)
class Unit:
    """The result of assembling one source.

    Attributes
    ----------
    sections : dict
        By name, in the order of their first mention.
    symbols : dict
        All symbols that the source mentions, by name.
    """

    name: str
    folder: Path | None = None
    sections: dict[str, Section] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def symbol(self, name: str) -> Symbol:
        """Return a symbol; create it at its first mention."""
        found = self.symbols.get(name)
        if found is None:
            found = self.symbols[name] = Symbol(name)
        return found

    def reference(self, name: str, column: int) -> Expression:
        """Return the expression of a symbol where it is used.

        That is the number that it was last set to; anything else is known after linking.
        """
        symbol = self.symbol(name)
        if isinstance(symbol.expression, int) and symbol.binding is not Binding.WEAK:
            return symbol.expression
        return ("symbol", name, column)

    def resolve(self, name: str, column: int) -> Value:
        """Return the value of a symbol of this source if it is known."""
        symbol = self.symbols.get(name)
        if symbol is None or not symbol.is_defined:
            raise Unknown(shown_name(name), column)
        return self.value_of(symbol, column)

    def value_of(self, symbol: Symbol, column: int = 0) -> Value:
        """Return the value of a symbol defined in this source."""
        if symbol.section is not None:
            return symbol.section.value_at(symbol.offset)
        assert symbol.expression is not None
        if isinstance(symbol.expression, int):
            return Value(symbol.expression)
        if symbol.evaluating:
            raise Unknown(f"{shown_name(symbol.name)} (defined by itself)", column)
        symbol.evaluating = True
        try:
            return evaluate(symbol.expression, self.resolve)
        finally:
            symbol.evaluating = False
