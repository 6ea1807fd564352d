# SPDX-License-Identifier: BSD-3-Clause
"""Decodes instruction words."""

from __future__ import annotations

from dataclasses import dataclass

from . import _isa
from .isa import INSTRUCTIONS, Form

__all__ = ["Instruction", "disassemble", "disassemble_raw"]


@dataclass(frozen=True, slots=True)
class Instruction:
    """A decoded instruction.

    Parameters
    ----------
    word : int
        The word of 48 bits.
    form : Form
        Its form.
    values : tuple of int
        Its operands, as `form.operands`; immediates are sign-extended where the form says so.
    """

    word: int
    form: Form
    values: tuple[int, ...]

    @property
    def mnemonic(self) -> str:
        """The mnemonic, such as ``add.s``."""
        return self.form.mnemonic

    @property
    def operands(self) -> dict[str, int]:
        """The operands by their names."""
        names = (operand.name for operand in self.form.operands)
        return dict(zip(names, self.values, strict=True))

    @property
    def condition(self) -> str | None:
        """The name of the condition, None if it has none."""
        code = self.operands.get("cc")
        return None if code is None else _isa.condition_name(self.form.index, code)

    def __str__(self) -> str:
        """Return it in the assembler's syntax."""
        return _isa.disassemble(self.word)


def disassemble(word: int) -> Instruction | None:
    """Decode a word.

    Parameters
    ----------
    word : int
        48 bits; higher ones are ignored.

    Returns
    -------
    Instruction, optional
        None if the word is not an instruction.
    """
    found = _isa.decode(word)
    if found is None:
        return None
    index, values = found
    return Instruction(word & 0xFFFF_FFFF_FFFF, INSTRUCTIONS[index], values)


def disassemble_raw(word: int) -> tuple[str, dict[str, int]] | None:
    """Decode a word into plain values.

    Returns
    -------
    tuple of (str, dict), optional
        Name of the form such as ``add:rri`` and the operands by their names; None if the word is
        not an instruction.
    """
    instruction = disassemble(word)
    return None if instruction is None else (instruction.form.name, instruction.operands)
