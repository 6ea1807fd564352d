# SPDX-License-Identifier: BSD-3-Clause
"""Names, comments, messages and pages use the field's words: the table of CONTRIBUTING.md."""

from __future__ import annotations

import re
from pathlib import Path

from tests.test_comments import BUILT, FOLDERS, SUFFIXES

# A row: the word to use, what it is, and those that are not used for it.
ROW = re.compile(r"^\| ([^|]+) \| [^|]+ \| ([^|]*) \|$", re.MULTILINE)
PAGES = ("README.md", "CHANGELOG.md", "SECURITY.md")
OURS = ("tests/test_words.py",)


def banned(page: str) -> dict[str, str]:
    """Read the words that are not used from a page, each with the one to use."""
    section = page.partition("\n## Words\n")[2].partition("\n## ")[0]
    return {
        word: use.strip()
        for use, words in ROW.findall(section)
        for word in re.findall(r"`([^`]+)`", words)
    }


def uses(text: str, words: dict[str, str]) -> list[tuple[int, str]]:
    """List the lines with a banned word: alone, in the plural, or as a part of a name."""
    pattern = re.compile(
        rf"(?<![a-z])({'|'.join(map(re.escape, words))})s?(?![a-z])", re.IGNORECASE
    )
    return [
        (text.count("\n", 0, match.start()) + 1, match[1].lower())
        for match in pattern.finditer(text)
    ]


def misused(root: Path, words: dict[str, str]) -> list[str]:
    """List the places of a tree where a banned word stands, and the word to use."""
    suffixes = (*SUFFIXES, ".md", ".S")
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))]
    paths += [root / page for page in PAGES if (root / page).exists()]
    found = []
    for path in paths:
        name = path.relative_to(root).as_posix()
        if path.suffix not in suffixes or BUILT.match(name) or "_build" in path.parts:
            continue
        if name not in OURS:
            found += [
                f"{name}:{line}: {word}: say {words[word]}"
                for line, word in uses(path.read_text(errors="replace"), words)
            ]
        found += [f"{name}: {word}: say {words[word]}" for _, word in uses(path.stem, words)]
    return found


def test_no_banned_word_is_used(root: Path) -> None:
    words = banned((root / "CONTRIBUTING.md").read_text())
    assert len(words) > 8
    assert misused(root, words) == []


def test_planted_words_are_found(tmp_path: Path) -> None:
    page = (
        "\n## Words\n\n| use | is | not |\n|---|---|---|\n| packet | x | `parcel`, `of no use` |\n"
    )
    words = banned(page + "\n")
    assert words == {"parcel": "packet", "of no use": "packet"}
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc/parcel_pool.c").write_text(
        "int a;\nstruct Parcel *my_parcels; /* of no use */\nint parcelled;\n"
    )
    assert misused(tmp_path, words) == [
        "csrc/parcel_pool.c:2: parcel: say packet",
        "csrc/parcel_pool.c:2: parcel: say packet",
        "csrc/parcel_pool.c:2: of no use: say packet",
        "csrc/parcel_pool.c: parcel: say packet",
    ]
