# SPDX-License-Identifier: BSD-3-Clause
"""Finds comments and pages that name files of the tree which do not exist."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["find_absent"]

PLACES = ("csrc", "include", "tests", "benchmarks", "buildtools", "docs", "examples", "findings")
PACKAGES = ("offchip", "veo", "dpu", "accl", "accelforge")
ENDS = r"sources|(?<=CMakeLists\.)txt|c|h|S|inc|def|py|pyx|pxd|pyi|sh|md|svg|png"
PATH = re.compile(
    rf"(?<![\w/.<$~-])(?:[\w.*{{}},-]+/)+(?:[\w.*{{}},-]*\.(?:{ENDS}|svg|png)\b|[\w*{{}},-]*)"
)
# A name without a folder is one of ours where no other file is spoken of.
NAME = re.compile(rf"(?<![\w/.<\"$~*-])[a-z]\w+\.(?:{ENDS})\b(?!:\d)")
# Name that a comment at the head of a file gives it.
HEAD = re.compile(rf"^(?:/\*| \*) ([a-z_]+\.(?:{ENDS})): ", re.MULTILINE)
COMMENT = {
    ".c": re.compile(r"/\*.*?\*/", re.DOTALL),
    ".py": re.compile(r'(?<!["\w])"""(?:[^"]|"(?!""))*"""|(?:^|\s)#[^\n]*'),
    ".sh": re.compile(r"(?:^|\s)#[^\n]*"),
    ".md": re.compile(r".+", re.DOTALL),
}
KINDS = {".c": ".c", ".h": ".c", ".S": ".c", ".inc": ".c", ".def": ".c", ".py": ".py"}
KINDS |= {".pyx": ".py", ".pxd": ".py", ".sh": ".sh", ".md": ".md"}
# Files in which names without folders are looked at: pages for users speak of their files.
OURS = ("csrc/", "buildtools/", "docs/design", "docs/coverage.md", "CONTRIBUTING.md", "Makefile")


def find_absent(root: Path) -> dict[str, set[str]]:
    """List for each file what it names and is not there."""
    paths = set(_tree(root))
    names = {path.rpartition("/")[2] for path in paths}
    absent = {}
    for file in sorted(paths):
        suffix = "." + file.rpartition(".")[2]
        kind = ".sh" if file.endswith("Makefile") else KINDS.get(suffix)
        if kind is None or not (root / file).is_file():
            continue
        found = set()
        text = (root / file).read_text()
        head = HEAD.search(text[:400])
        if head is not None and head[1] != file.rpartition("/")[2]:
            found.add(head[1])
        for comment in COMMENT[kind].findall(text):
            found |= {path for path in PATH.findall(comment) if not _is_there(path, file, paths)}
            if file.startswith(OURS):
                found |= {name for name in NAME.findall(comment) if name not in names}
        if found:
            absent[file] = found
    return absent


def _tree(root: Path) -> Iterator[str]:
    """List files and folders, without what is built."""
    todo = [root / name for name in (*PLACES, *PACKAGES) if (root / name).is_dir()]
    while todo:
        for path in sorted(todo.pop().iterdir()):
            name = path.relative_to(root).as_posix()
            if path.name == "__pycache__" or path.suffix in (".so", ".o"):
                continue
            yield name
            if path.is_dir():
                todo.append(path)
    yield from (path.name for path in root.iterdir() if path.is_file())
    yield from PLACES
    yield from PACKAGES


def _is_there(path: str, file: str, paths: set[str]) -> bool:
    path = path.rstrip("/.,-*")
    first = path.split("/", 1)[0]
    if first not in PLACES and (first not in PACKAGES or not re.search(rf"\.({ENDS})$", path)):
        return True
    for one in _expand(path):
        # Includes are relative to csrc/, links in pages to their folder.
        places = (one, f"csrc/{one}", f"{file.rpartition('/')[0]}/{one}")
        if not any(fnmatch.filter(paths, place) for place in places):
            return False
    return True


def _expand(path: str) -> list[str]:
    braces = re.search(r"\{([^{}]*)\}", path)
    if braces is None:
        return [path]
    parts = braces[1].split(",")
    return [one for part in parts for one in _expand(path.replace(braces[0], part, 1))]
