# SPDX-License-Identifier: BSD-3-Clause
"""YAML files: tags, merges, templates, inclusions, errors with lines."""

from __future__ import annotations

import math
import os
import stat

import pytest

import accelforge as af
from accelforge.expressions import LiteralString
from accelforge.util.exceptions import EvaluationError, ValidationError
from accelforge.yaml.files import read_file


@pytest.fixture
def read(write):
    def make(text, name="file.yaml", **variables):
        return read_file(str(write(text, name)), variables)

    return make


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("1_000", 1000),
        ("0x1F", 31),
        ("010", 10),
        ("-2.5e-3", -0.0025),
        ("1e9", 1e9),
        ("100e-12", 1e-10),
        (".inf", math.inf),
        ("inf", "inf"),
        ("true", True),
        ("yes", "yes"),
        ("null", None),
        ("~", None),
        ("~Main", "~Main"),
        ("2001-01-01", "2001-01-01"),
        ("!!str 3", LiteralString("3")),
        ("!!int '3'", 3),
        ("!!float 3", 3.0),
        ("!!timestamp 2001-01-01", "2001-01-01"),
        ("0b11", 3),
        ("0o17", 15),
        ("1_0.5", 10.5),
        (".5", 0.5),
        ("-.INF", -math.inf),
        ("=", "="),
        ("+_", "+_"),
        ("1:30", "1:30"),
        ("No", "No"),
        ("! 12", "12"),
    ],
)
def test_scalars(read, text, value):
    found = read(f"a: {text}\n")["a"]
    assert found == value
    assert type(found) is type(value)


def test_text_in_quotes_is_literal(read):
    data = read("a: 'x + 1'\nb: x + 1\nc: |-\n  x + 1\n")
    assert isinstance(data["a"], LiteralString)
    assert not isinstance(data["b"], LiteralString)
    assert not isinstance(data["c"], LiteralString)
    assert data["a"] == data["b"] == data["c"]


def test_tags_and_lines(read):
    data = read("a:\n- !Memory\n  name: X\n- !Toll {name: Y}\n")
    assert [item.tag for item in data["a"]] == ["Memory", "Toll"]
    assert data["a"][0].place.line == 2
    assert data["a"][0].lines["name"] == 3


# --- merges -------------------------------------------------------------------------------------


def test_shallow_merge_leaves_own_values(read):
    data = read(
        "base: &b {x: 1, n: {p: 1, q: 2}}\nown: {<<: *b, x: 9, n: {p: 3}}\nplain: {<<: *b}\n"
    )
    assert data["own"] == {"x": 9, "n": {"p": 3}}
    assert data["plain"] == {"x": 1, "n": {"p": 1, "q": 2}}


def test_deep_merge_merges_mappings(read):
    data = read("base: &b {n: {p: 1, q: 2}, z: 0}\nown: {<<<: *b, n: {p: 3}}\n")
    assert data["own"] == {"n": {"p": 3, "q": 2}, "z": 0}
    assert data["base"] == {"n": {"p": 1, "q": 2}, "z": 0}


def test_deep_merge_appends_to_lists_before_it(read):
    data = read("base: &b {l: [1]}\nbefore: {l: [2], <<<: *b}\nafter: {<<<: *b, l: [2]}\n")
    assert data["before"]["l"] == [2, 1]
    assert data["after"]["l"] == [2]


def test_nomerge(read):
    data = read("base: &b {l: [1], n: {p: 1}}\nown: {l: !nomerge [2], n: !nomerge {}, <<<: *b}\n")
    assert data["own"] == {"l": [2], "n": {}}


def test_the_first_of_several_wins(read):
    data = read("x: &x {a: 1}\ny: &y {a: 2, b: 3}\nown: {<<: [*x, *y]}\n")
    assert data["own"] == {"a": 1, "b": 3}


