# SPDX-License-Identifier: BSD-3-Clause
"""Finds the files that YAML files name."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from typing import Any

__all__ = ["find_path", "find_paths"]


def _candidates(name: str, file: str, folders: Iterable[str]) -> list[str]:
    if os.path.isabs(name):
        return [os.path.realpath(name)]
    beside = os.path.dirname(os.path.abspath(file))
    return [os.path.realpath(os.path.join(folder, name)) for folder in (beside, *folders)]


def find_path(name: str, file: str, folders: Iterable[str]) -> str:
    """Find a file or folder.

    Parameters
    ----------
    name : str
        Absolute, or relative to one of the folders.
    file : str
        File that names it; its folder comes first.
    folders : iterable of str
        Further folders.
    """
    searched = _candidates(name, file, folders)
    for path in searched:
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"{name} not found; searched for {', '.join(searched)}")


def find_paths(name: Any, file: str, folders: Iterable[str]) -> list[str]:
    """Find all files that match a pattern, or each of a list of patterns."""
    if isinstance(name, (list, tuple)):
        found = [path for item in name for path in find_paths(item, file, folders)]
    else:
        searched = _candidates(str(name), file, folders)
        found = [path for pattern in searched for path in sorted(glob.glob(pattern))]
        if not found:
            raise FileNotFoundError(f"{name} not found; searched for {', '.join(searched)}")
    return list(dict.fromkeys(os.path.realpath(path) for path in found))
