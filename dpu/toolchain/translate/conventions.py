# SPDX-License-Identifier: BSD-3-Clause
"""Calls between C, which has RISC-V's calling convention, and assembly, which has the vendor's.

Assembly has its first argument in r0, and 64 bits in d0; C has the first word in r1 and the second
in r0. In assembly the stack grows up and r14 to r21 are preserved; in C it grows down, and r20 and
r21 are the translator's. So a tasklet's stack is used from both ends. Its first word is the address
that assembly starts at; an entry puts the stack pointer and return address of C there:

=========================  ======================================
first word of the stack    where the stack of assembly starts
there                      return address, stack pointer of C
from there + 8             what assembly uses
=========================  ======================================
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import TranslationError
from ..ir.code import Code
from ..ir.operands import Label, LabelKind, Register
from ..ir.registers import (
    ID8,
    RETURN,
    SCRATCH_HIGH,
    SCRATCH_LOW,
    SPARE_2,
    STACK_POINTER,
    ZERO,
    register_of,
)

__all__ = ["Conventions", "write_stack_start"]

_WORDS = 8
_FIRST_ARGUMENT = 10
_ASSEMBLY_RESULT = Register(0)
# An entry from assembly saves r20, r21, the return address and the first word of the stack.
_SAVED = 16

Signature = tuple[str, str]


def write_stack_start(code: Code) -> None:
    """Append what makes the stack of assembly empty; r22 and r23 have its top and its size."""
    code.emit("sub", "rrr", SCRATCH_HIGH, STACK_POINTER, RETURN)
    code.emit("add", "rri", SCRATCH_LOW, SCRATCH_HIGH, 8)
    code.emit("sw", "erir", 0, SCRATCH_HIGH, 0, SCRATCH_LOW)


class Conventions:
    """Writes the entries of functions for callers with the other convention.

    Parameters
    ----------
    code : Code
        Where they go.
    signatures : bytes
        Section `.dpu_signatures`: the types of functions.
    stack_table : int
        The address of the table of the tops and sizes of stacks.
    """

    def __init__(self, code: Code, signatures: bytes, stack_table: int) -> None:
        self.code = code
        self.stack_table = stack_table
        self._signatures = _read(signatures)
        self._wanted: dict[str, tuple[Label, Label]] = {}

    def write_entry(self, name: str, body: Label) -> None:
        """Append the entry that C calls for a function in assembly."""
        code = self.code
        result, moves = self._moves(name)
        self._stack_bottom()
        code.emit("lw", "erri", 0, SCRATCH_LOW, SCRATCH_HIGH, 0)
        code.emit("sd", "erir", 0, SCRATCH_LOW, 0, STACK_POINTER)
        code.emit("add", "rri", STACK_POINTER, SCRATCH_LOW, 8)
        _move_together(code, {place: register for register, place in moves.items()})
        code.emit("call", "rri", RETURN, ZERO, body)
        code.emit("ld", "erri", 0, STACK_POINTER, STACK_POINTER, -8)
        if result == "i":
            code.move(register_of(_FIRST_ARGUMENT), _ASSEMBLY_RESULT)
        code.emit("call", "zri", 0, RETURN, 0)

    def entry_of(self, name: str, function: Label) -> Label:
        """Return the label of the entry that assembly calls for a function in C."""
        if name not in self._wanted:
            self._wanted[name] = (Label(LabelKind.PART, f"{name} from assembly"), function)
        return self._wanted[name][0]

    def write_wanted(self) -> None:
        """Append the entries that assembly calls."""
        for name, (label, function) in self._wanted.items():
            self.code.place(label)
            self.code.entries.add(label)
            self._write_entry_from_assembly(name, function)

    def _write_entry_from_assembly(self, name: str, function: Label) -> None:
        code = self.code
        result, moves = self._moves(name)
        code.emit("sd", "erir", 0, STACK_POINTER, 0, SPARE_2)
        code.emit("sw", "erir", 0, STACK_POINTER, 8, RETURN)
        self._stack_bottom()
        code.emit("lw", "erri", 0, SCRATCH_LOW, SCRATCH_HIGH, 0)
        code.emit("sw", "erir", 0, STACK_POINTER, 12, SCRATCH_LOW)
        code.emit("add", "rri", STACK_POINTER, STACK_POINTER, _SAVED)
        code.emit("sw", "erir", 0, SCRATCH_HIGH, 0, STACK_POINTER)
        code.emit("lw", "erri", 0, STACK_POINTER, SCRATCH_LOW, 4)
        _move_together(code, moves)
        code.emit("call", "rri", RETURN, ZERO, function)
        self._stack_bottom()
        code.emit("lw", "erri", 0, STACK_POINTER, SCRATCH_HIGH, 0)
        code.emit("add", "rri", STACK_POINTER, STACK_POINTER, -_SAVED & 0xFFFF_FFFF)
        code.emit("lw", "erri", 0, SCRATCH_LOW, STACK_POINTER, 12)
        code.emit("sw", "erir", 0, SCRATCH_HIGH, 0, SCRATCH_LOW)
        code.emit("lw", "erri", 0, RETURN, STACK_POINTER, 8)
        code.emit("ld", "erri", 0, SPARE_2, STACK_POINTER, 0)
        if result == "i":
            code.move(_ASSEMBLY_RESULT, register_of(_FIRST_ARGUMENT))
        code.emit("call", "zri", 0, RETURN, 0)

    def _stack_bottom(self) -> None:
        """Append the computation of the start of this tasklet's stack, into r8."""
        self.code.emit("ld", "erri", 0, SCRATCH_HIGH, ID8, self.stack_table)
        self.code.emit("sub", "rrr", SCRATCH_HIGH, SCRATCH_HIGH, SCRATCH_LOW)

    def _moves(self, name: str) -> tuple[str, dict[Register, Register]]:
        """Return the type of the result, and the register in assembly of each register in C."""
        result, arguments = self._signatures.get(name, ("?", "?"))
        if name == "main":
            arguments = arguments.replace("?", "")
            result = "i"
        if "?" in result + arguments:
            raise TranslationError(
                f"{name}: calls between C and assembly need its declaration in C, without "
                "structures by value: pass their addresses"
            )
        places = _in_assembly(arguments)
        words = sum(2 if one == "l" else 1 for one in arguments)
        if places is None or words > _WORDS:
            raise TranslationError(
                f"{name}: calls between C and assembly need arguments that fit {_WORDS} registers"
            )
        moves, word = {}, _FIRST_ARGUMENT
        for place in places:
            # The low word is first in C, and in the odd register of a pair.
            for register in reversed(place):
                moves[register_of(word)] = register
                word += 1
        return result, moves