def test_ordered_mappings_are_mappings(read):
    data = read("a: !!omap\n- x: 1\n- y: 2\n")
    assert list(data["a"].items()) == [("x", 1), ("y", 2)]
    assert data["a"].lines == {"x": 2, "y": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: {<<: 3}", "takes a mapping"),
        ("a: {<<: {b: 1}, <<<: {c: 1}}", "one mapping has one"),
        ("a: {b: 1, b: 2}", "duplicate key"),
        ("a: &a [*a]", "alias refers"),
        ("a: [1, 2", "line"),
        ("a: !Foo 3", "cannot have the tag !Foo"),
        ("a: !Foo [3]", "cannot have the tag !Foo"),
        ("a: !!python/object/apply:os.system ['true']", "cannot have the tag"),
        ("? [a]\n: 3", "a key must be text"),
        ("a: 1\n---\nb: 2", "document"),
        ("a: *nowhere", "nowhere"),
        ("a: !include_loaded nothing.b", 'has no "b"'),
        ("a: !!binary QUJD", "cannot have the tag !!binary"),
        ("a: !!set {x, y}", "a mapping cannot have the tag !!set"),
        ("a: !!pairs [x: 1]", "a list cannot have the tag !!pairs"),
        ("a: !!omap [3]", "a key with its value"),
        ("a: !!omap [x: 1, x: 2]", "duplicate key"),
        ("a: !!bool yes", "'yes' is not true or false"),
        ("a: !!int 3.5", "'3.5' is not a whole number"),
        ("%YAML 1.1\n---\na: yes", "YAML 1.2"),
        ("a: x\u2028y", r"U\+2028 is not read; in quotes, write \\L"),
        ("a: \x01", "control characters|special characters"),
    ],
)
def test_wrong_yaml_has_file_and_line(read, text, message):
    with pytest.raises(EvaluationError, match=message) as caught:
        read(text)
    assert "file.yaml, line" in str(caught.value)


def test_aliases_that_blow_up_are_refused(read):
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    with pytest.raises(EvaluationError, match="aliases"):
        read("\n".join(lines))


def test_merges_that_blow_up_are_refused(read):
    lines = ["a0: &a0 {l: [1, 1, 1, 1]}"]
    lines += [f"a{i}: &a{i} {{l: [], <<<: [*a{i - 1}, *a{i - 1}]}}" for i in range(1, 30)]
    with pytest.raises(EvaluationError, match="merges"):
        read("\n".join(lines))


def test_deep_nesting_is_an_error(read):
    with pytest.raises(EvaluationError, match="deep"):
        read("a: " + "[" * 5000 + "]" * 5000)


# --- templates ----------------------------------------------------------------------------------


def test_templates_may_make_just_the_text_that_is_allowed(read, monkeypatch):
    monkeypatch.setattr("accelforge.yaml.templates.MAX_TEXT", 8)
    text = "a: {{ '%s' }}"
    assert read(text % "12345") == {"a": 12345}
    with pytest.raises(EvaluationError, match="templates produce more than"):
        read(text % "123456")


def test_templates(read):
    text = (
        "{% set N = N | default(2) %}\nl:\n{% for i in range(N) %}\n- {{i}} * {{SIZE}}\n"
        "{% endfor %}"
    )
    assert read(text, SIZE=8)["l"] == ["0 * 8", "1 * 8"]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("a: 1\nb: {{MISSING}}", "MISSING", 2),
        ("a: 1\n\nb: {% if %}", "template", 3),
        ("a: {{ ''.__class__.__mro__ }}", "unsafe", 1),
        ("a: {{ 'x' * 10**10 }}", "items", 1),
        ("{% for i in range(10**9) %}{% endfor %}", "items", 1),
        (
            "{% for i in range(2000) %}{% for j in range(i) %}{% endfor %}{% endfor %}",
            "steps",
            1,
        ),
        ("a: {{ setenv('X', 1) }}", "environment", 1),
        ("a: {{ 'x' | center(10**9) }}", "center", 1),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "recursion", 1),
    ],
)
@pytest.mark.timeout(30)
def test_wrong_templates_have_file_and_line(read, text, message, line):
    with pytest.raises(EvaluationError, match=message) as caught:
        read(text)
    assert caught.value.place.line == line


def test_assert_in_a_template(read):
    text = 'a: 1\n{% assert N <= 64, "N too big" %}\n'
    assert read(text, N=64) == {"a": 1}
    with pytest.raises(AssertionError, match="N too big"):
        read(text, N=65)
    with pytest.raises(EvaluationError, match=r"line 2.*N too big"):
        read(text, N=65)


def test_include_of_text(read, write):
    write("- {{X}}\n", "part.yaml")
    assert read('l:\n{{include_text("part.yaml")}}', X=3)["l"] == [3]


