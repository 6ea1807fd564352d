# SPDX-License-Identifier: BSD-3-Clause
"""Widens `long` to 64 bits, as in C for the DPU.

The compiler's `long` has 32 bits. In preprocessed text, `long` becomes `long long`, and a constant
that ends in L gets a second one. `long double` becomes `double`.
"""

from __future__ import annotations

import re

__all__ = ["MACROS", "widen_long"]

# Predefined macros that describe `long`.
_VALUES = {
    "__LONG_MAX__": "0x7fffffffffffffffL",
    "__LONG_WIDTH__": "64",
    "__SIZEOF_LONG__": "8",
    "__SIZEOF_LONG_DOUBLE__": "8",
}
MACROS = ["-Wno-builtin-macro-redefined"]
for _name, _value in _VALUES.items():
    MACROS += [f"-U{_name}", f"-D{_name}={_value}"]

_TOKEN = re.compile(
    r"""
    (?P<skipped> ^[ \t]*\#[^\n]*                      # marks of lines, pragmas
               | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
  | (?P<number> \.?[0-9] (?: [eEpP][+-] | [\w.] )* )
  | (?P<type> \blong\b (?: \s+ (?:long|double)\b )? | \bdouble \s+ long\b )
  | (?P<word> [A-Za-z_$][\w$]* )
    """,
    re.MULTILINE | re.VERBOSE,
)
_HEXADECIMAL = ("0x", "0X")
_HAS_LONG = re.compile(r"\blong\b(?!\s+long\b)|[0-9.][uU]?[lL]")


def widen_long(text: str) -> str:
    """Return preprocessed C with `long` of 64 bits; line numbers do not change."""
    if _HAS_LONG.search(text) is None:
        return text
    return _TOKEN.sub(_replace, text)


def _replace(match: re.Match[str]) -> str:
    token = match[0]
    if match["number"] is not None:
        return _widen_number(token)
    if match["type"] is None:
        return token
    if "double" in token:
        return token.replace("long", "", 1)
    return "long long" if token == "long" else token


def _widen_number(token: str) -> str:
    stem = token.rstrip("lLuU")
    suffix = token[len(stem) :].lower()
    if suffix.count("l") != 1:
        return token
    marks = ("p", "P", ".") if token.startswith(_HEXADECIMAL) else ("e", "E", ".")
    if any(mark in stem for mark in marks):
        # A floating constant of type long double.
        return stem
    return f"{stem}{'U' if 'u' in suffix else ''}LL"
