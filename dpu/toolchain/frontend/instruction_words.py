# SPDX-License-Identifier: BSD-3-Clause
"""Writes DPU instructions as words that objects with RISC-V code can carry.

An instruction becomes a custom one of RISC-V (`translate.assembly` reads it), which is followed by
words: where its text is in section `.dpu_asm`, then the registers that the compiler chooses, three
per word, then the numbers and addresses that the linker computes. The text has the mnemonic and the
operands by class: `R3` is register r3, `R%0` the first register that the compiler chooses, `E=5` a
number, `E%0` the first word, `X%0:f` the first word, or the second one if `f` is a function in C.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...asm.expressions import Expression, ExpressionError, Unknown, Value, evaluate
from ...asm.unit import InstructionFixup, Section, Unit

__all__ = ["CHOSEN", "ENTRY_PREFIX", "InstructionWriter"]

# Operands of this number and above are registers that the compiler chooses.
CHOSEN = 1000
# The symbol of an assembly function for callers in assembly.
ENTRY_PREFIX = "__dpu_asm_"
_REGISTER_CLASSES = "RDZK"
_REGISTERS_PER_WORD = 3
_STRINGS = '.pushsection .dpu_asm,"MS",@progbits,1'


@dataclass(frozen=True, eq=False)
class _External:
    """Bases of addresses outside of the source."""

    text: str


@dataclass
class _Words:
    """The registers and words of one instruction."""

    registers: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    weak: list[str] = field(default_factory=list)

    def add(self, word: str) -> int:
        """Append a word; return its index."""
        self.words.append(word)
        return len(self.words) - 1


class InstructionWriter:
    """Writes the instructions of one source.

    Parameters
    ----------
    unit : Unit
        The assembled source.
    suffix : str
        What makes its labels unique in the output.
    registers : mapping of int to str
        The text of registers that the compiler chooses, by their numbers from `CHOSEN` on.
    operands : mapping of str to str
        The text of symbols that stand for operands.
    """

    def __init__(
        self,
        unit: Unit,
        suffix: str = "",
        registers: Mapping[int, str] | None = None,
        operands: Mapping[str, str] | None = None,
    ) -> None:
        self.unit = unit
        self.suffix = suffix
        self.registers = registers or {}
        self._numbers = {id(section): n for n, section in enumerate(unit.sections.values())}
        texts = operands or {}
        self._externals = {name: _External(text) for name, text in texts.items()}
        self._strings = 0

    def label(self, section: Section, position: int = 0) -> str:
        """Return the label of an instruction, or of a section of data."""
        return f".Ldpu{self.suffix}_{self._numbers[id(section)]}_{position}"

    def instruction(self, fixup: InstructionFixup) -> Iterator[str]:
        """Yield the lines of an instruction.

        Raises
        ------
        ExpressionError
            If an operand has no value.
        """
        parts, words = [], _Words()
        for index, kind in enumerate(fixup.classes):
            parts.append(self._operand(fixup, index, kind, words))
        yield from (f".weak {name}" for name in words.weak)
        yield from self.record(0, f"{fixup.mnemonic} {' '.join(parts)}", words)

    def record(self, kind: int, text: str, words: _Words) -> Iterator[str]:
        """Yield the lines of a custom instruction with its text and words."""
        string = f".Ldpu{self.suffix}_text{self._strings}"
        self._strings += 1
        count = -(-len(words.registers) // _REGISTERS_PER_WORD)
        yield f".insn i 0x0b, 7, x{kind}, x{count}, {1 + count + len(words.words)}"
        yield f".word {string}"
        chosen = [*words.registers, "x0", "x0"]
        for first in range(0, 3 * count, _REGISTERS_PER_WORD):
            one, two, three = chosen[first : first + _REGISTERS_PER_WORD]
            yield f".insn r 0x0b, 7, 0, {one}, {two}, {three}"
        yield from (f".word {word}" for word in words.words)
        # After the instruction: the first bytes take its place in the line table.
        yield from (_STRINGS, f"{string}:", f'.asciz "{text}"', ".popsection")

    def entry(self, name: str) -> Iterator[str]:
        """Yield the lines of the entry that code in C calls for a function in assembly."""
        yield from self.record(1, name, _Words(words=[ENTRY_PREFIX + name]))

    def word(self, expression: Expression) -> int | str:
        """Return a number, or the text of an address.

        Raises
        ------
        ExpressionError
            If it has no value.
        """
        number, base = evaluate(expression, self._resolve)
        if base is None:
            return number
        if isinstance(base, _External):
            return f"{base.text}+{number}" if number else base.text
        assert isinstance(base, Section)
        if base.is_code:
            if not 0 <= number <= base.size // 8:
                raise ExpressionError("the target is outside of this assembly code")
            return self.label(base, number)
        return f"{self.label(base)}+{number}"

    def _resolve(self, name: str, column: int) -> Value:
        if name in self._externals:
            return Value(0, self._externals[name])
        try:
            return self.unit.resolve(name, column)
        except Unknown:
            if not name.isprintable():
                raise
        self._externals[name] = _External(name)
        return Value(0, self._externals[name])

    def _operand(self, fixup: InstructionFixup, index: int, kind: str, words: _Words) -> str:
        value = fixup.operands[index]
        if kind in _REGISTER_CLASSES:
            assert isinstance(value, int)
            if value < CHOSEN:
                return f"{kind}{value}"
            words.registers.append(self.registers[value])
            return f"{kind}%{len(words.registers) - 1}"
        if kind == "N":
            return f"N={value}"
        kinds = {candidate.kinds[index] for candidate in fixup.candidates}
        if kind == "C" and "cc" in kinds:
            assert isinstance(value, tuple)
            return f"C={value[1]}"
        return self._number(value, words, is_code=bool(kinds & {"pc", "off"}))

    def _number(self, value: Expression, words: _Words, *, is_code: bool) -> str:
        word = self.word(value)
        if isinstance(word, int):
            return f"E={word}"
        is_symbol = isinstance(value, tuple) and value[0] == "symbol" and value[1] == word
        if not (is_code and is_symbol):
            return f"E%{words.add(word)}"
        words.weak.append(ENTRY_PREFIX + word)
        first = words.add(ENTRY_PREFIX + word)
        words.add(word)
        return f"X%{first}:{word}"
