# SPDX-License-Identifier: BSD-3-Clause
"""Assembles one source, statement by statement."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import directives
from .chips import MRAM_BYTES
from .errors import AsmError, Problem
from .expressions import (
    Expression,
    ExpressionError,
    Parser,
    Token,
    Value,
    evaluate,
    tokenize,
)
from .forms import CONDITIONS, REGISTERS, candidates, mnemonics, suggest, usage
from .macros import Expander
from .sources import Line, Source, statements_of
from .unit import InstructionFixup, Place, Section, Symbol, Unit, local_name

__all__ = ["Assembler", "assemble_unit"]

_LABEL = re.compile(r'\s*([A-Za-z_.$\x80-\U0010ffff][\w.$\x80-\U0010ffff]*|\d+|"[^"\\]+")\s*:(?!:)')
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_.$][\w.$]*)\s*=(?!=)\s*")
_WORD = re.compile(r"\s*([A-Za-z_.$][\w.$]*)")
_PROBLEMS = 100


class Assembler:
    """The state of assembling one source.

    Attributes
    ----------
    unit : Unit
        The result so far.
    section : Section
        The section that contents are added to.
    """

    def __init__(
        self,
        source: Source,
        include_dirs: Sequence[str | os.PathLike[str]] = (),
        symbols: Mapping[str, int] | None = None,
    ) -> None:
        self.unit = Unit(source.name, source.folder)
        self.include_dirs = [Path(folder) for folder in include_dirs]
        if source.folder is not None:
            self.include_dirs.insert(0, source.folder)
        self.section = self.unit.sections[".text"] = Section(".text", Place.TEXT)
        self.previous = self.section
        self.stack: list[tuple[Section, Section]] = []
        self.locals: dict[str, int] = {}
        self.line = Line("", source.name, 0)
        self.expander = Expander(self, source)
        # Definitions of the caller take precedence over those of the source.
        self.given = frozenset(symbols or {})
        for name, value in (symbols or {}).items():
            self.unit.symbol(name).expression = value

    def run(self) -> Unit:
        """Assemble the whole source."""
        for line in self.expander:
            self.line = line
            for text, column in statements_of(line):
                try:
                    self.statement(text, column)
                except ExpressionError as error:
                    self.problem(str(error), error.column)
                except AsmError as error:
                    self.unit.problems += error.problems
                except RecursionError:
                    self.problem("this statement refers to too many others")
            if len(self.unit.problems) >= _PROBLEMS:
                break
        return self.unit

    def problem(self, message: str, column: int = 0) -> None:
        """Record an error in this line."""
        self.unit.problems.append(Problem(message, self.line.location(column)))

    # --- statements ---------------------------------------------------------------------------

    def statement(self, text: str, column: int) -> None:
        """Read labels and the statement after them."""
        start = 0
        while True:
            label = _LABEL.match(text, start)
            if label is None:
                break
            self.define_label(label[1].strip('"'), label.start(1) + column)
            start = label.end()

        assignment = _ASSIGNMENT.match(text, start)
        if assignment:
            parser = self.parser(text[assignment.end() :], assignment.end() + column)
            directives.set_symbol(
                self, assignment[1], parser.expression(), assignment.start(1) + column
            )
            self.expect_end(parser)
            return

        word = _WORD.match(text, start)
        if word is None:
            if text[start:].strip():
                found = text[start:].lstrip()
                at = len(text) - len(found) + column
                raise ExpressionError(f"{found[0]!r} cannot begin a statement", at)
            return

        name, at = word[1], word.start(1) + column
        rest, rest_column = text[word.end() :], word.end() + column
        if name[0] == ".":
            self.directive(name, at, rest, rest_column)
        else:
            self.instruction(name, at, rest, rest_column)

    def directive(self, name: str, at: int, rest: str, column: int) -> None:
        """Execute a directive."""
        known = directives.DIRECTIVES.get(name.lower())
        if known is not None:
            known(self, rest, column)
        elif not directives.is_ignored(name.lower()):
            hint = suggest(name.lower(), directives.DIRECTIVES)
            raise ExpressionError(f"unknown directive {name!r}{hint}", at)

    def parser(self, text: str, column: int) -> Parser:
        """Return a parser for the rest of a statement."""
        return Parser(tokenize(text, column), self.here, self.find_local, self.unit.reference)

    def expect_end(self, parser: Parser) -> None:
        """Raise ExpressionError if tokens are left."""
        if not parser.done():
            raise ExpressionError(f"{parser.peek()!r} is not expected here", parser.column)

    # --- symbols ------------------------------------------------------------------------------

    def here(self) -> Expression:
        """Return the value of ``.``."""
        return ("here", self.section, self.section.size)

    def find_local(self, text: str, column: int) -> str:
        """Return the symbol of ``1b`` or ``1f``."""
        digits = str(int(text[:-1])) if len(text) < 12 else text[:-1]
        count = self.locals.get(digits, 0)
        if text[-1] == "f":
            return local_name(digits, count + 1)
        if count == 0:
            raise ExpressionError(f"no label {digits}: before this", column)
        return local_name(digits, count)

    def define_label(self, name: str, column: int) -> None:
        """Define a label at the current position."""
        if name.isdecimal():
            digits = str(int(name)) if len(name) < 12 else name
            self.locals[digits] = self.locals.get(digits, 0) + 1
            name = local_name(digits, self.locals[digits])
        elif name in REGISTERS:
            raise ExpressionError(f"{name!r} is a register and cannot be a label", column)
        if name == ".":
            raise ExpressionError("'.' cannot be a label", column)
        self.place_symbol(self.unit.symbol(name), self.section, column)

    def place_symbol(self, symbol: Symbol, section: Section, column: int) -> None:
        """Define a symbol at the end of a section."""
        if symbol.is_defined:
            where = f", first at {symbol.location}" if symbol.location else ""
            raise ExpressionError(f"{symbol.name!r} is defined twice{where}", column)
        if section.is_code and section.size % 8:
            self.pad_code(section)
        symbol.section = section
        symbol.offset = section.size
        symbol.location = self.line.location(column)

    def constant(self, parser: Parser, what: str) -> int:
        """Read an expression whose value must be known already."""
        column = parser.column
        value = self.value(parser.expression())
        if value.section is not None:
            raise ExpressionError(f"{what} must be a number and not an address", column)
        return value.number

    def value(self, expression: Expression) -> Value:
        """Return the current value of an expression."""
        return evaluate(expression, self.unit.resolve)

    # --- contents -----------------------------------------------------------------------------

    def reserve(self, size: int, fill: bytes = b"\0", column: int = 0) -> None:
        """Append equal bytes."""
        section = self.section
        if size < 0:
            raise ExpressionError(f"{size} bytes cannot be added", column)

        if section.size + size > MRAM_BYTES:
            raise ExpressionError(
                f"section {section.name} would have {section.size + size} bytes, more than any "
                "memory of a DPU",
                column,
            )

        if section.place.is_empty:
            if any(fill):
                raise ExpressionError(
                    f"section {section.name} has no contents: only zeros can be there", column
                )
            section.empty_size += size
        elif fill == b"\0":
            section.data += bytes(size)
        else:
            section.data += (fill * (size // len(fill) + 1))[:size]

    def pad_code(self, section: Section) -> None:
        """Pad data in code to a whole instruction."""
        section.data += bytes(-len(section.data) % 8)

    def instruction(self, name: str, at: int, rest: str, column: int) -> None:
        """Read an instruction."""
        mnemonic = name if name in mnemonics() else name.lower()
        if mnemonic not in mnemonics():
            hint = suggest(mnemonic, mnemonics())
            raise ExpressionError(f"unknown instruction {name!r}{hint}", at)

        section = self.section
        if not section.is_code:
            raise ExpressionError(
                f"section {section.name} is not for instructions: say .text before", at
            )

        classes, operands, columns = self.operands(rest, column)
        found = candidates(mnemonic, classes)
        if not found:
            raise ExpressionError(
                f"{mnemonic!r} does not take {_describe(classes)}; it takes {usage(mnemonic)}",
                columns[0] if columns else at,
            )

        self.pad_code(section)
        if section.size + 8 > MRAM_BYTES:
            raise ExpressionError(f"section {section.name} is too long", at)
        section.instructions.append(
            InstructionFixup(
                len(section.data), mnemonic, classes, found, operands, [*columns, at], self.line
            )
        )
        section.data += bytes(8)

    def operands(
        self, rest: str, column: int
    ) -> tuple[tuple[str, ...], list[Expression], list[int]]:
        """Read the operands of an instruction: their classes, values and columns."""
        parser = self.parser(rest, column)
        found: list[tuple[str, Expression]] = []
        columns: list[int] = []
        while not parser.done():
            columns.append(parser.tokens[parser.at].column)
            found.append(self.operand(parser))
            if parser.done():
                break
            is_separated = parser.accept(",")
            if found[-1][0] == "N":
                # The comma after !little and !big is optional.
                continue
            if not is_separated:
                raise ExpressionError(f"a comma is missing before {parser.peek()!r}", parser.column)
            if parser.done():
                raise ExpressionError("an operand is missing after the comma", parser.column)
        return tuple(kind for kind, _ in found), [value for _, value in found], columns

    def operand(self, parser: Parser) -> tuple[str, Expression]:
        """Read one operand of an instruction: its class, and its value."""
        tokens = parser.tokens
        token = tokens[parser.at]
        following = tokens[parser.at + 1].text if parser.at + 1 < len(tokens) else ","
        if token.kind == "name" and following == ",":
            parser.at += 1
            return self.named_operand(token)
        if token.text == "!" and following in ("little", "big"):
            parser.at += 2
            return "N", int(following == "big")
        if token.text == "?" and token.kind == "operator":
            parser.at += 2
            if len(tokens) < parser.at or tokens[parser.at - 1].kind not in ("name", "number"):
                raise ExpressionError("'?' must be before a condition", token.column)
            return "C", ("symbol", tokens[parser.at - 1].text, token.column)
        return "E", parser.expression()

    def named_operand(self, token: Token) -> tuple[str, Expression]:
        """Return the class and the value of an operand that is a name."""
        register = REGISTERS.get(token.text)
        if register is not None:
            return register
        if token.text in CONDITIONS:
            return "C", ("symbol", token.text, token.column)
        if token.text == ".":
            return "E", self.here()
        return "E", self.unit.reference(token.text, token.column)


_WORDS = {
    "R": "a register",
    "D": "a pair of registers",
    "Z": "zero",
    "K": "a constant register",
    "C": "a name",
    "E": "a number",
    "N": "an endianness",
}


def _describe(classes: Sequence[str]) -> str:
    return ", ".join(_WORDS[one] for one in classes) or "no operands"


def assemble_unit(
    source: Source,
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    symbols: Mapping[str, int] | None = None,
) -> Unit:
    """Assemble a source with predefined numbers; its errors are in the unit's problems."""
    return Assembler(source, include_dirs, symbols).run()
