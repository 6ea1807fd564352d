# SPDX-License-Identifier: BSD-3-Clause
"""The Python side, the C headers and the design page speak of the same format."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from accelforge import _naming
from accelforge._problem import FIELDS, format
from accelforge._problem.totals import TOTALS
from accelforge.frontend.mapper.metrics import Metrics, metric_of
from buildtools.c_lists import read_list

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "design" / "accelforge.md").read_text()


def x_macro(header: str, name: str) -> list[str]:
    """List the first arguments of an X-macro."""
    return [row[0] for row in read_list(f"csrc/accelforge/model/{header}", name)]


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
    rows = read_list("csrc/accelforge/model/model.h", "FORGE_TOTALS")
    found = [(name.lower(), objective == "true") for name, objective in rows]
    assert found == [(total.name, total.is_objective) for total in TOTALS]


def test_totals_are_metrics() -> None:
    names = {total.name for total in TOTALS}
    for total in TOTALS:
        assert metric_of(total.name) in Metrics
        assert set(total.parts) <= names
    # They differ in their place, but for those at the end.
    places = [total.column for total in TOTALS if total.column >= 0]
    assert sorted(places) == list(range(len(places)))


@pytest.mark.parametrize("record", FIELDS)
def test_fields_are_documented(record: str) -> None:
    for field in FIELDS[record].split():
        assert re.search(rf'[`"]{field}[`"]', PAGE), field
