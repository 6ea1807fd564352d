# SPDX-License-Identifier: BSD-3-Clause
"""DPU assembly in C.

In LLVM IR, the text of each `asm` is replaced by the words that `instruction_words` writes for it;
its operands and what it clobbers stay. Text of directives alone is RISC-V, and is that of the run
time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ...asm.assembler import Assembler
from ...asm.errors import AsmError
from ...asm.expressions import Expression, ExpressionError, Token
from ...asm.sources import Source
from ..errors import CommandError, ToolchainError
from .instruction_words import CHOSEN, InstructionWriter
from .locations import Locations
from .soft_cache import split_operands

__all__ = ["explain_assembly", "lower_assembly"]

_STATEMENT = re.compile(
    r"^\s+(?:%\S+ = )?(?:(?:tail|musttail|notail) )?(?:call|callbr) (?P<result>.*?) ?\basm "
    r"(?P<flags>(?:sideeffect |alignstack |inteldialect |unwind )*)"
    r'"(?P<text>[^"]*)", "(?P<constraints>[^"]*)"\('
)
_DIRECTIVES = re.compile(r"(?:\s|\\0[9AaDd])*(?:$|#|\.\w[\w.]*+(?!\s*:))")
_PLACEHOLDER = re.compile(r"\$(?:(\d+)|\{(\d+)(?::([a-zA-Z]))?\}|(\$)|(\{:uid\})|([(|)]))")
_ESCAPE = re.compile(r"\\(\\|[0-9A-Fa-f]{2})")
_INTEGER = re.compile(r"(?:i\d+) (-?\d+)$|i1 (true|false)$")
_OPERAND = "__dpu_operand_"
_WIDE = ("i64", "double")
_STACK_POINTER = 22
# Marks of lowered text.
_WORDS = ".insn i 0x0b, 7,"


def lower_assembly(text: str, source: str) -> str:
    """Return LLVM IR whose DPU assembly has become words.

    Parameters
    ----------
    text : str
        The IR.
    source : str
        The file to name in errors if the IR does not.

    Raises
    ------
    ToolchainError
        If the assembly is wrong or not supported; the message has file and line.
    """
    if " asm " not in text:
        return text
    lines = text.split("\n")
    locations: Locations | None = None
    problems: dict[str, None] = {}
    for number, line in enumerate(lines):
        match = _STATEMENT.match(line) if " asm " in line else None
        if match is None or _DIRECTIVES.match(match["text"]):
            continue
        try:
            lines[number] = _lowered(line, match)
        except AsmError as error:
            locations = locations or Locations(text, source)
            file, row = locations.of(line)
            for problem in error.problems:
                problems[f"{file}:{row}: error: in assembly: {problem.message}"] = None
    if problems:
        raise ToolchainError("\n".join(problems))
    return "\n".join(lines)


@dataclass
class _Operand:
    """An operand of an `asm`.

    Parameters
    ----------
    constraint : str
        As in the IR.
    type : str
        Its type.
    value : str
        The IR of its value; empty for results.
    same : int
        The operand whose register it shares, or -1.
    """

    constraint: str
    type: str
    value: str = ""
    same: int = -1

    @property
    def is_wide(self) -> bool:
        return self.type in _WIDE


@dataclass
class _Statement:
    """The parts of an `asm`: operands, then clobbers."""

    operands: list[_Operand] = field(default_factory=list)
    clobbers: list[str] = field(default_factory=list)

    def constraints(self) -> str:
        return ",".join([*(operand.constraint for operand in self.operands), *self.clobbers])


def _lowered(line: str, match: re.Match[str]) -> str:
    statement = _parse(line, match)
    registers, symbols = _name_operands(statement)
    text = _expand(match["text"], statement)
    assembler = _InlineAssembler(text, registers)
    unit = assembler.run()
    if unit.problems:
        raise AsmError(unit.problems)
    if not unit.symbols.keys().isdisjoint(registers):
        raise AsmError("an operand in a register cannot be part of an expression")

    section = unit.sections[".text"]
    if len(unit.sections) > 1 or section.numbers or section.size != 8 * len(section.instructions):
        raise AsmError("it may contain instructions and labels alone")
    chosen = {number: f"${index}" for index, number in registers.values()}
    writer = InstructionWriter(unit, "${:uid}", chosen, symbols)
    output: list[str] = []
    for position, fixup in enumerate(section.instructions):
        _check_stack(fixup.mnemonic, fixup.classes, fixup.operands)
        output.append(f"{writer.label(section, position)}:")
        try:
            output += writer.instruction(fixup)
        except ExpressionError as error:
            raise AsmError(f"{fixup.line.text.strip()!r}: {error}") from error
    output.append(f"{writer.label(section, len(section.instructions))}:")

    before, after = line[: match.start("text")], line[match.end("constraints") :]
    return f'{before}{_escaped(output)}", "{statement.constraints()}{after}'


def _check_stack(mnemonic: str, classes: tuple[str, ...], operands: list[Expression]) -> None:
    """Reject calls, and stores relative to the stack pointer."""
    if mnemonic == "call":
        raise AsmError("calls are not supported in C: call the function from C, or write a .S file")
    is_store = mnemonic[0] == "s" and mnemonic.rstrip("s")[:2] in ("sb", "sh", "sw", "sd")
    if is_store and classes[:1] == ("R",) and operands[0] == _STACK_POINTER:
        raise AsmError("the stack of C grows down: stores relative to r22 are not supported")


# The statement in LLVM IR.


def _parse(line: str, match: re.Match[str]) -> _Statement:
    arguments = _arguments(line, match.end())
    results = _result_types(match["result"].strip())
    statement = _Statement()
    for constraint in filter(None, match["constraints"].split(",")):
        if constraint.startswith("~"):
            statement.clobbers.append(constraint)
        elif constraint.startswith("!"):
            statement.operands.append(_Operand(constraint, "label"))
        elif constraint.startswith("=") and "*" not in constraint:
            if not results:
                raise AsmError(f"constraint {constraint!r} is not supported")
            statement.operands.append(_Operand(constraint, results.pop(0)))
        else:
            argument = arguments.pop(0) if arguments else ""
            kind, _, value = argument.partition(" ")
            same = int(constraint) if constraint.isdecimal() else -1
            statement.operands.append(_Operand(constraint, kind, f"{kind} {value}", same))
    for operand in statement.operands:
        _choose(operand)
    return statement


def _arguments(line: str, start: int) -> list[str]:
    depth = 1
    for end in range(start, len(line)):
        depth += (line[end] == "(") - (line[end] == ")")
        if depth == 0:
            text = line[start:end].strip()
            return split_operands(text) if text else []
    return []


def _result_types(text: str) -> list[str]:
    """Return the types of the results from the type of the call."""
    start = text.find("{")
    if start >= 0:
        return split_operands(text[start + 1 : text.rindex("}")].strip())
    last = text.split(" ")[-1]
    return [] if last == "void" else [last]


def _choose(operand: _Operand) -> None:
    """Choose a register or a number for an operand; AsmError if it can be neither."""
    written = operand.constraint.lstrip("=&")
    marks = operand.constraint[: len(operand.constraint) - len(written)]
    if operand.same >= 0 or operand.type == "label" or written.startswith("{"):
        return
    if "r" in written or "g" in written:
        operand.constraint = marks + ("R" if operand.is_wide else "r")
    elif not marks and set(written) <= set("ins"):
        operand.constraint = "i"
    else:
        raise AsmError(
            f"constraint {written!r} is not supported: use a register (r), a number or an address "
            "(i, n), or the number of another operand"
        )


def _name_operands(statement: _Statement) -> tuple[dict[str, tuple[int, int]], dict[str, str]]:
    """Return registers as (operand, number) and the text of addresses, by their names."""
    registers: dict[str, tuple[int, int]] = {}
    symbols: dict[str, str] = {}
    for index, operand in enumerate(statement.operands):
        name = f"{_OPERAND}{index}"
        if operand.type == "label":
            symbols[name] = f"${{{index}:l}}"
        elif operand.constraint == "i":
            symbols[name] = f"${index}"
        else:
            same = statement.operands[operand.same] if operand.same >= 0 else operand
            number = CHOSEN + 2 * index + same.is_wide
            registers[name] = (index, number)
    return registers, symbols


def _expand(text: str, statement: _Statement) -> str:
    """Return the assembly with names for operands."""

    def replace(match: re.Match[str]) -> str:
        plain, braced, modifier, dollar, unique, other = match.groups()
        if dollar:
            return "$"
        if unique:
            return "_unique"
        if other:
            return {"(": "{", "|": "|", ")": "}"}[other]
        if modifier not in (None, "c", "l", "n"):
            raise AsmError(f"operand modifier {modifier!r} is not supported")
        index = int(plain or braced)
        operand = statement.operands[index]
        number = _INTEGER.match(operand.value) if operand.constraint == "i" else None
        if number is None:
            return f"{_OPERAND}{index}"
        value = int(number[1]) if number[1] else int(number[2] == "true")
        return f"({-value if modifier == 'n' else value})"

    return _PLACEHOLDER.sub(replace, _ESCAPE.sub(_character, text))


def _character(match: re.Match[str]) -> str:
    return "\\" if match[1] == "\\" else chr(int(match[1], 16))


def _escaped(lines: list[str]) -> str:
    """Return lines as a string in IR; in them, only the text of operands has dollars."""
    text = "\n".join(lines)
    return "".join(
        character
        if character.isprintable() and character not in '"\\'
        else f"\\{ord(character):02X}"
        for character in text
    )


class _InlineAssembler(Assembler):
    """Assembles the text of an `asm`, in which names stand for operands."""

    def __init__(self, text: str, registers: dict[str, tuple[int, int]]) -> None:
        super().__init__(Source("assembly", text, preprocess=False))
        self.registers = registers

    def named_operand(self, token: Token) -> tuple[str, Expression]:
        """Return the class and the value of an operand that is a name."""
        known = self.registers.get(token.text)
        if known is None:
            return super().named_operand(token)
        _, number = known
        return ("D" if number & 1 else "R"), number


def explain_assembly(error: CommandError, text: str, source: str) -> CommandError:
    """Return an error with file and line if it is about the operands of assembly.

    Parameters
    ----------
    error : CommandError
        The compiler's error from instruction selection.
    text : str
        The LLVM IR.
    source : str
        The file to name if the IR does not.
    """
    said = str(error.stderr)
    if "constraint" not in said and "inline asm" not in said:
        return error
    locations = Locations(text, source)
    places: dict[str, None] = {}
    for line in text.splitlines():
        if _WORDS in line and _STATEMENT.match(line):
            file, row = locations.of(line)
            places[f"{file}:{row}: error: this assembly, or its operands, are not possible"] = None
    return CommandError(error.returncode, error.cmd, "\n".join([*places, said]))