def test_include_of_an_object_and_of_its_parts(read, write):
    write("workload: {rank_sizes: {M: {{SIZE}}}, l: [1, 2]}\n", "part.yaml")
    text = (
        '{% set SIZE = 5 %}\n{% set P = include("part.yaml", "") %}\n'
        "all: {{P}}\nsizes: {{P}}.workload.rank_sizes\n"
        "merged: {<<<: [{{P}}.workload.rank_sizes], K: 1}\n"
    )
    data = read(text)
    assert data["all"]["workload"]["l"] == [1, 2]
    assert data["sizes"] == {"M": 5}
    assert data["merged"] == {"M": 5, "K": 1}


INCLUSIONS = {
    "include": '{{include("%s.yaml")}}',
    "a part": '{{include("%s.yaml", "x")}}',
    "include_all": '{{include_all("%s*.yaml")}}',
    "include_text": '{{include_text("%s.yaml")}}',
    "tag": "!include %s.yaml",
    "jinja": '{%% include "%s.yaml" %%}',
}


@pytest.mark.parametrize("inner", INCLUSIONS)
@pytest.mark.parametrize("outer", INCLUSIONS)
def test_each_kind_of_inclusion_in_each_kind(read, write, outer, inner):
    write("{x: {v: {{N}}}}\n", "leaf.yaml")
    write("{x: " + INCLUSIONS[inner] % "leaf" + ", y: 1, z: {{N}}}\n", "middle.yaml")
    if "tag" in (outer, inner):
        # The tag gives its file no variables.
        write("{% set N = N|default(8) %}{x: {v: {{N}}}}\n", "leaf.yaml")
        text = "{x: " + INCLUSIONS[inner] % "leaf" + ", y: 1, z: {{N}}}\n"
        write("{% set N = N|default(8) %}" + text, "middle.yaml")

    data = read("a: {{N}}\nb: " + INCLUSIONS[outer] % "middle" + "\n", N=7)

    deep = 8 if "tag" in (outer, inner) else 7
    leaf = {"v": deep} if inner == "a part" else {"x": {"v": deep}}
    if outer == "a part":
        assert data == {"a": 7, "b": leaf}
    else:
        assert data == {"a": 7, "b": {"x": leaf, "y": 1, "z": 8 if outer == "tag" else 7}}


def test_include_of_several_files(read, write):
    write("x: 1", "part1.yaml")
    write("x: 2", "part2.yaml")
    assert read('a: {{include_all("part*.yaml", "x")}}')["a"] == [1, 2]
    with pytest.raises(EvaluationError, match="include_all"):
        read('a: {{include("part*.yaml")}}')


def test_a_file_that_includes_itself(read):
    with pytest.raises(EvaluationError, match="include one another"):
        read('a: {{include("file.yaml")}}')


def test_paths(read, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "x.yaml").write_text("v: 7\n")
    data = read(
        '{{add_to_path("lib")}}\na: {{include("x.yaml", "v")}}\n'
        'b: {{path_exists("x.yaml")}}\nc: {{path_exists("y.yaml")}}\nd: {{find_path("x.yaml")}}\n'
        "e: {{cwd()}}\n"
    )
    assert data["a"] == 7
    assert (data["b"], data["c"]) == ("True", "False") or (data["b"], data["c"]) == (True, False)
    assert data["d"] == str(tmp_path / "lib" / "x.yaml")
    assert data["e"] == str(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.yaml"):
        read('a: {{include("nowhere.yaml")}}')


# --- from_yaml and to_yaml ----------------------------------------------------------------------


def test_files_are_combined_and_the_first_wins(write):
    first = write("variables: {a: 1}\n", "first.yaml")
    second = write("variables: {a: 2}\nworkload: {rank_sizes: {M: {{B}}}}\n", "second.yaml")
    spec = af.Spec.from_yaml(first, [str(second)], first, B=8)
    assert spec.variables.a == 1
    assert spec.workload.rank_sizes == {"M": 8}


def test_top_key(write):
    path = write("arch: {nodes: []}\nother: 3\n")
    assert isinstance(af.Arch.from_yaml(path, top_key="arch"), af.Arch)
    with pytest.raises(KeyError, match="nothing"):
        af.Arch.from_yaml(path, top_key="nothing")


def test_the_section_of_a_class_is_found(write):
    path = write("workload: {rank_sizes: {M: 8}}\n")
    assert af.Workload.from_yaml(path).rank_sizes == {"M": 8}
    assert af.arch.Memory.from_yaml(write("name: X\nsize: 8\n")).size == 8


def test_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.yaml"):
        af.Spec.from_yaml(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("arch:\n  nodes:\n  - !Memory\n    name: X\n    sise: 3\n", "spec.arch.nodes.X.sise", 5),
        ("arch:\n  nodes:\n  - !Memory\n    size: 3\n", "spec.arch.nodes.0.name", 3),
        ("arch:\n  nodes:\n  - name: X\n", "spec.arch.nodes.X", 3),
        ("arch:\n  nodes:\n  - !Buffer {name: X}\n", "spec.arch.nodes.X", 3),
        ("arch:\n  nodes: 3\n", "spec.arch.nodes", 2),
        ("arch:\n\n  nodes:\n  - !Memory {name: X, size: [3]}\n", "spec.arch.nodes.X.size", 4),
        ("workload:\n  rank_sizes: {M: [1]}\n", "spec.workload.rank_sizes.M", 2),
        ("workload:\n  einsums:\n  - Z[m] = A\n", "spec.workload.einsums.0", 3),
        ("mapping:\n  nodes:\n  - !Temporal {tile: 3}\n", "spec.mapping.nodes.0.tile", 3),
        ("a: 1\nnonsense: 3\n", "spec.a", 1),
        ("3: 4\n", "spec.3", 1),
    ],
)
def test_wrong_fields_have_path_file_and_line(write, text, path, line):
    with pytest.raises(ValidationError) as caught:
        af.Spec.from_yaml(write(text))
    assert isinstance(caught.value, ValueError)
    assert caught.value.path == path
    assert f"spec.yaml, line {line}" in str(caught.value)


