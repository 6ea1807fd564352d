# SPDX-License-Identifier: BSD-3-Clause
"""Files that another program is told to write."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["make_executable", "written_file"]


@contextlib.contextmanager
def written_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give the file that a compiler or linker writes in place of `path`.

    Some replace their output by another file, and change its mode: as root that would take a
    device such as ``/dev/null`` from the machine. What is there and is not a regular file is never
    given to them; what they wrote is copied into it when the block ends without an error.
    """
    target = Path(path)
    if target.is_file() or not os.path.lexists(target):
        yield target
        return
    with tempfile.TemporaryDirectory(prefix="offchip-") as folder:
        fresh = Path(folder, target.name)
        yield fresh
        if fresh.exists():
            with fresh.open("rb") as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)


def make_executable(path: str | os.PathLike[str]) -> None:
    """Let those run a file who may make files executable by the umask, as linkers do.

    Other bits of the mode stay. Anything but a regular file is left alone.
    """
    file = Path(path)
    if file.is_file():
        umask = os.umask(0o077)
        os.umask(umask)
        file.chmod(file.stat().st_mode & 0o7777 | 0o111 & ~umask)
