# SPDX-License-Identifier: BSD-3-Clause
"""The Python side, the C headers and the design page speak of the same format."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from accelforge import _naming
from accelforge._problem import FIELDS, format

ROOT = Path(__file__).resolve().parents[3]
MODEL = ROOT / "csrc" / "accelforge" / "model"
PAGE = (ROOT / "docs" / "design" / "accelforge.md").read_text()


def x_macro(header: str, name: str) -> list[str]:
    """List the first arguments of an X-macro."""
    text = (MODEL / header).read_text()
    body = re.search(rf"#define {name}\(X\)((?:.*\\\n)*.*)", text)
    assert body is not None
    return re.findall(r"\bX\((\w+)", body[1])


def test_statuses() -> None:
    names = [name.lower() for name in x_macro("status.h", "FORGE_STATUSES")]
    assert tuple(names) == _naming.STATUSES


def test_kinds_of_numbers() -> None:
    names = x_macro("problem.h", "FORGE_NUMBERS")
    assert [getattr(format, name) for name in names] == list(range(len(names)))


def test_words_of_formulas() -> None:
    names = x_macro("problem.h", "FORGE_WORDS")
    operators = {
        **{"ADD": "+", "SUBTRACT": "-", "MULTIPLY": "*", "DIVIDE": "/", "MINIMUM": "min"},
        **{"MAXIMUM": "max", "POWER": "pow", "FLOOR_DIVIDE": "floordiv", "MODULO": "mod"},
        "NEGATE": "neg",
    }
    for number, name in enumerate(names):
        if name == "NUMBER":
            continue
        word = operators.get(name, name.lower())
        assert {**format.WORDS, **format.PROPERTIES}[word] == number
        assert f'"{word}' in PAGE


def test_totals() -> None:
    names = [name.lower() for name in x_macro("model.h", "FORGE_TOTALS")]
    assert tuple(names) == _naming._TOTALS


@pytest.mark.parametrize("record", FIELDS)
def test_fields_are_documented(record: str) -> None:
    for field in FIELDS[record].split():
        assert re.search(rf'[`"]{field}[`"]', PAGE), field
