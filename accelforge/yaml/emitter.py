# SPDX-License-Identifier: BSD-3-Clause
"""Writes specifications as YAML that `accelforge.yaml.files` reads back."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

from accelforge.expressions import InvertibleSet, LiteralString

__all__ = ["to_yaml_string"]

# Text that stands for itself without quotes: no indicator at its ends, no comment, no number.
PLAIN = re.compile(r"[A-Za-z_~(.<][^\n#\"'{}\[\]%@`|>:]*[^\s\n#\"'{}\[\]%@`|>:,]|[A-Za-z_]")
READ_AS_OTHER = re.compile(r"~|null|true|false|[-+]?\.inf|\.nan|[-+.\d]*|<<<?", re.IGNORECASE)


def to_yaml_string(value: Any) -> str:
    """Write a model, a dictionary or a list.

    A model is an object whose class has a method ``_given()``, which returns the fields to write;
    the class's ``_yaml_tag``, if it has one, becomes the tag.

    Parameters
    ----------
    value : object
        What to write.
    """
    return "\n".join(_block(value, 0, root=True)) + "\n"


def _plain_data(value: Any) -> Any:
    if hasattr(type(value), "_given"):
        return value._given()
    if isinstance(value, InvertibleSet):
        return " | ".join(value) or "Nothing"
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, Enum):
        return value.name
    return value


def _block(value: Any, indent: int, root: bool = False) -> Iterator[str]:
    """Yield lines; the first one continues the line of a key or of a dash."""
    pad = " " * indent
    tag = "" if root else getattr(type(value), "_yaml_tag", "")
    data = _plain_data(value)
    if isinstance(data, dict) and data:
        if not root:
            yield f"!{tag}" if tag else ""
        for key, item in data.items():
            first, *rest = _block(item, indent + 2)
            yield f"{pad}{_scalar(key, key=True)}:{' ' if first else ''}{first}"
            yield from rest
    elif isinstance(data, (list, tuple)) and data:
        if not root:
            yield ""
        for item in data:
            first, *rest = _block(item, indent + 2)
            yield f"{pad}-{' ' if first else ''}{first}"
            yield from rest
    elif isinstance(data, str) and not isinstance(data, LiteralString) and not _is_plain(data):
        # A block is text that is an expression, while quotes would make it literal.
        yield "|-"
        yield from (f"{pad}{line}" if line else "" for line in data.split("\n"))
    else:
        yield (f"!{tag} " if tag else "") + _scalar(data)


def _is_plain(text: str) -> bool:
    if text != text.strip() or not text.isprintable():
        return True  # quoted: a block would lose something
    return bool(PLAIN.fullmatch(text)) and not READ_AS_OTHER.fullmatch(text)


def _scalar(value: Any, key: bool = False) -> str:
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, (list, tuple)):
        return "[]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else (".inf" if value > 0 else "-.inf")
    if isinstance(value, (int, float)):
        return repr(value)
    text = str(getattr(value, "_original_expression", value))
    plain = bool(PLAIN.fullmatch(text)) and not READ_AS_OTHER.fullmatch(text)
    if plain and not isinstance(value, LiteralString):
        return text
    return json.dumps(text)
