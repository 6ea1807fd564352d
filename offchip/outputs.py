# SPDX-License-Identifier: BSD-3-Clause
"""Files that another program is told to write."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["is_plain", "make_executable", "written_file"]

_STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def is_plain(path: str | os.PathLike[str]) -> bool:
    """Say whether a path may be replaced: a regular file that is no link, or nothing there."""
    target = Path(path)
    is_file = target.is_file() and not target.is_symlink()
    return os.fspath(path) not in _STANDARD_OUTPUT and (is_file or not os.path.lexists(target))


@contextlib.contextmanager
def written_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give the file that a compiler or linker writes in place of `path`.

    Some replace their output by another file, and change its mode: as root that would take a
    device such as ``/dev/null`` from the machine, or a link such as ``/dev/stdout``. What is there
    and is not a regular file is never given to them; what they wrote is copied into it when the
    block ends without an error. ``-`` is the standard output.
    """
    target = Path(path)
    if is_plain(path):
        yield target
        return
    with tempfile.TemporaryDirectory(prefix="offchip-") as folder:
        fresh = Path(folder, "output")
        yield fresh
        if not fresh.exists():
            return
        with fresh.open("rb") as source:
            if os.fspath(path) in _STANDARD_OUTPUT:
                # Behind what is there already, where that is a file.
                sys.stdout.flush()
                shutil.copyfileobj(source, sys.stdout.buffer)
                sys.stdout.buffer.flush()
            else:
                with target.open("wb") as sink:
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
