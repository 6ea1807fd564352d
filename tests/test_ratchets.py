# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of what there is too much of, which only fall."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.layout import NOISE, PACKAGES, includes

# A header that one other unit alone includes, and that is no longer than this, is a file too many.
SHORT_HEADER = 60
# More positional parameters than that are mixed up.
PARAMETERS = 7
ONE_USER = 97
LONG_C = 11
LONG_PYTHON = 31

C_FUNCTION = re.compile(r"^(?!typedef\b)\w[^;{}#()=]*?\b(\w+)\(([^{};]*)\)\s*\{", re.MULTILINE)
PYTHON_FUNCTION = re.compile(r"^ *(?:async )?(?:def|cdef|cpdef)\b[^(\n=]*\b(\w+)\(", re.MULTILINE)


def one_user_headers(root: Path) -> list[str]:
    """List the short headers of csrc that one file besides their own .c includes."""
    users = defaultdict(set)
    for file, targets in includes(root).items():
        for target in targets:
            if file != target.removesuffix(".h") + ".c":
                users[target].add(file)
    return [
        header
        for header, files in sorted(users.items())
        if header.startswith("csrc/") and header.endswith(".h") and len(files) == 1
        if (root / header).read_text().count("\n") < SHORT_HEADER
    ]


def split_parameters(text: str) -> list[str]:
    """Split at the commas that are in no brackets; end at the bracket that was open before."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        if (character == "," and depth == 0) or depth < 0:
            parts.append(text[start:i].strip())
            start = i + 1
        if depth < 0:
            break
    else:
        parts.append(text[start:].strip())
    return [part for part in parts if part]


def long_c_signatures(root: Path) -> list[str]:
    """List the functions of csrc that take more than PARAMETERS."""
    return [
        f"{path.relative_to(root)}: {name}"
        for path in sorted((root / "csrc").rglob("*.c"))
        for name, text in C_FUNCTION.findall(NOISE.sub(" ", path.read_text()))
        if len(split_parameters(text)) > PARAMETERS
    ]


def long_python_signatures(root: Path) -> list[str]:
    """List the functions of the packages that take more than PARAMETERS by position."""
    found = []
    for folder in PACKAGES:
        for path in sorted((root / folder).rglob("*.py*")):
            if path.suffix not in (".py", ".pyx"):
                continue
            text = re.sub(r"#[^\n]*", "", path.read_text())
            for match in PYTHON_FUNCTION.finditer(text):
                parameters = split_parameters(text[match.end() :])
                names = [part for part in parameters if part not in ("self", "cls", "/")]
                by_position = [part for part in names if not part.startswith("**")]
                star = next((i for i, part in enumerate(names) if part.startswith("*")), None)
                if len(by_position if star is None else names[:star]) > PARAMETERS:
                    found.append(f"{path.relative_to(root)}: {match[1]}")
    return found


@pytest.mark.parametrize(
    ("find", "most"),
    [
        (one_user_headers, ONE_USER),
        (long_c_signatures, LONG_C),
        (long_python_signatures, LONG_PYTHON),
    ],
)
def test_numbers_only_fall(find: Callable[[Path], list[str]], most: int, root: Path) -> None:
    found = find(root)
    assert len(found) <= most, "\n".join(found)


def test_planted_excesses_are_found(tmp_path: Path) -> None:
    (tmp_path / "csrc/common").mkdir(parents=True)
    (tmp_path / "csrc/common/a.h").write_text("int a(void);\n")
    (tmp_path / "csrc/common/a.c").write_text(
        '#include "common/a.h"\nint a(void)\n{\n}\n'
        "int b(int a, int (*b)(int, int), int c, int d, int e, int f, int g, int h)\n{\n}\n"
    )
    (tmp_path / "csrc/common/c.c").write_text('#include "common/a.h"\n')
    (tmp_path / "veo").mkdir()
    (tmp_path / "veo/a.py").write_text(
        "def f(a: dict[int, int], b, c, d, e, f, g=(1, 2), *, h):\n    ...\n"
        "def g(a, b, c, d, e, f, g, h):\n    ...\n"
    )
    assert one_user_headers(tmp_path) == ["csrc/common/a.h"]
    assert long_c_signatures(tmp_path) == ["csrc/common/a.c: b"]
    assert long_python_signatures(tmp_path) == ["veo/a.py: g"]
