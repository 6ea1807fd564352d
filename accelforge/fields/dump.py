# SPDX-License-Identifier: BSD-3-Clause
"""Turns the values of fields into plain ones."""

from __future__ import annotations

from enum import Enum
from typing import Any

from accelforge.expressions import InvertibleSet

__all__ = ["dump_value"]


def dump_value(value: Any) -> Any:
    """Return plain dictionaries, lists, text and numbers."""
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if isinstance(value, dict):
        return {key: dump_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [dump_value(item) for item in value]
    if isinstance(value, InvertibleSet):
        return " | ".join(value) or "Nothing"
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, Enum):
        return value.name
    return value
