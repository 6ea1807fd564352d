# SPDX-License-Identifier: BSD-3-Clause
"""Folders like those of vendors' SDKs: where they are by default, how their files are written."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path

__all__ = ["default_folder", "link_file", "write_file"]


def default_folder(name: str) -> Path:
    """Return a folder in the user's data folder, one per Python environment.

    Parameters
    ----------
    name : str
        How its name begins, such as ``upmem``.
    """
    base = os.environ.get("XDG_DATA_HOME", "")
    data = Path(base) if os.path.isabs(base) else Path.home() / ".local" / "share"
    environment = hashlib.blake2b(os.fsencode(sys.prefix), digest_size=4).hexdigest()
    return data / "offchip" / f"{name}-{environment}"


def write_file(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Replace a file atomically: it may be in use."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".new-", delete=False) as file:
        file.write(text)
    os.chmod(file.name, mode)
    os.replace(file.name, path)


def link_file(path: Path, target: Path) -> None:
    """Make a symbolic link, or replace one atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".new-") as folder:
        fresh = Path(folder, path.name)
        fresh.symlink_to(target)
        os.replace(fresh, path)
