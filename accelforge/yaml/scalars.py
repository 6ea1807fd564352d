# SPDX-License-Identifier: BSD-3-Clause
"""Reads scalars as the core schema of YAML 1.2 has them.

Beyond it, numbers may have underscores, and whole numbers a base of two, as in ruamel.yaml, which
AccelForge uses. Text such as ``yes`` and ``2001-01-01`` is text.
"""

from __future__ import annotations

import math
import re
from typing import Any

from accelforge.expressions import LiteralString

__all__ = ["STANDARD", "read_plain", "read_tagged"]

STANDARD = "tag:yaml.org,2002:"
MAX_DIGITS = 1000

_WORDS = {
    **dict.fromkeys(("~", "null", "Null", "NULL", ""), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **{sign + word: math.inf for sign in ("", "+") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_BEGINS_NUMBER = frozenset("+-.0123456789")
_WHOLE = re.compile(
    r"[-+]?(?:[0-9][0-9_]*|0b_*[01][01_]*|0o_*[0-7][0-7_]*|0x_*[0-9a-fA-F][0-9a-fA-F_]*)"
)
_DECIMAL = re.compile(
    r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[0-9][0-9_]*[eE][-+]?[0-9]+"
    r"|\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?)"
)


def read_plain(text: str) -> Any:
    """Read a scalar without quotes, block or tag: a number, a truth value, nothing, or text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in _BEGINS_NUMBER:
        # Most numbers are digits alone, which need no pattern.
        if text.isdecimal() and text.isascii() and len(text) <= MAX_DIGITS:
            return int(text)
        if _WHOLE.fullmatch(text):
            return _whole(text)
        if _DECIMAL.fullmatch(text):
            return float(text.replace("_", ""))
    return text


def read_tagged(tag: str, text: str, quoted: bool) -> Any:
    """Read a scalar with a tag.

    Parameters
    ----------
    tag : str
        The whole tag.
    text : str
        The scalar.
    quoted : bool
        Whether it stands in quotes.

    Raises
    ------
    ValueError
        The text is not what the tag says, or scalars have no such tag.
    """
    name = tag.removeprefix(STANDARD) if tag.startswith(STANDARD) else ""
    if name in ("str", "timestamp", "merge"):
        # The tag says that text is meant, as quotes do.
        return LiteralString(text) if quoted or name == "str" else text
    if name not in _TAGGED:
        shown = f"!!{name}" if name else f"!{tag.removeprefix('!')}"
        raise ValueError(f"a value cannot have the tag {shown}")
    value = read_plain(text) if text else None
    if name == "float" and type(value) is int:
        value = float(value)
    if type(value) is not _TAGGED[name]:
        raise ValueError(f"{text[:80]!r} is not {_MEANING[name]}")
    return value


_TAGGED: dict[str, type] = {"null": type(None), "bool": bool, "int": int, "float": float}
_MEANING = {
    "null": "null",
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
}


def _whole(text: str) -> int:
    digits = text.replace("_", "").lower()
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"the number has more than {MAX_DIGITS} digits")
    base = {"0x": 16, "0o": 8, "0b": 2}.get(digits.lstrip("+-")[:2], 10)
    return int(digits, base)
