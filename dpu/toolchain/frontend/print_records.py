# SPDX-License-Identifier: BSD-3-Clause
"""Parses the formats of printf that are constant, in LLVM IR.

The run time writes a record that the host formats: the conversions with `%s` for the text between
them, a 0, and the arguments (`print_format.h`). Of a constant format, only the arguments are not
known here. Its call becomes one of `__print_record()`, whose first argument has the conversions, a
0, and a letter per argument: `4`, `8` and `1` for numbers of that many bytes, `s` for a string, `t`
for text, which follows with a 0 at its end. So a program has the parser of formats only if it needs
that. Formats with stars, `%n`, narrow integers and the like are left alone.
"""

from __future__ import annotations

import re

__all__ = ["print_by_records"]

_CONSTANT = re.compile(
    r'^@(?P<name>[\w.$]+) = [^\n]*?\bconstant \[\d+ x i8\] c"(?P<text>[^"]*)\\00"',
    re.MULTILINE,
)
_CALL = re.compile(
    r"(call i32 \(ptr, \.\.\.\) )@printf\((ptr [^@%,()]*(?:\(\d+\) )?)@([\w.$]+)(?=[,)])"
)
_ESCAPE = re.compile(rb"\\(\\|[0-9A-Fa-f]{2})")
_CONVERSION = re.compile(
    rb"%(?:(?P<percent>%)|(?P<flags>[-+ #0]*\d*(?P<precision>\.\d*)?)(?P<length>ll?|[jqztL])?"
    rb"(?P<letter>[diuoxXcspfFeEgGaA]))"
)
_LONG = frozenset([b"l", b"ll", b"j", b"q"])
_INTEGERS, _REALS = b"diuoxX", b"fFeEgGaA"
# The host takes these for 8 bytes only if they are long.
_LONG_REALS = b"gGaA"
_FOR_HOST = {b"i": b"d", b"F": b"f"}
_LARGEST_PRECISION = 5
_DECLARATION = "declare i32 @__print_record(ptr, ...)"


def print_by_records(text: str) -> str:
    """Return LLVM IR whose calls of printf with simple constant formats are of records."""
    if "@printf(" not in text:
        return text
    formats = {match["name"]: match["text"] for match in _CONSTANT.finditer(text)}
    records: dict[str, bytes] = {}

    def replace(match: re.Match[str]) -> str:
        call, kind, name = match.groups()
        if name not in records:
            record = _record(_unescaped(formats[name])) if name in formats else None
            if record is None:
                return match[0]
            records[name] = record
        return f"{call}@__print_record({kind.split()[0]} @{_name(name)}"

    changed = _CALL.sub(replace, text)
    if not records:
        return text
    added = [
        f"@{_name(name)} = private unnamed_addr constant [{len(record)} x i8] "
        f'c"{_escaped(record)}", align 1'
        for name, record in records.items()
    ]
    if not re.search(r"^de\w+ .*@__print_record\(", text, re.MULTILINE):
        added.append(_DECLARATION)
    return "\n".join([changed, *added, ""])


def _name(format_name: str) -> str:
    return f"{format_name}.record"


def _unescaped(text: str) -> bytes:
    def replace(match: re.Match[bytes]) -> bytes:
        return b"\\" if match[1] == b"\\" else bytes([int(match[1], 16)])

    return _ESCAPE.sub(replace, text.encode("latin-1", "replace"))


def _escaped(data: bytes) -> str:
    return "".join(
        f"\\{byte:02X}" if byte < 32 or byte > 126 or byte in b'"\\' else chr(byte) for byte in data
    )


def _record(text: bytes) -> bytes | None:
    """Return the record of a format, None if the run time has to parse it."""
    if not text or 0 in text:
        return None
    conversions, letters, pending = b"", b"", b""
    position = 0
    while position < len(text):
        if text[position] != ord("%"):
            pending += text[position : position + 1]
            position += 1
            continue
        match = _CONVERSION.match(text, position)
        if match is None:
            return None
        position = match.end()
        if match["percent"]:
            pending += b"%"
            continue
        found = _argument(match)
        if found is None:
            return None
        if pending:
            conversions, letters, pending = conversions + b"%s", letters + _text(pending), b""
        conversions, letters = conversions + found[0], letters + found[1]

    if pending:
        conversions, letters = conversions + b"%s", letters + _text(pending)
    return conversions + b"\0" + letters + b"\0"


def _text(text: bytes) -> bytes:
    return b"t" + text + b"\0"


def _argument(match: re.Match[bytes]) -> tuple[bytes, bytes] | None:
    """Return a conversion as the host gets it, and the letter of its argument."""
    letter, flags, length = match["letter"], match["flags"], match["length"]
    precision = match["precision"]
    if precision is not None and (letter == b"s" or len(precision) > _LARGEST_PRECISION):
        return None
    start, end = b"%" + flags, _FOR_HOST.get(letter, letter)
    if letter in _INTEGERS and length in _LONG:
        return start + b"l" + end, b"8"
    if letter == b"p" and length in _LONG:
        return None
    if letter in _INTEGERS or letter == b"p":
        return start + end, b"4"
    if letter in _REALS:
        return start + (b"l" if letter in _LONG_REALS else b"") + end, b"8"
    return start + end, b"s" if letter == b"s" else b"1"