def _read(section: bytes) -> dict[str, Signature]:
    """Return the signatures by name; a known one is preferred to an unknown one."""
    found: dict[str, Signature] = {}
    for text in section.decode("utf-8", "surrogateescape").split("\0"):
        name, equals, types = text.partition("=")
        result, _, arguments = types.partition(":")
        if equals and (name not in found or "?" in "".join(found[name])):
            found[name] = (result, arguments)
    return found


def _in_assembly(arguments: str) -> list[tuple[Register, ...]] | None:
    """Return the registers of arguments by the vendor's convention; None if there are too few."""
    free = list(range(_WORDS))
    places: list[tuple[Register, ...]] = []
    for one in arguments:
        if one == "i":
            choice = [free[0]] if free else None
        else:
            even = next((n for n in free if n % 2 == 0 and n + 1 in free), None)
            choice = [even, even + 1] if even is not None else None
        if choice is None:
            return None
        free = [number for number in free if number not in choice]
        places.append(tuple(map(Register, choice)))
    return places


def _move_together(code: Code, sources: Mapping[Register, Register]) -> None:
    """Append moves to registers, given by what they receive, as if all were at once; uses r9."""
    waiting = {to: source for to, source in sources.items() if to != source}
    while waiting:
        ready = next((to for to in waiting if to not in waiting.values()), None)
        if ready is not None:
            code.move(ready, waiting.pop(ready))
            continue
        # All that are left are in circles: free the first one.
        first = next(iter(waiting))
        code.move(SCRATCH_LOW, first)
        waiting = {to: SCRATCH_LOW if source == first else source for to, source in waiting.items()}
