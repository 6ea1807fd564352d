# SPDX-License-Identifier: BSD-3-Clause
"""NumPy's types for variables of DPU programs, from the debug information."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .dwarf.entries import read_units
from .dwarf.types import Kind, Member, Type, TypeReader
from .dwarf.variables import global_variables, named
from .elf.program import ProgramFile
from .elf.reader import ElfError

if TYPE_CHECKING:
    from ._program import DpuProgram
    from ._symbol import DpuSymbol

__all__ = ["ProgramTypes", "dtype_of", "types_of"]

_MOST_FIELDS = 4096
_LETTERS = {
    Kind.INTEGER: ("u", "i"),
    Kind.CHARACTER: ("u", "i"),
    Kind.ENUMERATION: ("u", "i"),
    Kind.FLOAT: ("f", "f"),
}
_SIZES = {"u": (1, 2, 4, 8), "i": (1, 2, 4, 8), "f": (2, 4, 8)}


def dtype_of(type: Type) -> np.dtype[Any]:
    """Return the dtype that has the layout of a C type.

    Integers, enumerations and characters become integers, pointers ``uint32``. Structures and
    unions have one field per member, at its offset; members without a name are replaced by their
    own members. Arrays become subarrays.

    Raises
    ------
    TypeError
        NumPy has no such type, as for bit fields, or the debug information is damaged.
    """
    try:
        return _Conversion().of(type)
    except (ValueError, OverflowError) as error:
        raise TypeError(f"the debug information of {type.name!r} is damaged: {error}") from None


class _Conversion:
    """Converts one type; counts the fields, as damaged types can have very many."""

    def __init__(self) -> None:
        self._fields = 0
        self._open: set[int] = set()

    def of(self, type: Type) -> np.dtype[Any]:
        if type.kind is Kind.ARRAY and type.target is not None:
            extents, element = extents_of(type)
            return np.dtype((self.of(element), extents))
        if type.kind is Kind.STRUCTURE:
            return self._structure(type)
        if type.kind is Kind.POINTER:
            return np.dtype("<u4")
        if type.kind is Kind.BOOLEAN and type.size == 1:
            return np.dtype("?")
        letter = _LETTERS.get(type.kind, ("", ""))[type.is_signed]
        if type.size not in _SIZES.get(letter, ()):
            raise TypeError(f"NumPy has no type for {type.name!r} of {type.size} bytes")
        return np.dtype(f"<{letter}{type.size}")

    def _structure(self, type: Type) -> np.dtype[Any]:
        if id(type) in self._open:
            raise TypeError(f"the debug information is damaged: {type.name!r} contains itself")
        self._open.add(id(type))
        fields: dict[str, tuple[np.dtype[Any], int]] = {}
        for member in type.members:
            self._add(fields, type, member, 0)
        self._open.remove(id(type))

        return np.dtype(
            {
                "names": list(fields),
                "formats": [kind for kind, _ in fields.values()],
                "offsets": [offset for _, offset in fields.values()],
                "itemsize": type.size,
            }
        )

    def _add(
        self,
        fields: dict[str, tuple[np.dtype[Any], int]],
        owner: Type,
        member: Member,
        base: int,
    ) -> None:
        self._fields += 1
        if self._fields > _MOST_FIELDS:
            raise TypeError(f"{owner.name!r} has more than {_MOST_FIELDS} fields")
        if member.bits:
            raise TypeError(
                f"NumPy has no type for the bit field {member.name!r} of {owner.name!r}; "
                "pass a dtype in which its bytes are an integer"
            )
        kind = self.of(member.type)
        if member.name:
            # The members of a structure have different names, unless it is damaged.
            fields.setdefault(member.name, (kind, base + member.offset))
        elif member.type.kind is Kind.STRUCTURE:
            for inner in member.type.members:
                self._add(fields, member.type, inner, base + member.offset)


def extents_of(type: Type) -> tuple[tuple[int, ...], Type]:
    """Return the extents of an array of arrays, none for another type, and its elements' type."""
    extents: list[int] = []
    while type.kind is Kind.ARRAY and type.target is not None and len(extents) < 32:
        extents.append(type.count)
        type = type.target
    return tuple(extents), type


class ProgramTypes:
    """The types of a program's variables.

    Parameters
    ----------
    image : bytes
        The program.
    """

    def __init__(self, image: bytes) -> None:
        try:
            sections = {section.name: section.data for section in ProgramFile(image).sections}
        except ElfError:
            sections = {}
        units = read_units(
            sections.get(".debug_info", b""),
            sections.get(".debug_abbrev", b""),
            sections.get(".debug_str", b""),
        )
        self._entries = {entry.offset: entry for unit in units for entry in unit.root.walk()}
        self._variables = global_variables(units, self._entries)
        self._types = TypeReader(self._entries)

    def find(self, name: str) -> Type | None:
        """Return the type of a variable, None if there is no debug information of it."""
        entry = self._variables.get(name)
        return None if entry is None else self._types.of(named(entry, self._entries))

    def layout(self, symbol: DpuSymbol) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """Return the dtype of a variable's elements and its shape.

        Raises
        ------
        TypeError
            There is no debug information of it, or NumPy has no type like it.
        """
        type = self.find(symbol.name)
        if type is None or type.kind is Kind.VOID:
            raise TypeError(
                f"what type has {symbol.name!r}? The program has no debug information of it: "
                "compile it with -g, or pass a dtype"
            )
        extents, element = extents_of(type)
        if type.size != symbol.size():
            raise TypeError(
                f"{symbol.name!r} has {symbol.size()} bytes, and {type.name!r}, which is its type "
                f"by the debug information, has {type.size}; pass a dtype"
            )
        return dtype_of(element), extents


def types_of(program: DpuProgram) -> ProgramTypes:
    """Return the types of a loaded program, which are read once.

    Raises
    ------
    TypeError
        The file of the program has changed since it was loaded, or cannot be read.
    """
    if program._types is None:
        program._types = ProgramTypes(program._image())
    return program._types
