# SPDX-License-Identifier: BSD-3-Clause
"""Expands conditionals, repetitions, macros and included files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .chips import MRAM_BYTES
from .errors import AsmError
from .expressions import ExpressionError, Unknown, tokenize, unescape
from .sources import Line, Source, lines_of, read_source

if TYPE_CHECKING:
    from .assembler import Assembler

__all__ = ["Expander"]

_MOST_LINES = 1_000_000
_MOST_BYTES = MRAM_BYTES
_DEEPEST = 100

_WORD = re.compile(r"\s*(?:[\w.$]+\s*:\s*)*(\.?[A-Za-z_$][\w.$]*)")
_PARAMETER = re.compile(r"\s*,?\s*([A-Za-z_.$][\w.$]*)\s*(?::\s*(req|vararg))?\s*(=)?")
_USE = re.compile(r"\\(\(\)|@|[A-Za-z_$][\w$]*)")

_BLOCKS = {
    ".macro": ".endm",
    ".rept": ".endr",
    ".irp": ".endr",
    ".irpc": ".endr",
}
_ENDS = {".endm": ".endm", ".endmacro": ".endm", ".endr": ".endr"}
_CONDITIONS = frozenset(
    [
        ".if",
        ".ifdef",
        ".ifndef",
        ".ifnotdef",
        ".ifb",
        ".ifnb",
        ".ifc",
        ".ifnc",
        ".ifeqs",
        ".ifnes",
        ".ifeq",
        ".ifne",
        ".iflt",
        ".ifle",
        ".ifgt",
        ".ifge",
    ]
)
_COMPARE: dict[str, Callable[[int], bool]] = {
    ".if": lambda x: x != 0,
    ".ifne": lambda x: x != 0,
    ".ifeq": lambda x: x == 0,
    ".iflt": lambda x: x < 0,
    ".ifle": lambda x: x <= 0,
    ".ifgt": lambda x: x > 0,
    ".ifge": lambda x: x >= 0,
}


@dataclass
class _Parameter:
    name: str
    kind: str
    default: str


@dataclass
class _Macro:
    name: str
    parameters: list[_Parameter]
    body: list[Line]


@dataclass
class _Condition:
    line: Line
    active: bool
    taken: bool
    outer: bool
    had_else: bool = False


@dataclass
class _Input:
    """Pending lines, and how many of them were pending before those of a macro."""

    lines: list[Line] = field(default_factory=list)

    def push(self, lines: list[Line]) -> None:
        self.lines.extend(reversed(lines))


class Expander:
    """Yields the lines of a source after expansion."""

    def __init__(self, assembler: Assembler, source: Source) -> None:
        self.assembler = assembler
        self.input = _Input()
        self.input.push(list(lines_of(source)))
        self.macros: dict[str, _Macro] = {}
        self.conditions: list[_Condition] = []
        self.expansions = 0
        self.count = 0
        self.bytes = 0
        self.ended = False

    def __iter__(self) -> Iterator[Line]:
        """Yield the lines, and record errors in them."""
        while self.input.lines and not self.ended:
            line = self.input.lines.pop()
            self.assembler.line = line
            try:
                self._limit(line)
                if not self._is_ours(line):
                    yield line
            except ExpressionError as error:
                self.assembler.problem(str(error), error.column)
            except AsmError as error:
                self.assembler.unit.problems += error.problems
        for condition in self.conditions:
            self.assembler.line = condition.line
            self.assembler.problem("missing .endif for this")

    def _limit(self, line: Line) -> None:
        self.count += 1
        self.bytes += len(line.text)
        if self.count > _MOST_LINES or self.bytes > _MOST_BYTES:
            self.ended = True
            raise ExpressionError(f"macros make more than {_MOST_LINES} lines or 64 MB of this")

    @property
    def _active(self) -> bool:
        return not self.conditions or self.conditions[-1].active

    def _is_ours(self, line: Line) -> bool:
        """Process a line if it is a directive of this module; return whether it is."""
        match = _WORD.match(line.text)
        if match is None:
            return not self._active
        name = match[1]
        word = name.lower()
        rest, column = line.text[match.end() :], match.end() + 1
        if word in _CONDITIONS:
            self._begin_condition(line, word, rest, column)
            return True

        if word in (".else", ".elseif", ".elsif", ".endif"):
            self._continue_condition(line, word, rest, column)
            return True

        if not self._active:
            return True

        if word not in _BLOCKS and word not in _ENDS and word not in _OTHERS:
            if name not in self.macros:
                return False
            self._labels(line, match)
            self._expand(self.macros[name], line, rest, column)
            return True

        self._labels(line, match)
        if word in _ENDS:
            raise ExpressionError(f"{word} ends nothing", match.start(1) + 1)
        if word in _BLOCKS:
            body = self._body(line, word)
            getattr(self, f"_do_{word[1:]}")(line, rest, column, body)
        else:
            getattr(self, f"_do_{word[1:]}")(line, rest, column)

        return True

    def _labels(self, line: Line, match: re.Match[str]) -> None:
        labels = line.text[: match.start(1)]
        if labels.strip():
            self.assembler.statement(labels, 1)

    def _body(self, line: Line, word: str) -> list[Line]:
        """Consume the lines up to the end of a block."""
        ends = [_BLOCKS[word]]
        body: list[Line] = []
        while self.input.lines:
            inner = self.input.lines.pop()
            match = _WORD.match(inner.text)
            found = match[1].lower() if match else ""
            if found in _BLOCKS:
                ends.append(_BLOCKS[found])
            elif found in _ENDS:
                if _ENDS[found] != ends[-1]:
                    self.assembler.line = inner
                    raise ExpressionError(f"{found} where {ends[-1]} is expected")
                ends.pop()
                if not ends:
                    return body
            body.append(inner)

        self.assembler.line = line
        raise ExpressionError(f"missing {_BLOCKS[word]} for this {word}")

    # --- conditions ---------------------------------------------------------------------------

    def _begin_condition(self, line: Line, word: str, rest: str, column: int) -> None:
        outer = self._active
        # An invalid one has an .endif, too.
        self.conditions.append(_Condition(line, False, True, outer))
        holds = outer and self._holds(word, rest, column)
        self.conditions[-1] = _Condition(line, holds, holds or not outer, outer)

    def _continue_condition(self, line: Line, word: str, rest: str, column: int) -> None:
        if not self.conditions:
            raise ExpressionError(f"{word} without .if")
        top = self.conditions[-1]
        if word == ".endif":
            self.conditions.pop()
        elif top.had_else:
            raise ExpressionError(f"{word} after .else of line {top.line.number}")
        elif word == ".else":
            top.active = top.outer and not top.taken
            top.taken = top.had_else = True
        else:
            top.active = top.outer and not top.taken and self._holds(".if", rest, column)
            top.taken = top.taken or top.active

    def _holds(self, word: str, rest: str, column: int) -> bool:
        if word in (".ifdef", ".ifndef", ".ifnotdef"):
            name = rest.strip()
            symbol = self.assembler.unit.symbols.get(name)
            return (symbol is not None and symbol.is_defined) == (word == ".ifdef")

        if word in (".ifb", ".ifnb"):
            return (not rest.strip()) == (word == ".ifb")
        if word in (".ifc", ".ifnc", ".ifeqs", ".ifnes"):
            words = [_unquote(text) for text in _split_arguments(rest)]
            if len(words) != 2:
                raise ExpressionError(f"{word} needs two texts", column)
            return (words[0] == words[1]) == (word in (".ifc", ".ifeqs"))

        parser = self.assembler.parser(rest, column)
        try:
            number = self.assembler.constant(parser, "a condition")
        except Unknown as error:
            raise ExpressionError(
                f"{error}: a condition can only use what was defined before", error.column
            ) from None

        self.assembler.expect_end(parser)
        return _COMPARE[word](number)

    # --- repetitions --------------------------------------------------------------------------

    def _do_rept(self, line: Line, rest: str, column: int, body: list[Line]) -> None:
        parser = self.assembler.parser(rest, column)
        count = self.assembler.constant(parser, "how often")
        self.assembler.expect_end(parser)
        if count < 0 or count * max(1, len(body)) > _MOST_LINES:
            raise ExpressionError(f"{count} times are too many or too few", column)
        self.input.push(body * count)

    def _do_irp(self, line: Line, rest: str, column: int, body: list[Line]) -> None:
        name, _, values = rest.partition(",")
        self._repeat(line, name, _split_arguments(values), body, column)

    def _do_irpc(self, line: Line, rest: str, column: int, body: list[Line]) -> None:
        name, _, values = rest.partition(",")
        self._repeat(line, name, list(_unquote(values.strip())), body, column)

    def _repeat(
        self, line: Line, name: str, values: list[str], body: list[Line], column: int
    ) -> None:
        name = name.strip()
        if not re.fullmatch(r"[A-Za-z_.$][\w.$]*", name):
            raise ExpressionError("the name of the parameter is missing", column)
        if len(body) * len(values) > _MOST_LINES:
            raise ExpressionError("too many lines after expansion", column)
        self.expansions += 1
        lines: list[Line] = []
        for value in values:
            lines += self._substitute(line, body, {name: value})
        self.input.push(lines)

    # --- macros -------------------------------------------------------------------------------

    def _do_macro(self, line: Line, rest: str, column: int, body: list[Line]) -> None:
        match = re.match(r"\s*([A-Za-z_.$][\w.$]*)\s*", rest)
        if match is None:
            raise ExpressionError(".macro needs a name", column)
        parameters = []
        position = match.end()
        while position < len(rest.rstrip()):
            found = _PARAMETER.match(rest, position)
            if found is None or found.end() == position:
                raise ExpressionError(
                    f"{rest[position:].strip()!r} is not a parameter", column + position
                )
            position = found.end()
            default = ""
            if found[3]:
                value = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,\s]*)').match(rest, position)
                assert value is not None
                default, position = _unquote(value[1]), value.end()
            parameters.append(_Parameter(found[1], found[2] or "", default))

        self.macros[match[1]] = _Macro(match[1], parameters, body)

    def _do_purgem(self, line: Line, rest: str, column: int) -> None:
        if self.macros.pop(rest.strip(), None) is None:
            raise ExpressionError(f"unknown macro {rest.strip()!r}", column)

    def _do_exitm(self, line: Line, rest: str, column: int) -> None:
        if line.depth == 0:
            raise ExpressionError(".exitm is not in a macro")
        while self.input.lines and self.input.lines[-1].depth >= line.depth:
            inner = self.input.lines.pop()
            match = _WORD.match(inner.text)
            if match and match[1].lower() == ".endif" and self.conditions:
                self.conditions.pop()

    def _expand(self, macro: _Macro, line: Line, rest: str, column: int) -> None:
        if line.depth >= _DEEPEST:
            raise ExpressionError(f"macro {macro.name!r} is nested more than {_DEEPEST} deep")
        values = _bind(macro, _split_arguments(rest), column)
        self.expansions += 1
        self.input.push(self._substitute(line, macro.body, values))

    def _substitute(self, line: Line, body: list[Line], values: dict[str, str]) -> list[Line]:
        count = str(self.expansions)

        def replace(match: re.Match[str]) -> str:
            name = match[1]
            if name == "()":
                return ""
            if name == "@":
                return count
            return values.get(name, match[0])

        depth = line.depth + 1
        return [Line(_USE.sub(replace, one.text), line.file, line.number, depth) for one in body]

    # --- files --------------------------------------------------------------------------------

    def find(self, rest: str, column: int) -> tuple[Path, list[str]]:
        """Find the file that is named first; return it with the rest of the line."""
        tokens = tokenize(rest, column)
        if not tokens or tokens[0].kind != "string":
            raise ExpressionError("the name of a file must be in quotes", column)
        name = unescape(tokens[0].text[1:-1], column).decode("utf-8", "surrogateescape")
        if "\0" in name or not name:
            raise ExpressionError("invalid file name", column)
        for folder in [*self.assembler.include_dirs, Path()]:
            path = folder / name
            if path.is_file():
                return path, [token.text for token in tokens[1:]]
        folders = ", ".join(map(str, self.assembler.include_dirs)) or "the current folder"
        raise ExpressionError(f"file {name!r} not found in {folders}", column)

    def _do_include(self, line: Line, rest: str, column: int) -> None:
        if line.depth >= _DEEPEST:
            raise ExpressionError(f"files are included more than {_DEEPEST} deep", column)
        path, _ = self.find(rest, column)
        inner = list(lines_of(read_source(path)))
        self.input.push([one._replace(depth=line.depth + 1) for one in inner])

    def _do_end(self, line: Line, rest: str, column: int) -> None:
        self.ended = True


_OTHERS = frozenset([".include", ".exitm", ".purgem", ".end"])


def _split_arguments(text: str) -> list[str]:
    """Split at commas outside quotes and parentheses."""
    found, start, depth, quoted = [], 0, 0, False
    i = 0
    while i < len(text):
        letter = text[i]
        if quoted:
            if letter == "\\":
                i += 1
            quoted = letter != '"'
        elif letter == '"':
            quoted = True
        elif letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
        elif letter == "," and depth <= 0:
            found.append(text[start:i].strip())
            start = i + 1
        i += 1

    last = text[start:].strip()
    return [*found, last] if found or last else []


def _unquote(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return text[1:-1].replace('\\"', '"')
    return text


def _bind(macro: _Macro, arguments: list[str], column: int) -> dict[str, str]:
    """Return the values of the parameters of a macro, given by position or as NAME=VALUE."""
    values = {one.name: one.default for one in macro.parameters}
    given = set()
    place = 0
    for index, text in enumerate(arguments):
        keyword = re.match(r"([A-Za-z_.$][\w.$]*)\s*=(?!=)\s*", text)
        if keyword and keyword[1] in values:
            values[keyword[1]] = _unquote(text[keyword.end() :])
            given.add(keyword[1])
            continue
        if place >= len(macro.parameters):
            raise ExpressionError(
                f"macro {macro.name!r} takes {len(macro.parameters)} arguments, "
                f"not {len(arguments)}",
                column,
            )

        parameter = macro.parameters[place]
        if parameter.kind == "vararg":
            values[parameter.name] = ", ".join(arguments[index:])
            given.add(parameter.name)
            break
        if text:
            values[parameter.name] = _unquote(text)
            given.add(parameter.name)
        place += 1

    for parameter in macro.parameters:
        if parameter.kind == "req" and parameter.name not in given:
            raise ExpressionError(
                f"macro {macro.name!r} needs a value for {parameter.name!r}", column
            )
    return values
