# SPDX-License-Identifier: BSD-3-Clause
"""Reads DPU instructions out of the words that objects carry them in.

`frontend.instruction_words` says how they are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from ... import _isa
from ...asm.forms import Candidate, candidates, condition_code
from ..errors import TranslationError
from ..ir.code import ASSEMBLY, Code
from ..ir.operands import Label, LabelKind, Operand, Register
from ..ir.registers import pair_of, register_of
from .conventions import Conventions
from .rv32 import Rv32, decode

__all__ = ["AssemblyReader"]

_REGISTERS = "RDZK"


class _Kind(IntEnum):
    """Kinds of custom instructions with words, in its field rd."""

    INSTRUCTION = 0
    ENTRY = 1


class AssemblyReader:
    """Appends DPU instructions to code.

    Parameters
    ----------
    code : Code
        Where they go.
    strings : bytes
        Section `.dpu_asm`.
    conventions : Conventions
        What writes entries.
    """

    def __init__(self, code: Code, strings: bytes, conventions: Conventions) -> None:
        self.code = code
        self.strings = strings
        self.conventions = conventions

    def read(self, header: Rv32, words: Sequence[int], values: Sequence[int | Label]) -> None:
        """Append what a custom instruction stands for.

        Parameters
        ----------
        header : Rv32
            The custom instruction.
        words : sequence of int
            The words after it.
        values : sequence of int or Label
            The addresses that they stand for.

        Raises
        ------
        TranslationError
            If the instruction cannot have its operands.
        """
        if not 0 < header.immediate == len(words) > header.rs1:
            raise TranslationError("words of assembly are damaged: compile the object again")
        text = self._text(words[0])
        if header.rd == _Kind.ENTRY:
            if not isinstance(values[1], Label):
                raise TranslationError(f"{text} is not defined")
            self.conventions.write_entry(text, values[1])
            return
        count = header.rs1
        self._instruction(text, _chosen(words[1 : 1 + count]), values[1 + count :])

    def _text(self, offset: int) -> str:
        end = self.strings.find(b"\0", offset)
        return self.strings[offset:end].decode("utf-8", "surrogateescape")

    def _instruction(
        self, text: str, registers: Sequence[int], values: Sequence[int | Label]
    ) -> None:
        mnemonic, *parts = text.split()
        classes: list[str] = []
        operands: list[Operand | str] = []
        for part in parts:
            kind, how, rest = part[0], part[1], part[2:]
            if kind in _REGISTERS:
                operands.append(_register(kind, part[1:], registers))
            elif kind == "X":
                operands.append(self._code_or_data(rest, values))
            elif kind == "C":
                operands.append(rest)
            else:
                operands.append(int(rest) if how == "=" else values[int(rest)])
            classes.append("E" if kind == "X" else kind)

        for candidate in candidates(mnemonic, tuple(classes)):
            chosen = _fitting(candidate, operands)
            if chosen is not None:
                self.code.emit(ASSEMBLY, candidate.form.name, *chosen)
                return
        shown = ", ".join(map(str, operands))
        raise TranslationError(f"instruction {mnemonic!r} cannot have the operands {shown}")

    def _code_or_data(self, text: str, values: Sequence[int | Label]) -> int | Label:
        """Return a function in assembly, an entry for assembly of one in C, or an address."""
        index, _, name = text.partition(":")
        in_assembly, other = values[int(index)], values[int(index) + 1]
        if isinstance(in_assembly, Label):
            return in_assembly
        if isinstance(other, Label) and other.kind == LabelKind.CODE:
            return self.conventions.entry_of(name, other)
        return other


def _chosen(words: Sequence[int]) -> list[int]:
    """Return the numbers of the registers in words."""
    fields = map(decode, words)
    return [number for rv in fields for number in (rv.rd, rv.rs1, rv.rs2)]


def _register(kind: str, text: str, registers: Sequence[int]) -> Register:
    if not text.startswith("%"):
        return Register(int(text))
    number = registers[int(text[1:])]
    return pair_of(number) if kind == "D" else register_of(number)


def _fitting(candidate: Candidate, operands: Sequence[Operand | str]) -> list[Operand] | None:
    """Return the operands of a form, with codes of conditions; None if they do not fit."""
    form = candidate.form
    found: list[Operand] = []
    for slot, operand in zip(candidate.slots, form.operands, strict=True):
        value: Operand | str | None = slot[0] if not isinstance(slot, int) else operands[slot]
        if operand.name == "cc" and isinstance(value, str):
            value = condition_code(form, value)
        elif operand.is_register and isinstance(value, int):
            value = Register(value)
        if value is None or isinstance(value, str):
            return None
        found.append(value)
    numbers = [0 if isinstance(value, Label) else int(value) for value in found]
    return found if _isa.encode(form.index, numbers) is not None else None
