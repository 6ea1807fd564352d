# SPDX-License-Identifier: BSD-3-Clause
"""Set expressions."""

from __future__ import annotations

import pytest

from accelforge.expressions import (
    RANK_VARIABLES,
    TENSORS,
    InvertibleSet,
    evaluate_set,
    evaluate_set_keys,
)
from accelforge.util.exceptions import EvaluationError


@pytest.fixture
def symbols():
    spaces = {
        name: InvertibleSet(variables, "mnk", RANK_VARIABLES)
        for name, variables in {"A": "mk", "B": "kn", "Z": "mn"}.items()
    }

    def tensors(members):
        return InvertibleSet(members, "ABZ", TENSORS, spaces)

    names = {"All": "ABZ", "Nothing": "", "A": "A", "B": "B", "Z": "Z", "input": "A"}
    return {
        **{name: tensors(members) for name, members in names.items()},
        **{v: InvertibleSet(v, "mnk", RANK_VARIABLES) for v in "mnk"},
    }


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("All", "ABZ"),
        ("~All", ""),
        ("~(A | B)", "Z"),
        ("All - input", "BZ"),
        ("A ^ All", "BZ"),
        ("All & ~Z", "AB"),
        ("A if len(All) == 3 else B", "A"),
        ("{A, B}", "AB"),
        ("All()", "ABZ"),
        ("A.tensors", "A"),
        (" Nothing ", ""),
    ],
)
def test_sets_of_tensors(symbols, text, members):
    assert "".join(evaluate_set(text, symbols, TENSORS)) == members


@pytest.mark.parametrize(("text", "members"), [("~m", "kn"), ("(A | Z).rank_variables", "kmn")])
def test_sets_of_rank_variables(symbols, text, members):
    assert "".join(evaluate_set(text, symbols, RANK_VARIABLES)) == members


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("weight", "weight"),
        ("A | m", "do not combine"),
        ("m", "rank variables, not of tensors"),
        ("3", "int, not a set"),
        ("A.instance", "instance"),
        ("A |", "invalid syntax"),
        ("m.tensors", "no tensors"),
        ("All.bits_per_value", "one tensor"),
    ],
)
def test_errors_name_the_expression(symbols, text, message):
    with pytest.raises(EvaluationError, match=message) as caught:
        evaluate_set(text, symbols, TENSORS, "keep")
    assert text in str(caught.value)
    assert caught.value.path == "keep"


def test_bits_per_value(symbols):
    symbols["A"].bits_per_value = 4
    assert symbols["A"].bits_per_value == 4
    with pytest.raises(ValueError, match="unknown here"):
        symbols["B"].bits_per_value  # noqa: B018


def test_keys_with_other(symbols):
    found = evaluate_set_keys({"A": 1, "Other": 2}, symbols, "bits")
    assert [(key, "".join(sorted(members)), value) for key, members, value in found] == [
        ("A", "A", 1),
        ("Other", "BZ", 2),
    ]


@pytest.mark.parametrize(
    ("table", "message"),
    [({"A": 1, "All": 2}, "overlap on A"), ({"Other": 1, "~Other": 2}, "more than one key")],
)
def test_keys_that_clash(symbols, table, message):
    with pytest.raises(EvaluationError, match=message):
        evaluate_set_keys(table, symbols, "bits")


def test_expected_count(symbols):
    with pytest.raises(EvaluationError, match="3 members, not 1"):
        evaluate_set("All", symbols, TENSORS, expected_count=1)
