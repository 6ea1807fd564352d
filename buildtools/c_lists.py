# SPDX-License-Identifier: BSD-3-Clause
"""Reads lists that stand in C, for pages and tests that are made from them."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["read_list"]

ROOT = Path(__file__).resolve().parents[1]


def read_list(path: str, name: str) -> list[list[str]]:
    """Read the rows of a list macro, ``X(WORD, "text", ...)``; adjacent texts are one.

    Parameters
    ----------
    path : str
        The file, from the root of the repository.
    name : str
        The macro.
    """
    text = (ROOT / path).read_text()
    body = re.search(rf"#define {name}\(X\)((?:.*\\\n)*.*)", text)
    if body is None:
        raise LookupError(f"{path} does not define the list {name}(X)")
    rows: list[list[str]] = []
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|\w[\w.]*|[X(,)]', body[1]):
        if token == "X":
            rows.append([""])
        elif token == ",":
            rows[-1].append("")
        elif token not in "()":
            rows[-1][-1] += token[1:-1].replace('\\"', '"') if token[0] == '"' else token
    return rows
