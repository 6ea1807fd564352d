# SPDX-License-Identifier: BSD-3-Clause
"""Directives that add contents to a section: numbers, strings, space, other files."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from .expressions import Expression, ExpressionError, unescape
from .unit import DataFixup

if TYPE_CHECKING:
    from .assembler import Assembler

__all__ = ["CONTENTS", "align", "check_alignment", "go_to"]

Directive = Callable[["Assembler", str, int], None]
CONTENTS: dict[str, Directive] = {}

_BIGGEST_ALIGNMENT = 1 << 16


def _directive(*names: str) -> Callable[[Directive], Directive]:
    def register(function: Directive) -> Directive:
        for name in names:
            CONTENTS[name] = function
        return function

    return register


def _numbers(size: int) -> Directive:
    high = 1 << 8 * size

    def apply(assembler: Assembler, rest: str, column: int) -> None:
        parser = assembler.parser(rest, column)
        if parser.done():
            return

        while True:
            at = parser.column
            expression = parser.expression()
            if not isinstance(expression, int):
                section = assembler.section
                if section.place.is_empty:
                    assembler.reserve(size, b"\1", at)
                section.numbers.append(
                    DataFixup(section.size, size, expression, assembler.line.location(at))
                )
                expression = 0
            if not -high // 2 <= expression < high:
                raise ExpressionError(f"{expression} does not fit into {size} bytes", at)
            data = (expression % high).to_bytes(size, "little")
            assembler.reserve(size, data if any(data) else b"\0", at)
            if not parser.accept(","):
                break

        assembler.expect_end(parser)

    return apply


for _names_of_size, _bytes in (
    ((".byte", ".1byte"), 1),
    ((".short", ".half", ".hword", ".2byte"), 2),
    ((".word", ".long", ".int", ".4byte"), 4),
    ((".quad", ".8byte"), 8),
    ((".octa",), 16),
):
    for _name in _names_of_size:
        CONTENTS[_name] = _numbers(_bytes)


def _strings(end: bytes) -> Directive:
    def apply(assembler: Assembler, rest: str, column: int) -> None:
        parser = assembler.parser(rest, column)
        while not parser.done():
            token = parser.take()
            if token.kind != "string":
                raise ExpressionError(f"{token.text!r} is not a string", token.column)
            data = unescape(token.text[1:-1], token.column)
            # Adjacent strings are concatenated.
            while not parser.done() and parser.tokens[parser.at].kind == "string":
                token = parser.take()
                data += unescape(token.text[1:-1], token.column)
            data += end
            if data:
                fill = data if any(data) else b"\0"
                assembler.reserve(len(data), fill, token.column)
            if not parser.accept(","):
                break
        assembler.expect_end(parser)

    return apply


CONTENTS[".ascii"] = _strings(b"")
CONTENTS[".asciz"] = CONTENTS[".asciiz"] = CONTENTS[".string"] = _strings(b"\0")


def _floats(format: str) -> Directive:
    def apply(assembler: Assembler, rest: str, column: int) -> None:
        for text in rest.split(","):
            try:
                data = struct.pack(format, float(text))
            except (ValueError, OverflowError):
                raise ExpressionError(f"{text.strip()!r} is not a number", column) from None
            assembler.reserve(len(data), data if any(data) else b"\0", column)

    return apply


CONTENTS[".float"] = CONTENTS[".single"] = _floats("<f")
CONTENTS[".double"] = _floats("<d")


@_directive(".zero", ".space", ".skip")
def _space(assembler: Assembler, rest: str, column: int) -> None:
    parser = assembler.parser(rest, column)
    at = parser.column
    size = assembler.constant(parser, "a size")
    fill = 0
    if parser.accept(","):
        fill = assembler.constant(parser, "what to fill with")
    assembler.expect_end(parser)
    assembler.reserve(size, bytes([fill & 0xFF]), at)


@_directive(".fill")
def _fill(assembler: Assembler, rest: str, column: int) -> None:
    parser = assembler.parser(rest, column)
    at = parser.column
    count = assembler.constant(parser, "how often")
    size, value = 1, 0
    if parser.accept(","):
        size = assembler.constant(parser, "a size")
        if parser.accept(","):
            value = assembler.constant(parser, "what to fill with")
    assembler.expect_end(parser)
    if not 0 <= size <= 8:
        raise ExpressionError(f".fill is for 0 to 8 bytes at a time, not {size}", at)
    if count < 0:
        raise ExpressionError(f"{count} is not a valid count", at)
    data = (value % (1 << 8 * size)).to_bytes(size, "little")
    assembler.reserve(count * size, data if any(data) else b"\0", at)


def check_alignment(alignment: int, column: int) -> None:
    """Raise ExpressionError if a number is not an alignment."""
    if alignment < 1 or alignment & (alignment - 1) or alignment > _BIGGEST_ALIGNMENT:
        raise ExpressionError(
            f"{alignment} is not an alignment: it must be a power of 2 up to {_BIGGEST_ALIGNMENT}",
            column,
        )


def align(assembler: Assembler, alignment: int, fill: int | None, most: int, column: int) -> None:
    """Pad to a multiple of the alignment, unless that takes more than `most` bytes."""
    section = assembler.section
    missing = -section.size % alignment
    if most and missing > most:
        return
    section.alignment = max(section.alignment, alignment)
    if section.is_code and fill is None and missing % 8 == 0:
        for _ in range(missing // 8):
            assembler.instruction("nop", column, "", column)
    else:
        assembler.reserve(missing, bytes([(fill or 0) & 0xFF]), column)


def _alignment(power: bool) -> Directive:
    def apply(assembler: Assembler, rest: str, column: int) -> None:
        parser = assembler.parser(rest, column)
        at = parser.column
        alignment = assembler.constant(parser, "an alignment") if not parser.done() else 0
        if power:
            if not 0 <= alignment <= 16:
                raise ExpressionError(f"2 to the power of {alignment} is not an alignment", at)
            alignment = 1 << alignment
        fill, most = None, 0
        if parser.accept(","):
            if parser.peek() != "," and not parser.done():
                fill = assembler.constant(parser, "what to fill with")
            if parser.accept(","):
                most = assembler.constant(parser, "the most to fill")
        assembler.expect_end(parser)
        alignment = alignment or 1
        check_alignment(alignment, at)
        align(assembler, alignment, fill, most, at)

    return apply


CONTENTS[".balign"] = CONTENTS[".align"] = _alignment(False)
CONTENTS[".p2align"] = _alignment(True)


def go_to(assembler: Assembler, expression: Expression, column: int) -> None:
    """Pad to an offset in the section."""
    number, section = assembler.value(expression)
    if section is not None and section is not assembler.section:
        raise ExpressionError("this is in another section", column)
    target = number * 8 if assembler.section.is_code else number
    if target < assembler.section.size:
        raise ExpressionError(
            f"the position moves backwards, from {assembler.section.size} bytes to {target}", column
        )
    missing = target - assembler.section.size
    if assembler.section.is_code and assembler.section.size % 8 == 0:
        _check_code(assembler, missing, column)
        for _ in range(missing // 8):
            assembler.instruction("nop", column, "", column)
    else:
        assembler.reserve(missing, column=column)


def _check_code(assembler: Assembler, size: int, column: int) -> None:
    if size > 1 << 19:
        raise ExpressionError(f"{size // 8} instructions are more than a DPU has", column)


@_directive(".org")
def _org(assembler: Assembler, rest: str, column: int) -> None:
    parser = assembler.parser(rest, column)
    at = parser.column
    expression = parser.expression()
    assembler.expect_end(parser)
    go_to(assembler, expression, at)


@_directive(".incbin")
def _incbin(assembler: Assembler, rest: str, column: int) -> None:
    path, _ = assembler.expander.find(rest, column)
    parser = assembler.parser(rest, column)
    parser.take()
    skip, count = 0, None
    if parser.accept(","):
        skip = assembler.constant(parser, "how much to skip") if parser.peek() != "," else 0
        if parser.accept(","):
            count = assembler.constant(parser, "how much to take")

    assembler.expect_end(parser)
    if skip < 0 or (count is not None and count < 0):
        raise ExpressionError("skip and count must not be negative", column)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ExpressionError(f"cannot read {path}: {error.strerror}", column) from error

    data = data[skip:] if count is None else data[skip : skip + count]
    if data:
        assembler.reserve(len(data), data if any(data) else b"\0", column)