def test_unknown_fields_list_the_known_ones():
    with pytest.raises(ValueError, match="Field foo is not supported for Memory. Supported fields"):
        af.arch.Memory(name="X", size=3, foo=1)


@pytest.mark.parametrize(
    ("name", "change"), [("version", "leave it out"), ("shape", "call it iteration_space_shape")]
)
def test_fields_of_the_old_notation_say_what_to_change(load, name, change):
    message = rf"spec.workload.{name} .*line 2\): Field {name} is not.*old notation: {change}\."
    with pytest.raises(ValidationError, match=message):
        load(f"workload:\n  {name}: 1\n")


def test_wrong_expressions_have_path_file_and_line(load):
    spec = load("arch:\n  nodes:\n  - !Memory\n    name: X\n    size: 3 * DEPTH\n")
    with pytest.raises(EvaluationError, match=r"spec.arch.nodes.X.size \(.*line 5\).*DEPTH"):
        spec._spec_eval_expressions()


@pytest.mark.parametrize(
    ("text", "held"), [("# none\n- 1\n", "a list"), ("", "nothing"), ("3", "a value")]
)
def test_files_that_hold_no_mapping(write, text, held):
    with pytest.raises(
        ValidationError, match=rf"yaml, line \d\): the file holds {held}, not a mapp"
    ):
        af.Spec.from_yaml(write(text))


def test_specifications_survive_a_round_trip(spec, write):
    spec.variables.text = LiteralString("1 + 1")
    spec.variables.expression = "{3, 4}"
    spec.variables.nested = {"a b": [1, 2.5, None, True, math.inf, {}], "c": []}
    spec.mapper.metrics = af.Metrics.LATENCY
    again = af.Spec.from_yaml(write(spec.to_yaml()))
    assert again.model_dump() == spec.model_dump()
    assert isinstance(again.variables.text, LiteralString)
    assert again.to_yaml() == spec.to_yaml()
    assert again.evaluate_mapping().energy() == spec.evaluate_mapping().energy()


def test_to_yaml_writes_a_file(spec, tmp_path):
    path = tmp_path / "folder" / "spec.yaml"
    assert spec.to_yaml(path) == path.read_text()


@pytest.mark.parametrize("name", ["folder", "pipe", "socket"])
def test_what_is_no_file_is_refused_at_its_line(read, tmp_path, name):
    if name == "folder":
        (tmp_path / name).mkdir()
    else:
        kind = stat.S_IFIFO if name == "pipe" else stat.S_IFSOCK
        os.mknod(tmp_path / name, kind | 0o600)
    with pytest.raises(EvaluationError, match="is not a regular file|cannot be read") as error:
        read(f"x: 1\nmore: !include {name}\n")
    assert f"{name} " in str(error.value)
    assert "line 2" in str(error.value)


def test_a_file_that_cannot_be_read_is_named():
    # A regular file, whose first page nobody can read.
    with pytest.raises(EvaluationError, match="/proc/self/mem cannot be read: Input/output error"):
        af.Spec.from_yaml("/proc/self/mem")
