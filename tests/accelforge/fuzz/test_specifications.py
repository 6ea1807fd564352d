# SPDX-License-Identifier: BSD-3-Clause
"""Damaged specifications and random expressions give a result or an error of ours.

``OFFCHIP_FUZZ_SEED`` and ``OFFCHIP_FUZZ_SECONDS`` ask for other texts, and more of them.
"""

from __future__ import annotations

import os
import random
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("yaml")
pytest.importorskip("jinja2")

import accelforge as af
from accelforge.expressions import evaluate_text
from accelforge.frontend.iteration_space import parse_affine, solve_bounds

SEED = int(os.environ.get("OFFCHIP_FUZZ_SEED", "1"))
SECONDS = float(os.environ.get("OFFCHIP_FUZZ_SECONDS", "4"))
SLOW = 30.0

EXAMPLES = af.examples.path
WHOLE = [
    ("arches/simple", "workloads/basic/matmuls", "mappings/unfused_matmuls_to_simple"),
    ("arches/simple", "workloads/basic/matmuls", "mappings/fused_matmuls_to_simple"),
    ("arches/weight_stationary", "workloads/basic/matmuls", "mappings/matmul_to_weight_stationary"),
    ("arches/eyeriss", "workloads/cnns/convolution", "mappings/convolution_to_eyeriss"),
    ("arches/tpu_v4i", "workloads/transformers/gpt/_block", "mappings/matmul_to_tpu_v4i"),
]

# Errors in the package's own words, and others that its documentation promises.
EXPECTED = (af.EvaluationError, af.InvalidMappingError, FileNotFoundError)
PROMISED = {KeyError: "the mapping computes", RuntimeError: "the mapping loops over"}

PIECES = (
    *("0", "-1", "1e309", ".inf", ".nan", "null", "true", "[]", "{}", "''", "!!int x", "&a", "*a"),
    *(
        "<<: *a",
        "<<<: {a: 1}",
        "!nomerge",
        "!Memory",
        "!Sequential",
        "{{",
        "}}",
        "{% for i in l %}",
    ),
    *("{% endfor %}", "{{include('x')}}", "All", "~", "|", "Other", "x.y", "__class__", "9**9"),
    *("(", ")", "[", "]", ":", ",", "\t", "\0", "\ud7ff", "#", "%", "@", "`", "- ", "  "),
    *("M", "m", "2*p + r", "m*m", "0 <= m < 3", "inf", "999999999999", "size", "name", "spec"),
)


def damage(text: str, rng: random.Random) -> str:
    """Change a few places of a text."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        lines = text.split("\n")
        number = rng.randrange(len(lines))
        words = lines[number].split(" ")
        word = rng.randrange(len(words))
        match rng.randrange(6):
            case 0:
                del lines[number]
            case 1:
                lines.insert(rng.randrange(len(lines)), lines[number])
            case 2:
                lines[number] = rng.choice(("  ", " ", "- ")) + lines[number]
            case 3:
                words[word] = rng.choice(PIECES)
                lines[number] = " ".join(words)
            case 4:
                words.insert(word, rng.choice(PIECES))
                lines[number] = " ".join(words)
            case _:
                at = rng.randrange(len(lines[number]) + 1)
                lines[number] = lines[number][:at] + rng.choice(PIECES) + lines[number][at + 1 :]
        text = "\n".join(lines)
    return text


def for_a_while(case: Callable[[random.Random], object]) -> tuple[int, int]:
    """Run a case with new random numbers until the time is over; count cases and results.

    On a busy machine it goes on until there was a result and an error, in 300 cases at most.
    """
    cases = results = 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end or (not 0 < results < cases and cases < 300):
        seed = f"{SEED}/{cases}"
        start = time.monotonic()
        try:
            case(random.Random(seed))
            results += 1
        except EXPECTED:
            pass
        except Exception as error:
            if PROMISED.get(type(error), "-") not in str(error):
                error.add_note(f"seed {seed}")
                raise
        assert time.monotonic() - start < SLOW, f"seed {seed} takes too long"
        cases += 1
    return cases, results


@pytest.mark.timeout(120 + 4 * SECONDS)
def test_damaged_specifications(tmp_path: Path) -> None:
    def case(rng: random.Random) -> None:
        files = []
        chosen = rng.choice(WHOLE)
        victim = rng.randrange(3)
        for number, name in enumerate(chosen):
            text = (EXAMPLES / f"{name}.yaml").read_text()
            path = tmp_path / f"{number}.yaml"
            path.write_text(damage(text, rng) if number == victim else text, errors="surrogatepass")
            files.append(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spec = af.Spec.from_yaml(*files, HEADS=2, HEAD_SIZE=4)
            spec.to_yaml()
            spec.evaluate_mapping().to_dict()

    cases, results = for_a_while(case)
    assert 0 < results < cases


TOKENS = (
    *(
        "1",
        "0",
        "2.5",
        "x",
        "y",
        "All",
        "A",
        "actions",
        "spec",
        "f",
        "'a'",
        "[1, 2]",
        "{1: 2}",
        "()",
    ),
    *("+", "-", "*", "**", "/", "//", "%", "<<", "&", "|", "^", "~", "not ", " and ", " in ", "<"),
    *("(", ")", "[", "]", "{", "}", ",", ":", ".", " if ", " else ", " for ", " lambda ", "="),
    *(
        "sum",
        "range",
        "max",
        "map",
        "list",
        "pow",
        "__class__",
        "n_calls",
        "find",
        "10**9",
        "`",
        "\\",
    ),
)


@pytest.mark.timeout(120 + 4 * SECONDS)
def test_random_expressions(recwarn: pytest.WarningsRecorder) -> None:
    spec = af.Spec()
    symbols = {"x": 3, "y": 0.5, "spec": spec, "actions": spec.arch.nodes, "f": len}
    symbols["All"] = symbols["A"] = af.Workload().empty_renames()["All"]

    def case(rng: random.Random) -> None:
        text = "".join(rng.choice(TOKENS) for _ in range(rng.randrange(1, 14)))
        evaluate_text(text, symbols)

    cases, results = for_a_while(case)
    assert 0 < results < cases


@pytest.mark.timeout(120 + 4 * SECONDS)
def test_random_conditions() -> None:
    pieces = ("m", "n", "2", "-", "+", "*", "<", "<=", "=", ">=", " and ", "0", "(", ")", "9999")
    terms = ("m", "n", "2*m", "m + n", "n - 1", "-m", "0", "3", "9999")

    def case(rng: random.Random) -> None:
        conditions = [
            # Pieces alone are hardly ever a condition.
            "".join(rng.choice(pieces) for _ in range(rng.randrange(1, 9)))
            if rng.random() < 0.5
            else f"{rng.choice(terms)} {rng.choice(('<', '<=', '>', '='))} {rng.choice(terms)}"
            for _ in range(3)
        ]
        try:
            parse_affine(conditions[0])
        except ValueError:
            pass
        try:
            solve_bounds("mn", ["0 <= m < 5", "0 <= n < 7", *conditions[1:]])
        except ValueError as error:
            raise af.EvaluationError(str(error)) from None

    cases, results = for_a_while(case)
    assert 0 < results < cases
