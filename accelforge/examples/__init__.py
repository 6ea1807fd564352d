# SPDX-License-Identifier: BSD-3-Clause
"""Specifications to try things with: ``examples.arches.simple`` is the path of a file.

Attributes are folders and YAML files, without their ending and with an underscore for each other
dot. A folder that has one YAML file, those that begin with an underscore aside, stands for that
file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["Directory", "examples"]


class Directory:
    """A folder of specifications.

    Parameters
    ----------
    path : Path
        The folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"Directory({self.path}): {', '.join(self._attributes())}"

    def iter(self) -> Iterator[str]:
        """Yield the names of the files and folders in it."""
        for entry in self._entries():
            yield entry.stem

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._attributes()]

    def _attributes(self) -> list[str]:
        return [name.replace(".", "_") for name in self.iter() if not name.startswith("_")]

    def _entries(self) -> list[Path]:
        return sorted(
            entry
            for entry in self.path.iterdir()
            if entry.suffix == ".yaml" or (entry.is_dir() and not entry.name.startswith("__"))
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for entry in self._entries():
            stem = entry.name if entry.is_dir() else entry.stem
            if _same(stem, name):
                return _only_file(entry) if entry.is_dir() else entry
        # Files that stand in a folder today used to lie in the folder above.
        inside = sorted(f for f in self.path.rglob("*.yaml") if _same(f.stem, name))
        if inside:
            return inside[0]
        raise ValueError(f"no {name} in {self.path}; there are: {', '.join(self.iter())}")


def _same(stem: str, name: str) -> bool:
    return stem.replace(".", "_") == name.replace(".", "_")


def _only_file(folder: Path) -> Path | Directory:
    """Return a folder, or the only file in it."""
    if any(entry.is_dir() and not entry.name.startswith("__") for entry in folder.iterdir()):
        return Directory(folder)
    files = sorted(folder.glob("*.yaml"))
    shown = [file for file in files if not file.name.startswith("_")]
    if len(files) == 1 or len(shown) == 1:
        return (files if len(files) == 1 else shown)[0]
    return Directory(folder)


examples = Directory(Path(__file__).parent)
"""The folder of this package."""
