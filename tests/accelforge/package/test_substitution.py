# SPDX-License-Identifier: BSD-3-Clause
"""Templates that are executed without Jinja2 give what Jinja2 gives."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

import accelforge
from accelforge.util.exceptions import EvaluationError
from accelforge.yaml.files import read_file, render_file
from accelforge.yaml.inclusions import Inclusions
from accelforge.yaml.substitution import substitute
from accelforge.yaml.templates import render

EXAMPLES = Path(accelforge.__file__).parent / "examples"
SIMPLE = ("arches/simple", "workloads/basic/matmuls", "workloads/cnns/convolution")


def by_jinja2(text, variables):
    return render(text, "file.yaml", variables, Inclusions(read_file, render_file))


@pytest.mark.parametrize("file", sorted(EXAMPLES.rglob("*.yaml")), ids=lambda file: file.stem)
def test_examples_are_the_same(file):
    text = file.read_text()
    if "include" in text:
        return
    for variables in ({}, {"M": 5, "N_EINSUMS": 3, "C": 7.5, "SIZE": 4}):
        found = substitute(text, variables)
        assert found is None or found == by_jinja2(text, variables)


@pytest.mark.parametrize("name", SIMPLE)
def test_the_common_examples_need_no_jinja2(name):
    assert substitute((EXAMPLES / f"{name}.yaml").read_text(), {}) is not None


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("a: {{ x }}", {"x": "text"}),
        ("a: {b: {{x}}}\n\n", {"x": 1e6}),
        ("{% set x = x | default(-2.5e3) %}{{x}}{{ x * 2 }}", {}),
        ("{% set x = x | default('a b') %}{{x}}", {"x": 3}),
        ("{{ x + 2 * (y - 1) / 4 }} {{ 7 // 2 }} {{ 1_000 }} {{ 1.5e2 }}", {"x": 1, "y": 2.5}),
        (
            "{% for i in range(3) %}{{i}}{% for i in range(i, 4) %}<{{i}}>{% endfor %}{% endfor %}",
            {},
        ),
        ("{%for i in range(0)%}{{nothing}}{%endfor%}end", {}),
        ("{% for i in range(2) %}{{i}}{% endfor %}{{i}}", {"i": "outer"}),
        ("{% set x = 1 %}{{x}}{% set x = x + 1 %}{{x}}", {"x": 0}),
        ("# }} %} {", {}),
    ],
)
def test_simple_templates_need_no_jinja2(text, variables):
    found = substitute(text, variables)
    assert found is not None
    assert found == by_jinja2(text, variables)


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("{{- x }}", {"x": 1}),
        ("{{ x -}}", {"x": 1}),
        ("{%- set x = 1 %}", {}),
        ("{{{x}}}", {"x": 1}),
        ("{{% set x = 1 %}", {}),
        ("{# {{x}} #}", {"x": 1}),
        ("a\r\n{{x}}", {"x": 1}),
        ("{{ x }}", {"x": True}),
        ("{{ x }}", {"x": [1]}),
        ("{{ x ** 2 }}", {"x": 2}),
        ("{{ x % 2 }}", {"x": 2}),
        ("{{ x + 'a' }}", {"x": "b"}),
        ("{{ x * 2 }}", {"x": "b"}),
        ("{{ x.real }}", {"x": 1}),
        ("{{ x | default(1, true) }}", {}),
        ("{{ range | default(1) }}", {}),
        ("{{ cwd | default(1) }}", {}),
        ("{{ true }}", {"true": 3}),
        ("{{ '}}' }}", {}),
        ("{{ {'a': 1}['a'] }}", {}),
        ("{% for i in [1, 2] %}{{i}}{% endfor %}", {}),
        ("{% for i in range(2) %}{% set x = i %}{% endfor %}", {}),
        ("{% for i in range(2) %}{{loop.index}}{% endfor %}", {}),
        ("{% for i in range(2) -%} {{i}}{% endfor %}", {}),
        ("{% if x %}a{% endif %}", {"x": 1}),
        ("{% raw %}{{ x }}{% endraw %}", {"x": 1}),
        ("{{ 1 }}{% endfor %}", {}),
        ("{% for i in range(2) %}", {}),
        ("{{ missing }}", {}),
        ("{{ 1 / 0 }}", {}),
        ("{{ x", {"x": 1}),
    ],
)
def test_others_are_left_to_jinja2(text, variables):
    assert substitute(text, variables) is None


PIECES = (
    *(
        "a: ",
        "{",
        "}",
        "}}",
        "%}",
        "\n",
        " ",
        "{{x}}",
        "{{ y | default(3) }}",
        "{{x + y}}",
        "{{i}}",
    ),
    *("{{ x - 1 * y }}", "{{ (x) // 2 }}", "{% set x = 4 %}", "{% set y = y | default('q') %}"),
    *("{% for i in range(2) %}", "{% for x in range(1, y) %}", "{% endfor %}", "{{z}}", "{%", "{{"),
    *("{{ -x }}", "{{ x -}}", "{{ x ~ y }}", "#", "{{ loop }}", "{% set z = i * 2 %}"),
)


def test_random_templates_are_the_same():
    generator = random.Random(1)
    done = 0
    for _ in range(3000):
        text = "".join(generator.choices(PIECES, k=generator.randint(1, 9)))
        variables = {
            name: generator.choice((0, 2, 3, 2.5, "w")) for name in generator.sample("xyzi", 2)
        }
        found = substitute(text, variables)
        if found is not None:
            done += 1
            assert found == by_jinja2(text, variables), (text, variables)
    assert done > 300


@pytest.mark.parametrize(
    "text",
    [
        *("{{ 1. }}", "{{ .5 }}", "{{ 5.*2 }}", "{{ 1.e5 }}", "{{ 1)+(2 }}", "{{ 1if x }}"),
        "{% for i in range(2)+(3) %}a{% endfor %}",
        "{% for i in range(1, 2) - (3, 4) %}a{% endfor %}",
        # Jinja2 writes the default, since the variable is one of the template that has no value.
        "{% for i in range(2) %}{{ x | default(9) }}{% endfor %}{% set x = 1 %}",
    ],
)
def test_what_python_reads_in_another_way_is_left_to_jinja2(text, recwarn):
    assert substitute(text, {"x": 3}) is None
    assert not recwarn.list


def test_loops_pay_from_the_budget():
    loops = "{% for i in range(1000) %}" * 3 + "{{i}}" + "{% endfor %}" * 3
    assert substitute(loops, {}) is None
    with pytest.raises(EvaluationError, match="more than 1000000 steps"):
        by_jinja2(loops, {})


def test_an_evaluation_imports_neither_numpy_nor_jinja2():
    code = """
import sys
import accelforge as af

examples = af.examples
spec = af.Spec.from_yaml(
    examples.arches.simple,
    examples.workloads.basic.matmuls,
    examples.mappings.unfused_matmuls_to_simple,
)
result = spec.evaluate_mapping()
assert result.energy() > 0 and result.latency() > 0
print([m for m in ("numpy", "pandas", "jinja2", "concurrent.futures") if m in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=100
    )
    assert done.stdout == "[]\n"
