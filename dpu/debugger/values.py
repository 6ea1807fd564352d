# SPDX-License-Identifier: BSD-3-Clause
"""Values of a program: read from a DPU, changed there, and shown."""

from __future__ import annotations

import struct
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..dwarf.locations import Piece, Place, Unavailable
from ..dwarf.types import Kind, Member, Type
from .errors import DebuggerError
from .frames import Frame
from .machine import MRAM_BASE
from .session import Attached

__all__ = ["Value", "as_json", "show"]

_MOST_ELEMENTS = 32
_MOST_TEXT = 256
_WIDTH = 76


@dataclass(frozen=True)
class Value:
    """A value with its type.

    Parameters
    ----------
    type : Type
        Its type.
    data : bytes, optional
        Its bytes; None until it is read from the address, as arrays may be large.
    address : int, optional
        Where it is in memory.
    pieces : tuple of Piece
        Where it is otherwise.
    frame : Frame, optional
        Whose registers the pieces are in.
    machine : Attached, optional
        The DPU.
    member : Member, optional
        Of a bit field.
    """

    type: Type
    data: bytes | None = None
    address: int | None = None
    pieces: tuple[Piece, ...] = ()
    frame: Frame | None = None
    machine: Attached | None = None
    member: Member | None = None

    @staticmethod
    def of(type: Type, number: float) -> Value:
        """Return the value of a number."""
        return Value(type, _encode(type, number))

    @staticmethod
    def at(type: Type, address: int, machine: Attached) -> Value:
        """Return the value at an address."""
        return Value(type, address=address & 0xFFFF_FFFF, machine=machine)

    @staticmethod
    def in_frame(type: Type, pieces: list[Piece], frame: Frame) -> Value:
        """Return the value of a variable."""
        first = pieces[0]
        if len(pieces) == 1 and first.place is Place.MEMORY and isinstance(first.value, int):
            return Value.at(type, first.value, frame.machine)
        return Value(type, pieces=tuple(pieces), frame=frame, machine=frame.machine)

    def read(self) -> bytes:
        """Return its bytes; Unavailable if they are not known."""
        if self.data is not None:
            return self.data
        if self.address is not None and self.machine is not None:
            try:
                return self.machine.read(self.address, self.type.size)
            except DebuggerError as error:
                raise Unavailable(str(error)) from error
        data = b"".join(self._piece(piece) for piece in self.pieces)
        return data[: self.type.size].ljust(self.type.size, b"\0")

    def _piece(self, piece: Piece) -> bytes:
        size = piece.size or self.type.size
        match piece.place:
            case Place.MEMORY if self.machine is not None and isinstance(piece.value, int):
                return self.machine.read(piece.value, size)
            case Place.REGISTER if self.frame is not None and isinstance(piece.value, int):
                return (
                    self.frame.register(piece.value).to_bytes(4, "little")[:size].ljust(size, b"\0")
                )
            case Place.VALUE if isinstance(piece.value, int):
                return (piece.value & (1 << 8 * size) - 1).to_bytes(size, "little")
            case Place.BYTES if isinstance(piece.value, bytes):
                return piece.value[:size].ljust(size, b"\0")
        raise Unavailable("not available here: a part of it is kept nowhere")

    def number(self) -> int | float:
        """Return it as a number; DebuggerError if it is none."""
        kind = self.type.kind
        if kind is Kind.ARRAY:
            return self.address or 0
        if not (self.type.is_number or kind is Kind.POINTER):
            raise DebuggerError(f"a value of type {self.type.name} is no number")
        data = self.read()
        if kind is Kind.FLOAT:
            unpacked: float = struct.unpack("<f" if self.type.size == 4 else "<d", data)[0]
            return unpacked
        if self.member is not None and self.member.bits:
            bits = int.from_bytes(data, "little") >> self.member.bit & (1 << self.member.bits) - 1
            if self.type.is_signed and bits >> (self.member.bits - 1):
                bits -= 1 << self.member.bits
            return bits
        return int.from_bytes(data, "little", signed=self.type.is_signed)

    def integer(self) -> int:
        """Return it as an integer."""
        return int(self.number())

    def target(self) -> int:
        """Return the address that a pointer leads to, with the base of its memory."""
        address = self.integer()
        if self.type.in_mram and address < MRAM_BASE:
            return address + MRAM_BASE
        return address

    def dereferenced(self, index: int = 0) -> Value:
        """Return what a pointer or an array has at an index."""
        target = self.type.target
        if target is None or self.type.kind not in (Kind.POINTER, Kind.ARRAY):
            raise DebuggerError(f"a value of type {self.type.name} cannot be dereferenced")
        if target.size == 0 or target.kind in (Kind.VOID, Kind.FUNCTION):
            raise DebuggerError(f"the size of {target.name} is not known")
        if self.type.kind is Kind.ARRAY and self.address is None:
            return self._part(target, index * target.size)
        start = self.target() if self.type.kind is Kind.POINTER else self.address or 0
        if self.machine is None:
            raise DebuggerError("the value is in no memory")
        return Value.at(target, start + index * target.size, self.machine)

    def _part(self, type: Type, offset: int, member: Member | None = None) -> Value:
        size = -(-(member.bit + member.bits) // 8) if member and member.bits else type.size
        if self.address is not None and self.machine is not None:
            data = self.machine.read(self.address + offset, size) if size != type.size else None
            where = self.address + offset
            return Value(type, data, where, machine=self.machine, member=member)
        data = self.read()[offset : offset + size]
        return Value(type, data, machine=self.machine, member=member)

    def members(self) -> Iterator[tuple[str, Value]]:
        """Yield the members of a structure."""
        for member in self.type.members:
            yield member.name, self._part(member.type, member.offset, member)

    def get(self, name: str) -> Value:
        """Return a member; those of members without a name count too."""
        for member in self.type.members:
            part = self._part(member.type, member.offset, member)
            if member.name == name:
                return part
            if not member.name and any(m.name == name for m in member.type.members):
                return part.get(name)
        raise DebuggerError(f"{self.type.name} has no member {name!r}")

    def assign(self, value: Value) -> None:
        """Write another value in its place."""
        if self.member is not None and self.member.bits:
            raise DebuggerError("bit fields cannot be changed")
        if self.type.is_number or self.type.kind is Kind.POINTER:
            data = _encode(self.type, value.number())
        elif value.type.size == self.type.size:
            data = value.read()
        else:
            raise DebuggerError(f"{value.type.name} cannot be assigned to {self.type.name}")
        if self.address is not None and self.machine is not None:
            self.machine.write(self.address, data)
            return
        self._write_pieces(data)

    def _write_pieces(self, data: bytes) -> None:
        frame = self.frame
        numbers = [p.value for p in self.pieces if p.place is Place.REGISTER]
        if frame is None or not numbers or len(numbers) != len(self.pieces):
            raise DebuggerError("the value is in no memory and no register: it cannot be changed")
        if frame.level:
            raise DebuggerError("registers can be changed in frame 0 only")
        state = frame.machine.thread(frame.thread)
        registers = list(state.registers)
        for index, number in enumerate(numbers):
            word = data[4 * index : 4 * index + 4]
            if isinstance(number, int):
                registers[number] = frame.registers[number] = int.from_bytes(word, "little")
        frame.machine.set_thread(frame.thread, state._replace(registers=tuple(registers)))


def _encode(type: Type, number: float) -> bytes:
    if type.kind is Kind.FLOAT:
        return struct.pack("<f" if type.size == 4 else "<d", number)
    size = type.size or 4
    return (int(number) & (1 << 8 * size) - 1).to_bytes(size, "little")


# Shown to people, and to programs.


def show(value: Value, *, hexadecimal: bool = False) -> str:
    """Return a value as text, as C has it.

    Parameters
    ----------
    value : Value
        The value.
    hexadecimal : bool
        Whether integers are shown so.
    """
    try:
        text = _show(value, hexadecimal, 0)
    except Unavailable as error:
        return f"<{error}>"
    return text


def _show(value: Value, hexadecimal: bool, depth: int) -> str:
    kind = value.type.kind
    if depth > 8:
        return "..."
    if kind is Kind.STRUCTURE:
        parts = [
            f"{name} = {_show(part, hexadecimal, depth + 1)}"
            if name
            else _show(part, hexadecimal, depth + 1)
            for name, part in value.members()
        ]
        return _braces(parts, depth)
    if kind is Kind.ARRAY:
        return _show_array(value, hexadecimal, depth)
    if kind in (Kind.VOID, Kind.FUNCTION):
        return "<no value>"
    return _show_number(value, hexadecimal)


def _braces(parts: list[str], depth: int) -> str:
    line = f"{{{', '.join(parts)}}}"
    if len(line) <= _WIDTH - 2 * depth and "\n" not in line:
        return line
    indent = "  " * (depth + 1)
    if all(len(part) <= _WIDTH // 4 and "\n" not in part for part in parts):
        # As many as fit on each line.
        joined = textwrap.fill(
            ", ".join(part.replace(" ", "\0") for part in parts),
            _WIDTH,
            initial_indent=indent,
            subsequent_indent=indent,
            break_on_hyphens=False,
        )
        return f"{{\n{joined}\n{'  ' * depth}}}".replace("\0", " ")
    inner = ",\n".join(indent + part for part in parts)
    return f"{{\n{inner}\n{'  ' * depth}}}"


def _show_array(value: Value, hexadecimal: bool, depth: int) -> str:
    target = value.type.target
    if target is not None and target.kind is Kind.CHARACTER and target.size == 1:
        data = value.read()[:_MOST_TEXT]
        text = data.split(b"\0")[0]
        if text.isascii() and (text.decode().isprintable() or not text):
            return f'"{text.decode()}"'
    count = min(value.type.count, _MOST_ELEMENTS)
    parts = [_show(value.dereferenced(i), hexadecimal, depth + 1) for i in range(count)]
    if value.type.count > count:
        parts.append(f"... {value.type.count - count} more")
    return _braces(parts, depth)


def _show_number(value: Value, hexadecimal: bool) -> str:
    number, kind = value.number(), value.type.kind
    if kind is Kind.FLOAT:
        return f"{number:.9g}" if value.type.size == 4 else repr(number)
    whole = int(number)
    if kind is Kind.POINTER:
        memory = " (MRAM)" if value.type.in_mram else ""
        return f"0x{whole:08x}{memory}"
    if hexadecimal:
        return f"0x{whole & (1 << 8 * value.type.size) - 1:x}"
    if kind is Kind.ENUMERATION:
        return value.type.enumerators.get(whole, str(whole))
    if kind is Kind.BOOLEAN:
        return "true" if whole else "false"
    if kind is Kind.CHARACTER and value.type.size == 1 and value.type.is_signed:
        return f"{whole} '{chr(whole)}'" if 32 <= whole < 127 else str(whole)
    return str(whole)


def as_json(value: Value) -> Any:
    """Return a value as JSON has it; None for what is not available."""
    kind = value.type.kind
    try:
        if kind is Kind.STRUCTURE:
            return {name: as_json(part) for name, part in value.members()}
        if kind is Kind.ARRAY:
            count = min(value.type.count, 1 << 16)
            return [as_json(value.dereferenced(index)) for index in range(count)]
        if kind is Kind.ENUMERATION:
            return value.type.enumerators.get(value.integer(), value.integer())
        if kind in (Kind.VOID, Kind.FUNCTION):
            return None
        return bool(value.number()) if kind is Kind.BOOLEAN else value.number()
    except (Unavailable, DebuggerError):
        return None
