# SPDX-License-Identifier: BSD-3-Clause
"""The directives, except those that select lines (see macros.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..elf.format import Binding, SymbolType, Visibility
from .contents import CONTENTS, align, check_alignment, go_to
from .expressions import Expression, ExpressionError, Parser, unescape
from .forms import REGISTERS
from .unit import Place, Section

if TYPE_CHECKING:
    from .assembler import Assembler

__all__ = ["DIRECTIVES", "is_ignored", "place_of", "set_symbol"]

Directive = Callable[["Assembler", str, int], None]
DIRECTIVES: dict[str, Directive] = dict(CONTENTS)

_IGNORED = frozenset(
    [
        ".file",
        ".loc",
        ".ident",
        ".addrsig",
        ".addrsig_sym",
        ".line",
        ".ln",
        ".version",
        ".list",
        ".nolist",
        ".title",
        ".sbttl",
        ".psize",
        ".eject",
        ".cpu",
        ".arch",
        ".print",
    ]
)

# The first prefix that matches a name decides where the section goes.
_PLACES = (
    (".text", Place.TEXT),
    (".init", Place.TEXT),
    (".data.immediate_memory", Place.IMMEDIATE),
    (".data.__sys_host", Place.HOST),
    (".dpu_host", Place.HOST),
    (".data.__sys_profiling", Place.PROFILING),
    (".data", Place.DATA),
    (".bss", Place.DATA),
    (".rodata", Place.DATA),
    (".sdata", Place.DATA),
    (".sbss", Place.DATA),
    (".mram.noinit", Place.MRAM_NOINIT),
    (".mram", Place.MRAM),
    (".atomic", Place.ATOMIC),
)
_SYMBOL_TYPES = {
    "function": SymbolType.FUNC,
    "func": SymbolType.FUNC,
    "stt_func": SymbolType.FUNC,
    "object": SymbolType.OBJECT,
    "stt_object": SymbolType.OBJECT,
    "common": SymbolType.OBJECT,
    "notype": SymbolType.NOTYPE,
    "stt_notype": SymbolType.NOTYPE,
    "tls_object": SymbolType.OBJECT,
    "gnu_unique_object": SymbolType.OBJECT,
}


def is_ignored(name: str) -> bool:
    """Tell whether a directive is ignored, as one for debuggers."""
    return name in _IGNORED or name.startswith(".cfi_")


def place_of(name: str, flags: str | None) -> Place | None:
    """Return the place of a section; None if neither its name nor its flags determine it."""
    for start, place in _PLACES:
        if name == start or name.startswith(start + "."):
            return place
    if flags is None:
        return Place.NOWHERE if name.startswith((".debug", ".comment", ".note", ".stack")) else None
    if "x" in flags:
        return Place.TEXT
    return Place.DATA if "a" in flags else Place.NOWHERE


def _directive(*names: str) -> Callable[[Directive], Directive]:
    def register(function: Directive) -> Directive:
        for name in names:
            DIRECTIVES[name] = function
        return function

    return register


# --- sections ----------------------------------------------------------------------------------


def _switch(assembler: Assembler, name: str, flags: str | None = None, column: int = 0) -> None:
    section = assembler.unit.sections.get(name)
    if section is None:
        place = place_of(name, flags)
        if place is None:
            raise ExpressionError(
                f"nothing says where section {name!r} goes: give it flags, "
                f'"ax" for code or "aw" for data in WRAM',
                column,
            )
        section = assembler.unit.sections[name] = Section(name, place)
    assembler.previous, assembler.section = assembler.section, section


@_directive(".section")
def _section(assembler: Assembler, rest: str, column: int) -> None:
    parser = assembler.parser(rest, column)
    token = parser.take()
    name, end = token.text, token.end
    if token.kind == "string":
        name = unescape(name[1:-1], token.column).decode("utf-8", "surrogateescape")
    else:
        # Names such as .text.a-b consist of several tokens without spaces.
        while not parser.done() and parser.peek() != "," and parser.column == end:
            token = parser.take()
            name, end = name + token.text, token.end

    if not name or "\0" in name:
        raise ExpressionError("a section needs a name", column)
    flags = None
    if parser.accept(","):
        token = parser.take()
        if token.kind == "string":
            flags = token.text[1:-1]
        elif token.text not in ("@", "%", "#"):
            raise ExpressionError('flags of a section are in quotes, as "aw"', token.column)

    _switch(assembler, name, flags, column)


def _named(name: str) -> Directive:
    def switch(assembler: Assembler, rest: str, column: int) -> None:
        parser = assembler.parser(rest, column)
        if not parser.done():
            assembler.constant(parser, "a subsection")
        assembler.expect_end(parser)
        _switch(assembler, name)

    return switch


for _name in (".text", ".data", ".bss", ".rodata", ".mram", ".atomic"):
    DIRECTIVES[_name] = _named(_name)


@_directive(".previous")
def _previous(assembler: Assembler, rest: str, column: int) -> None:
    assembler.section, assembler.previous = assembler.previous, assembler.section


@_directive(".pushsection")
def _pushsection(assembler: Assembler, rest: str, column: int) -> None:
    state = assembler.section, assembler.previous
    _section(assembler, rest, column)
    assembler.stack.append(state)


@_directive(".popsection")
def _popsection(assembler: Assembler, rest: str, column: int) -> None:
    if not assembler.stack:
        raise ExpressionError(".popsection without .pushsection", column)
    assembler.section, assembler.previous = assembler.stack.pop()


# --- symbols -----------------------------------------------------------------------------------


def _name_of(parser: Parser) -> str:
    token = parser.take()
    if token.kind == "string":
        return unescape(token.text[1:-1], token.column).decode("utf-8", "surrogateescape")
    if token.kind != "name" or token.text == ".":
        raise ExpressionError(f"{token.text!r} is not a symbol name", token.column)
    return token.text


def _names(assembler: Assembler, rest: str, column: int) -> list[str]:
    parser = assembler.parser(rest, column)
    names = [_name_of(parser)]
    while parser.accept(","):
        names.append(_name_of(parser))
    assembler.expect_end(parser)
    return names


@_directive(".globl", ".global")
def _globl(assembler: Assembler, rest: str, column: int) -> None:
    for name in _names(assembler, rest, column):
        symbol = assembler.unit.symbol(name)
        if symbol.binding is Binding.LOCAL:
            symbol.binding = Binding.GLOBAL


@_directive(".extern")
def _extern(assembler: Assembler, rest: str, column: int) -> None:
    for name in _names(assembler, rest, column):
        assembler.unit.symbol(name)


@_directive(".local")
def _local(assembler: Assembler, rest: str, column: int) -> None:
    for name in _names(assembler, rest, column):
        assembler.unit.symbol(name).binding = Binding.LOCAL


@_directive(".weak")
def _weak(assembler: Assembler, rest: str, column: int) -> None:
    for name in _names(assembler, rest, column):
        assembler.unit.symbol(name).binding = Binding.WEAK


def _visibility(visibility: Visibility) -> Directive:
    def apply(assembler: Assembler, rest: str, column: int) -> None:
        for name in _names(assembler, rest, column):
            assembler.unit.symbol(name).visibility = visibility

    return apply


DIRECTIVES[".hidden"] = _visibility(Visibility.HIDDEN)
DIRECTIVES[".protected"] = _visibility(Visibility.PROTECTED)
DIRECTIVES[".internal"] = _visibility(Visibility.INTERNAL)


@_directive(".type")
def _type(assembler: Assembler, rest: str, column: int) -> None:
    parser = assembler.parser(rest, column)
    name = _name_of(parser)
    parser.accept(",")
    if not (parser.accept("@") or parser.accept("%")):
        parser.accept("#")
    token = parser.take()
    kind = token.text.strip('"').lower()
    if kind not in _SYMBOL_TYPES:
        raise ExpressionError(
            f"{token.text!r} is not a symbol type: use @function, @object or @notype",
            token.column,
        )
    assembler.expect_end(parser)
    assembler.unit.symbol(name).type = _SYMBOL_TYPES[kind]


@_directive(".size")
def _size(assembler: Assembler, rest: str, column: int) -> None:
    parser = assembler.parser(rest, column)
    name = _name_of(parser)
    if not parser.accept(","):
        raise ExpressionError("a comma and the size are missing", parser.column)
    assembler.unit.symbol(name).size = parser.expression()
    assembler.expect_end(parser)


def set_symbol(assembler: Assembler, name: str, expression: Expression, column: int) -> None:
    """Set the value of a symbol, which may already have one."""
    if name == ".":
        go_to(assembler, expression, column)
        return

    if name in REGISTERS:
        raise ExpressionError(f"{name!r} is a register and cannot be a symbol", column)
    if name in assembler.given:
        return
    symbol = assembler.unit.symbol(name)
    if symbol.section is not None:
        raise ExpressionError(f"{name!r} is a label and cannot be set", column)

    if not isinstance(expression, int):
        try:
            value = assembler.value(expression)
        except ExpressionError:
            value = None
        if value is not None and value.section is None:
            expression = value.number
        elif symbol.is_defined and name in _mentioned(expression):
            raise ExpressionError(f"{name!r} would be defined by itself", column)

    symbol.expression = expression
    symbol.location = assembler.line.location(column)


def _mentioned(expression: Expression) -> set[str]:
    found: set[str] = set()
    waiting = [expression]
    while waiting:
        one = waiting.pop()
        if isinstance(one, tuple):
            if one[0] == "symbol":
                found.add(one[1])
            else:
                waiting += [part for part in one if isinstance(part, tuple)]
    return found


def _set(once: bool) -> Directive:
    def apply(assembler: Assembler, rest: str, column: int) -> None:
        parser = assembler.parser(rest, column)
        at = parser.column
        name = _name_of(parser)
        if not parser.accept(","):
            raise ExpressionError("a comma and the value are missing", parser.column)
        expression = parser.expression()
        assembler.expect_end(parser)
        symbol = assembler.unit.symbols.get(name)
        if once and symbol is not None and symbol.is_defined and name not in assembler.given:
            raise ExpressionError(f"{name!r} is defined twice", at)
        set_symbol(assembler, name, expression, at)

    return apply


DIRECTIVES[".set"] = DIRECTIVES[".equ"] = _set(False)
DIRECTIVES[".equiv"] = _set(True)


def _common(local: bool) -> Directive:
    def apply(assembler: Assembler, rest: str, column: int) -> None:
        parser = assembler.parser(rest, column)
        at = parser.column
        symbol = assembler.unit.symbol(_name_of(parser))
        if not parser.accept(","):
            raise ExpressionError("a comma and the size are missing", parser.column)
        size = assembler.constant(parser, "a size")
        alignment = 8
        if parser.accept(","):
            alignment = assembler.constant(parser, "an alignment")
        assembler.expect_end(parser)
        check_alignment(alignment, at)
        before = assembler.section
        assembler.section = assembler.unit.sections.setdefault(".bss", Section(".bss", Place.DATA))
        try:
            align(assembler, alignment, None, 0, at)
            assembler.place_symbol(symbol, assembler.section, at)
            assembler.reserve(size, column=at)
        finally:
            assembler.section = before

        symbol.size = size
        symbol.type = SymbolType.OBJECT
        if not local:
            # The linker uses one of several definitions.
            symbol.common = size
            symbol.binding = Binding.WEAK

    return apply


DIRECTIVES[".comm"] = DIRECTIVES[".common"] = _common(False)
DIRECTIVES[".lcomm"] = _common(True)


@_directive(".err", ".error")
def _error(assembler: Assembler, rest: str, column: int) -> None:
    raise ExpressionError(rest.strip().strip('"') or ".err", column)


@_directive(".warning")
def _warning(assembler: Assembler, rest: str, column: int) -> None:
    """Ignore the directive."""
