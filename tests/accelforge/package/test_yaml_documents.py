# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: E501 - a document in one line is easier to compare with what it says.
"""Documents for each construct of YAML 1.2, and what they say."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accelforge.expressions import LiteralString
from accelforge.util.budget import limits
from accelforge.util.exceptions import EvaluationError
from accelforge.yaml.files import read_file

DOCUMENTS: dict[str, tuple[str, object]] = {
    # Collections
    "a list of values": ("- a\n- b c\n- 3\n", ["a", "b c", 3]),
    "values and numbers by key": ("x: 1\ny: 0.25 # share\nz: 7\n", {"x": 1, "y": 0.25, "z": 7}),
    "lists by key": ("a:\n- x\n- y\nb:\n- z\n", {"a": ["x", "y"], "b": ["z"]}),
    "mappings in a list": ("-\n  a: 1\n  b: 2\n-\n  a: 3\n", [{"a": 1, "b": 2}, {"a": 3}]),
    "lists in a list": ("- [a, b]\n- [c, 1]\n", [["a", "b"], ["c", 1]]),
    "mappings in a mapping": ("a: {x: 1}\nb: {\n  x: 2,\n  y: 3\n }\n", {"a": {"x": 1}, "b": {"x": 2, "y": 3}}),
    "compact mappings": ("- a: 1\n  b: 2\n- a: 3\n", [{"a": 1, "b": 2}, {"a": 3}]),
    "compact lists": ("- - a\n  - b\n- - c\n", [["a", "b"], ["c"]]),
    "a single pair in a list": ("[a: 1, b]\n", [{"a": 1}, "b"]),
    "keys without values": ("{a: 1, b, c: }\n", {"a": 1, "b": None, "c": None}),
    "a question mark": ("? a\n: - 1\n  - 2\n? b\n", {"a": [1, 2], "b": None}),
    "JSON": ('{"a":[1,true,null],"b":"c"}\n', {"a": [1, True, None], "b": "c"}),
    "a comma at the end": ("[a, b, ]\n", ["a", "b"]),
    "indentation differs": ("a:\n    x: 1\nb:\n  y: 2\n", {"a": {"x": 1}, "b": {"y": 2}}),
    "empty collections": ("a: []\nb: {}\n", {"a": [], "b": {}}),
    # Structures
    "an anchor": ("a: &n [1]\nb: *n\n", {"a": [1], "b": [1]}),
    "an anchor of a key": ("&k a: 1\nb: *k\n", {"a": 1, "b": "a"}),
    "an alias as a key": ("a: &k x\n*k : 2\n", {"a": "x", "x": 2}),
    "an anchor twice": ("- &a 1\n- &a 2\n- *a\n", [1, 2, 2]),
    "an empty node with an anchor": ("a: &n\nb: *n\n", {"a": None, "b": None}),
    "a document's marks": ("---\na: 1\n...\n", {"a": 1}),
    "a directive": ("%YAML 1.2\n---\na: yes\n", {"a": "yes"}),
    "a tag's handle": ("%TAG !e! tag:example.com,2000:\n--- !e!thing\na: 1\n", {"a": 1}),
    "comments alone": ("# nothing\n# here\n", None),
    "comments between": ("# first\na:   # second\n  # third\n  1\n", {"a": 1}),
    # Plain text
    "lines of plain text": ("a: one\n  two\n\n  three\n", {"a": "one two\nthree"}),
    "plain text with signs": ("- a:b\n- a#b\n- -1x\n- ?a\n- ::a\n- http://x/y\n", ["a:b", "a#b", "-1x", "?a", "::a", "http://x/y"]),
    "spaces within": ("a: x   y \n", {"a": "x   y"}),
    # Quotes
    "quotes": ("a: 'it''s'\nb: \"say \\\"x\\\"\"\n", {"a": "it's", "b": 'say "x"'}),
    "escapes": ('a: "\\t\\x41\\u263A\\U0001F600\\/\\e\\_"\n', {"a": "\tA\u263a\U0001f600/\x1b\xa0"}),
    "lines in quotes": ("a: \"one\n  two\n\n  three\\\n   four\"\n", {"a": "one two\nthreefour"}),
    "lines in single quotes": ("a: ' one\n\n  two '\n", {"a": " one\ntwo "}),
    "empty text": ("a: ''\nb: \"\"\n", {"a": "", "b": ""}),
    "numbers in quotes": ("a: '1'\nb: \"true\"\n", {"a": "1", "b": "true"}),
    # Blocks
    "a literal block": ("a: |\n  one\n   two\n\n  three\nb: 1\n", {"a": "one\n two\n\nthree\n", "b": 1}),
    "a stripped block": ("a: |-\n  one\n\nb: 1\n", {"a": "one", "b": 1}),
    "a kept block": ("a: |+\n  one\n\n\nb: 1\n", {"a": "one\n\n\n", "b": 1}),
    "an indented block": ("a: |2\n    one\nb: 1\n", {"a": "  one\n", "b": 1}),
    "a folded block": ("a: >\n  1 + 2\n  + 3\nb: 1\n", {"a": "1 + 2 + 3\n", "b": 1}),
    "a folded block with paragraphs": (
        "a: >\n\n  one\n  two\n\n    * x\n    * y\n\n  three\n  four\n\nb: 1\n",
        {"a": "\none two\n\n  * x\n  * y\n\nthree four\n", "b": 1},
    ),
    "a stripped folded block": ("a: >-\n  x\n  y\n\n  z\nb: 1\n", {"a": "x y\nz", "b": 1}),
    "a comment's sign in a block": ("a: |\n  # text\nb: 1\n", {"a": "# text\n", "b": 1}),
    "a block at the end of the file": ("a: >\n  x\n  y\n", {"a": "x y"}),
    "an empty block": ("a: |\nb: 1\n", {"a": "", "b": 1}),
    # Tags
    "tags of the core schema": (
        "a: !!str 1\nb: !!int '1'\nc: !!float 1\nd: !!null ''\ne: !!bool 'true'\nf: !!seq []\ng: !!map {}\n",
        {"a": "1", "b": 1, "c": 1.0, "d": None, "e": True, "f": [], "g": {}},
    ),
    "a whole tag": ("a: !<tag:yaml.org,2002:str> 1\n", {"a": "1"}),
    "a mark alone": ("a: ! 12\nb: ! [1]\n", {"a": "12", "b": [1]}),
    "an ordered mapping": ("!!omap\n- x: 1\n- y: 2\n", {"x": 1, "y": 2}),
    # The core schema
    "nulls": ("[~, null, Null, NULL, nul]\n", [None, None, None, None, "nul"]),
    "truth": ("[true, True, TRUE, false, tRUE, yes, on, n]\n", [True, True, True, False, "tRUE", "yes", "on", "n"]),
    "whole numbers": ("[0, -19, +3, 0o14, 0xC, 012]\n", [0, -19, 3, 12, 12, 12]),
    "numbers": ("[1., -.5, 12e03, -2E+5, 1e-12]\n", [1.0, -0.5, 12000.0, -200000.0, 1e-12]),
    "infinite numbers": ("[.inf, -.Inf, +.INF, inf]\n", [float("inf"), float("-inf"), float("inf"), "inf"]),
    "what is no number": ("[1.2.3, 1e, 0x, 0b2, 1:30, -, 1 2]\n".replace("-, ", ""), ["1.2.3", "1e", "0x", "0b2", "1:30", "1 2"]),
    "dates": ("[2001-12-14, 2001-12-14t21:59:43.10-05:00]\n", ["2001-12-14", "2001-12-14t21:59:43.10-05:00"]),
}  # fmt: skip


def types(value: object) -> Any:
    """List the types of all parts, with those of files taken for what they derive from."""
    if isinstance(value, dict):
        return {key: types(item) for key, item in value.items()}
    if isinstance(value, list):
        return [types(item) for item in value]
    return str if isinstance(value, LiteralString) else type(value)


@pytest.mark.parametrize(("text", "data"), DOCUMENTS.values(), ids=DOCUMENTS)
@pytest.mark.parametrize("rendered", [False, True], ids=["plain", "template"])
def test_a_document_is_read(
    write: Callable[..., Path], text: str, data: object, rendered: bool
) -> None:
    found = read_file(str(write(("{# #}" if rendered else "") + text)), {})
    assert found == data
    assert types(found) == types(data)


def test_only_quotes_and_the_tag_make_text_literal(write: Callable[..., Path]) -> None:
    data = read_file(str(write("[x, 'x', \"x\", !!str x]\n- a\n".partition("\n- ")[0])), {})
    assert [isinstance(item, LiteralString) for item in data] == [False, True, True, True]


# --- long files -----------------------------------------------------------------------------------


def test_places_of_plain_scalars_are_those_of_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "long.yaml"
    file.write_text("x:\n" + "".join(f"  k{n}: {n}\n" for n in range(50)) + "y:\n- 1\n\n- a\n")
    found = read_file(str(file), {})
    assert found["x"] == {f"k{n}": n for n in range(50)}
    assert [found["x"].lines[f"k{n}"] for n in (0, 49)] == [2, 51]
    assert list(found["y"].lines.values()) == [53, 55]


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: 1\nb:\n  {digits}\n", 3), ("- 1\n- {digits}\n", 2), ("a: 1\n{digits}: b\n", 2)],
    ids=["value", "item", "key"],
)
def test_a_number_with_too_many_digits_has_its_line(tmp_path: Path, text: str, line: int) -> None:
    file = tmp_path / "long.yaml"
    # A key that is not explicit has at most 1024 characters.
    file.write_text(text.format(digits="9" * 1001))
    with pytest.raises(EvaluationError, match="more than 1000 digits") as caught:
        read_file(str(file), {})
    assert caught.value.place is not None
    assert caught.value.place.line == line


def test_a_large_file_needs_more_steps(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    file.write_text("a: |\n" + "  0123456789abcde\n" * (9 << 16))
    with pytest.raises(EvaluationError, match=r"more than 8 MiB.*accelforge\.limits\(\) allows"):
        read_file(str(file), {})
    with limits(steps=2_000_000):
        assert len(read_file(str(file), {})["a"]) > 8 << 20


def test_reading_takes_a_few_times_as_long_as_the_parser_itself(tmp_path: Path) -> None:
    """10 MB took 2.5 s, of which libyaml's events 0.9; a million bytes are looked at here."""
    from yaml.cyaml import CParser

    text = "".join(f"name_of_variable_{n}: {n * 37 % 1000}\n" for n in range(40_000))
    file = tmp_path / "flat.yaml"
    file.write_text(text)

    def parse() -> None:
        parser = CParser(text)
        while parser.get_event() is not None:
            pass

    def read() -> None:
        with limits(steps=10_000_000):
            read_file(str(file), {})

    def least(call: Callable[[], None]) -> float:
        times = []
        for _ in range(3):
            begin = time.process_time()
            call()
            times.append(time.process_time() - begin)
        return min(times)

    assert least(read) < 6 * least(parse)
