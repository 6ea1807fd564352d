# SPDX-License-Identifier: BSD-3-Clause
"""C is written in one dialect in all folders, and what all need stands in one file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDERS = ("csrc", "include", "tests", "benchmarks", "examples")
SUFFIXES = (".c", ".h", ".inc")
# A rule, and what breaks it.
RULES = {
    "write sizeof *p": re.compile(r"\bsizeof\(\*"),
    "head a part with /* --- name --- */": re.compile(r"^/\* -{4,}", re.MULTILINE),
    "write #ifndef guards": re.compile(r"^#pragma once", re.MULTILINE),
}
# The one file for something, where others could write it again, and how that begins.
SHARED = {
    "offchip/waiting.pxd": (
        "*.p[yx][xd]",
        re.compile(r"\b(?:clock_gettime|nanosleep|SLICE_NS =)"),
    ),
}
PACKAGES = ("accelforge", "accl", "dpu", "offchip", "veo")


def copies(root: Path) -> list[str]:
    """List the lines that do for themselves what a shared file has."""
    return [
        f"{path.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}: see {shared}"
        for shared, (names, pattern) in SHARED.items()
        for folder in ("csrc", *PACKAGES)
        for path in sorted((root / folder).rglob(names))
        if path != root / shared
        for text in [path.read_text()]
        for match in pattern.finditer(text)
    ]


def breaches(root: Path) -> list[str]:
    """List the lines of C that break a rule."""
    found = []
    for path in (path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))):
        if path.suffix in SUFFIXES:
            text = path.read_text(errors="replace")
            name = path.relative_to(root).as_posix()
            found += [
                f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {rule}"
                for rule, pattern in RULES.items()
                for match in pattern.finditer(text)
            ]
    return found


def test_c_is_written_in_one_dialect(root: Path) -> None:
    assert breaches(root) == []


@pytest.mark.parametrize(
    "line", ["a = malloc(sizeof(*a));", "/* ------ parts */", "#pragma once"], ids=range(3)
)
def test_planted_breaches_are_found(line: str, tmp_path: Path) -> None:
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc/a.c").write_text(f"int a;\n{line}\nsize_t b = sizeof *a + sizeof(int);\n")
    (breach,) = breaches(tmp_path)
    assert breach.startswith("csrc/a.c:2: ")


def test_what_all_need_stands_in_one_file(root: Path) -> None:
    assert copies(root) == []


def test_a_planted_copy_is_found(tmp_path: Path) -> None:
    (tmp_path / "dpu").mkdir()
    (tmp_path / "dpu/a.pyx").write_text("cdef int x\nclock_gettime(CLOCK_MONOTONIC, &now)\n")
    assert copies(tmp_path) == ["dpu/a.pyx:2: see offchip/waiting.pxd"]
