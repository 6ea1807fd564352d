# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: E501 - a file in one line is easier to read than one in three.
"""Templates made to harm, by name."""

from __future__ import annotations

from tests.accelforge.hostile.files import Texts

__all__ = ["TEMPLATES"]

_DOUBLE = "{{% set a = {0} %}}\n"
_LISTS = (
    "{% set a = range(200000)|list %}{% set b = range(200000)|list %}{% set t = 'x' * 800000 %}\n"
)


def _loop(body: str) -> str:
    """Write a loop whose body makes nothing that is kept."""
    return "{% for i in range(10000) %}" + body + "{% endfor %}"


TEMPLATES: Texts = {
    "tilde": lambda: "{% set a = 'xxxx' %}\n" + _DOUBLE.format("a ~ a") * 40,
    "plus-of-text": lambda: "{% set a = 'xxxx' %}\n" + _DOUBLE.format("a + a") * 40,
    "plus-of-lists": lambda: (
        "{% set a = [1] %}\n" + _DOUBLE.format("a + a") * 40 + "{{ a|length }}"
    ),
    "list-of-itself": lambda: "{% set a = [1] %}\n" + _DOUBLE.format("[a, a]") * 40 + "a: {{ a }}",
    "tuple-of-itself": lambda: (
        "{% set a = (1,) %}\n" + _DOUBLE.format("(a, a)") * 40 + "a: {{ a }}"
    ),
    "mapping-of-itself": lambda: (
        "{% set a = 1 %}\n" + _DOUBLE.format("{1: a, 2: a}") * 40 + "a: {{ a }}"
    ),
    "times-of-text": lambda: "a: {{ 'x' * 10**10 }}",
    "times-of-lists": lambda: "a: {{ ([1] * 10**10)|length }}",
    "times-in-a-loop": lambda: (
        "{% for i in range(10000) %}{% set a = 'x' * 1000000 %}{{ a|length }}{% endfor %}"
    ),
    "power": lambda: "a: {{ 10**10**10 }}",
    "power-in-a-loop": lambda: "{% for i in range(100000) %}{{ 3**1000 % 7 }}{% endfor %}",
    "range": lambda: "{% for i in range(10**12) %}{% endfor %}",
    "loops-in-loops": lambda: (
        "{% for i in range(3000) %}{% for j in range(3000) %}{% endfor %}{% endfor %}"
    ),
    "loops-of-lists": lambda: (
        "{% set l = range(1000)|list %}" + "{% for i in l %}" * 9 + "x" + "{% endfor %}" * 9
    ),
    "loop-of-long-text": lambda: (
        "{% set a %}{% for i in range(100000) %}" + "x" * 100_000 + "{% endfor %}{% endset %}"
    ),
    "capture": lambda: (
        "{% set a %}xxxxxxxx{% endset %}\n" + "{% set a %}{{ a }}{{ a }}{% endset %}\n" * 40
    ),
    "macros": lambda: (
        "{% macro f(n) %}x{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}"
    ),
    "macro-for-ever": lambda: "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
    "macros-that-double": lambda: (
        "{% macro f0() %}xxxxxxxx{% endmacro %}\n"
        + "\n".join(
            f"{{% macro f{i}() %}}{{{{ f{i - 1}() }}}}{{{{ f{i - 1}() }}}}{{% endmacro %}}"
            for i in range(1, 40)
        )
        + "{{ f39() }}"
    ),
    "caller": lambda: (
        "{% macro f(n) %}{% if n %}{% call f(n - 1) %}{{ caller() }}{{ caller() }}{% endcall %}{% endif %}{% endmacro %}{% call f(40) %}x{% endcall %}"
    ),
    "recursive-loop": lambda: "{% for i in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}",
    "join": lambda: "a: {{ range(100000)|join('x' * 100000)|length }}",
    "join-method": lambda: "a: {{ ('x' * 100000).join(['a'] * 100000)|length }}",
    "replace": lambda: (
        "{% set a = 'x' * 10000 %}{% set b = a|replace('x', a) %}{% set b = b|replace('x', a) %}"
    ),
    "replace-method": lambda: (
        "{% set a = 'x' * 10000 %}{% set b = a.replace('x', a) %}{% set b = b.replace('x', a) %}"
    ),
    "replace-nothing": lambda: "{% set a = 'x' * 100000 %}{{ a|replace('', a)|length }}",
    "center": lambda: "a: {{ 'x'|center(10**9)|length }}",
    "indent": lambda: "a: {{ ('x\\n' * 10000)|indent(10000)|length }}",
    "indent-far": lambda: "a: {{ 'x\\n'|indent(10**9)|length }}",
    "wordwrap": lambda: "a: {{ ('x ' * 100000)|wordwrap(1, true, 'y' * 100000)|length }}",
    "batch": lambda: "a: {{ [1]|batch(10**9, 1)|list|length }}",
    "slice": lambda: "a: {{ [1]|slice(10**9)|list|length }}",
    "format-width": lambda: "a: {{ '%1000000000d'|format(3)|length }}",
    "format-star": lambda: "a: {{ '%*d'|format(1000000000, 3)|length }}",
    "format-precision": lambda: "a: {{ '%.1000000000f'|format(3.5)|length }}",
    "format-method": lambda: "a: {{ '{:1000000000}'.format(3)|length }}",
    "format-nested": lambda: "a: {{ '{:{w}}'.format(3, w=10**9)|length }}",
    "format-map": lambda: "a: {{ '{a:1000000000}'.format_map({'a': 3})|length }}",
    "percent": lambda: "a: {{ '%1000000000d' % 3 }}",
    "ljust": lambda: "a: {{ 'x'.ljust(10**10)|length }}",
    "zfill": lambda: "a: {{ 'x'.zfill(10**10)|length }}",
    "expandtabs": lambda: "a: {{ '\\t'.expandtabs(10**10)|length }}",
    "to-bytes": lambda: "a: {{ (1).to_bytes(10**10, 'big')|length }}",
    "round": lambda: "a: {{ 10|round(-10**9) }}",
    "round-up": lambda: "a: {{ 10.5|round(10**9, 'ceil') }}",
    "sum-of-lists": lambda: "a: {{ ([[1] * 1000] * 100000)|sum(start=[])|length }}",
    "extend": lambda: "{% set a = [1] %}" + "{% set _ = a.extend(a) %}" * 40,
    "append-itself": lambda: "{% set a = [] %}{% set _ = a.append(a) %}a: {{ a }}",
    "append-in-a-loop": lambda: (
        "{% set a = [] %}{% for i in range(1000000) %}{% set _ = a.append('x' * 1000) %}{% endfor %}"
    ),
    "tojson": lambda: "a: {{ [1]|tojson(10**9) }}",
    "sort": lambda: "{% for i in range(100000) %}{% set _ = range(10000)|sort %}{% endfor %}",
    "unique": lambda: (
        "{% for i in range(100000) %}{{ range(10000)|unique|list|length }}{% endfor %}"
    ),
    "map": lambda: "a: {{ range(1000000)|map('center', 10000)|list|length }}",
    "map-of-text": lambda: "a: {{ ([range(100000)|list] * 100000)|map('string')|list|length }}",
    "upper-in-a-loop": lambda: (
        "{% set a = 'x' * 1000000 %}{% for i in range(100000) %}{% set b = a|upper %}{% endfor %}"
    ),
    "in": lambda: (
        "{% set a = range(1000000)|list %}{% for i in range(1000000) %}{% if -1 in a %}{% endif %}{% endfor %}"
    ),
    "equal": lambda: (
        "{% set a = [0] * 1000000 %}{% set b = [0] * 1000000 %}{% for i in range(100000) %}{% if a == b %}{% endif %}{% endfor %}"
    ),
    "test-equal": lambda: _LISTS + _loop("{% if a is eq(b) %}{% endif %}"),
    "test-less": lambda: _LISTS + _loop("{% if a is lt(b) %}{% endif %}"),
    "test-in": lambda: _LISTS + _loop("{% if -1 is in(a) %}{% endif %}"),
    "test-lower": lambda: _LISTS + _loop("{% if t is lower %}{% endif %}"),
    "slices": lambda: _LISTS + _loop("{% set c = a[::2] %}"),
    "stars": lambda: _LISTS + _loop("{% set c = cycler(*a) %}"),
    "keys": lambda: (
        _LISTS + "{% set k = namespace(t=(1,)) %}{% for i in range(17) %}{% set k.t = k.t + k.t %}"
        "{% endfor %}{% set d = {k.t: 1} %}" + _loop("{% set c = d[k.t] %}")
    ),
    "includes-that-double": lambda: (
        "{% set n = n|default(60) - 1 %}{% if n > 0 %}"
        "{% include 'spec.yaml' %}{% include 'spec.yaml' %}{% endif %}"
    ),
    "many-statements": lambda: "{% set a = 1 %}" * 200_000 + "x: 1",
    "long-conditions": lambda: "a: {{ " + "1 if 1 else " * 4_000 + "0 }}",
    "lipsum": lambda: "a: {{ lipsum(n=10**7)|length }}",
    "cycler": lambda: (
        "{% set c = cycler(1, 2) %}{% for i in range(10**6) %}{{ c.next() }}{% endfor %}"
    ),
    "not-not": lambda: "a: {{ " + "not " * 200_000 + "1 }}",
    "minus": lambda: "a: {{ " + "-" * 200_000 + "1 }}",
    "parentheses": lambda: "a: {{ " + "(" * 100_000 + "1" + ")" * 100_000 + " }}",
    "brackets": lambda: "a: {{ " + "[" * 20_000 + "]" * 20_000 + " }}",
    "sum-of-ones": lambda: "a: {{ 1" + " + 1" * 9_000 + " }}",
    "attributes": lambda: "a: {{ x" + ".a" * 20_000 + " }}",
    "filters": lambda: "a: {{ 1" + "|abs" * 2_000 + " }}",
    "conditions": lambda: "a: {{ " + "1 if x else " * 3_000 + "0 }}",
    "nested-ifs": lambda: "{% if 1 %}" * 4_000 + "{% endif %}" * 4_000,
    "long-list": lambda: "{% set a = [" + "1, " * 1_000_000 + "] %}",
    "many-outputs": lambda: "{{ 1 }}\n" * 500_000,
    "open-tags": lambda: "{{ " * 500_000,
    "open-blocks": lambda: "{% " * 500_000,
    "open-comment": lambda: "{#" * 500_000,
    "much-text": lambda: "a: {{ 1 }}\n" + "#" * 7_000_000,
    "include-itself": lambda: 'a: {{ include("spec.yaml") }}',
    "include-itself-twice": lambda: 'a: {{ include("spec.yaml") }}\nb: {{ include("spec.yaml") }}',
    "include-text-of-itself": lambda: (
        '{{ include_text("spec.yaml") }}{{ include_text("spec.yaml") }}'
    ),
    "include-by-tag": lambda: "a: !include spec.yaml\nb: !include spec.yaml",
    "import-itself": lambda: '{% import "spec.yaml" as x %}',
    "jinja-include-itself": lambda: '{% include "spec.yaml" %}{% include "spec.yaml" %}',
    "extends-itself": lambda: '{% extends "spec.yaml" %}',
    "wildcards": lambda: 'a: {{ include_all("/*/*/*/*/*/*/*") }}',
    "find-paths": lambda: 'a: {{ find_paths("/*/*/*/*/*/nothing") }}',
    "sandbox": lambda: "a: {{ ''.__class__.__mro__[1].__subclasses__() }}",
    "globals": lambda: "a: {{ include.__globals__ }}",
    "self": lambda: "a: {{ self._TemplateReference__context.environment }}",
}
