# SPDX-License-Identifier: BSD-3-Clause
"""Helpers of the makers of corpora: writing inputs, and the command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

__all__ = ["main", "write_inputs"]


def write_inputs(folder: Path, inputs: Mapping[str, bytes]) -> list[Path]:
    """Write inputs by their names."""
    paths = []
    for name, data in inputs.items():
        path = folder / f"{name.replace(' ', '-')}.input"
        path.write_bytes(data)
        paths.append(path)
    return paths


def main(make_corpus: Callable[[Path], list[Path]]) -> None:
    """Write a corpus into the folder that the command line names."""
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for made in make_corpus(target):
        print(made)
