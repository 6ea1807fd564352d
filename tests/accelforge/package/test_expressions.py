# SPDX-License-Identifier: BSD-3-Clause
"""Arithmetic expressions."""

from __future__ import annotations

import math

import pytest

from accelforge.expressions import LiteralString, evaluate, evaluate_text, user_functions
from accelforge.util.exceptions import EvaluationError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        (" 1e3 ", 1000),
        ("0.5", 0.5),
        ("inf", math.inf),
        ("True", True),
        ("false", False),
        ("1024*64*8", 524288),
        ("2 ** 10 // 3 % 5", 1),
        ("-x + +x", 0),
        ("x if x > 3 else 0", 7),
        ("not x or x and 0", 0),
        ("1 < x <= 7 != 8", True),
        ("ceil(log2(x)) + min(x, 3, 5)", 6),
        ("sum(a * b for a in range(3) for b in range(a) if b)", 2),
        ("[i for i in range(3)][-1]", 2),
        ("{'a': x}['a']", 7),
        ("(lambda a, b: a - b)(x, 2)", 5),
        ("max(map(lambda a: a * a, [1, 3, 2]))", 9),
        ("'ab'.startswith('a')", True),
        ("2 in (1, 2) and 3 not in [1]", True),
        ("6 & 3 | 8 ^ 1", 11),
        ("len({1, 1, 2})", 2),
        ("{k: v for k, v in enumerate([5])}[0]", 5),
    ],
)
def test_values(text, value):
    assert evaluate(text, {"x": 7}) == value


def test_numbers_come_before_names_and_names_before_expressions():
    assert evaluate("7", {"7": 8}) == 7
    assert evaluate("a b", {"a b": 3}) == 3
    assert evaluate("pi", {"pi": 3}) == 3


def test_text_that_comes_out_is_literal():
    assert isinstance(evaluate("x", {"x": "size"}), LiteralString)
    assert isinstance(evaluate("'a' + 'b'", {}), LiteralString)


def test_numbers_without_fraction_are_whole():
    assert isinstance(evaluate(8.0, {}), int)
    assert isinstance(evaluate("1e9", {}), int)
    assert evaluate(1e300, {}) == 1e300


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "().__class__.__bases__[0].__subclasses__()",
        "'{0.__class__}'.format(1)",
        "f'{1:1000000000}'",
        "'%1000000000d' % 1",
        "open('/etc/passwd')",
        "eval('1')",
        "exec('1')",
        "getattr(1, 'real')",
        "(x := 1)",
        "[*range(3)]",
        "print(*[1])",
        "range.__self__",
        "x.bit_length.__self__",
        "type(1)",
        "b'a'",
        "1j",
        "...",
        "lambda *a: a",
        "await x",
        "(yield)",
        "import os",
        "x; y",
        "",
        "[" * 200 + "]" * 200,
        "~" * 30000 + "1",
        "-" * 5000 + "1",
        "x" * 30000,
        "\0",
    ],
)
def test_what_is_not_allowed_is_an_error(text):
    with pytest.raises(EvaluationError):
        evaluate_text(text, {"x": 7})


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9**9",
        "1 << 10**9",
        "10**1000 * 10**100000",
        "factorial(10**7)",
        "comb(10**8, 10**7)",
        "prod(range(1, 100000))",
        "'a' * 10**10",
        "[0] * 10**10",
        "range(10**12)",
        "sum(1 for a in range(10**5) for b in range(10**5))",
        "[0 for a in range(10**6) for b in range(10**6)]",
        "(lambda f: f(f))(lambda f: f(f))",
        "(lambda f: f(f))(lambda f: f(f) + f(f))",
        "pow(10, 10**7)",
        "['a' * 2**20 for i in range(10**6)]",
        "[list(range(10**6)) for i in range(10**6)]",
        "(lambda r: [sum(r) for i in range(4 * 10**5)])(range(4 * 10**5))",
        "(lambda r: [-1 in r for i in range(4 * 10**5)])(list(range(4 * 10**5)))",
        "(lambda r: [r[:] for i in range(4 * 10**5)])(list(range(4 * 10**5)))",
        "(lambda r: [sorted(r, key=abs) for i in range(4 * 10**5)])(list(range(4 * 10**5)))",
        "sum([[0] * 10**6] * 10**6, [])",
    ],
)
@pytest.mark.timeout(20)
def test_what_would_take_for_ever_is_an_error(text):
    with pytest.raises(EvaluationError):
        evaluate_text(text, {})


def test_an_undefined_name_is_named_with_similar_ones():
    with pytest.raises(EvaluationError, match=r'"bufer_size" is not defined.*buffer_size'):
        evaluate("bufer_size * 2", {"buffer_size": 3})


@pytest.mark.parametrize(("text", "match"), [("1 + [2]", "'int' and 'list'"), ("[2] + 1", "list")])
def test_operands_that_do_not_go_together_are_named(text, match):
    with pytest.raises(EvaluationError, match=match):
        evaluate(text, {})


def test_values_that_were_used_are_shown():
    with pytest.raises(EvaluationError, match="depth = 0"):
        evaluate("1 / depth", {"depth": 0})


def test_functions_of_the_user():
    with user_functions({"twice": lambda x: 2 * x}):
        assert evaluate("twice(4)", {}) == 8
    with pytest.raises(EvaluationError, match="twice"):
        evaluate("twice(4)", {})


def test_a_function_of_the_user_that_raises():
    def fail():
        raise RuntimeError("no luck")

    with user_functions({"fail": fail}), pytest.raises(EvaluationError, match="no luck") as caught:
        evaluate("fail()", {})
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_lambda_outlives_its_expression():
    function = evaluate("lambda a: a + x", {"x": 1})
    assert function(2) == 3
    assert str(function) == "lambda a: a + x"
    with pytest.raises(TypeError, match="1 arguments, not 2"):
        function(1, 2)
