# SPDX-License-Identifier: BSD-3-Clause
"""Keeps what was compiled, by the content that it was compiled from.

Entries are files or folders of the user's cache folder. They are made beside their place and then
renamed, so that processes may make the same one at the same time.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["cache_folder", "digest", "keep", "stamp_of"]

_FOLDER = ("offchip", "dpu")
_LIMIT = 200
# Of a process that was killed while it made an entry.
_ABANDONED_AFTER = 3600.0


def digest(parts: Iterable[str | bytes]) -> str:
    """Return a name for content; where parts begin and end matters."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def stamp_of(path: str | os.PathLike[str]) -> str:
    """Return what tells a version of a file from others without reading it."""
    try:
        status = os.stat(path)
    except OSError:
        return f"{os.fspath(path)} 0 0"
    return f"{os.fspath(path)} {status.st_size} {status.st_mtime_ns}"


def cache_folder() -> Path:
    """Return the folder of entries: below XDG_CACHE_HOME, or temporary where it cannot be made."""
    global _temporary
    base = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    folder = folder.joinpath(*_FOLDER)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        pass
    if os.access(folder, os.W_OK | os.X_OK) and folder.is_dir():
        return folder
    if _temporary is None:
        _temporary = Path(tempfile.mkdtemp(prefix="offchip-dpu-"))
        atexit.register(shutil.rmtree, _temporary, ignore_errors=True)
    return _temporary


_temporary: Path | None = None


def keep(name: str, make: Callable[[Path], None]) -> Path:
    """Return the folder of an entry, which is made if it is not there.

    Parameters
    ----------
    name : str
        A kind and a digest of what the content depends on, as ``kind-digest``.
    make : callable
        Fills an empty folder that it is given.
    """
    parent = cache_folder()
    folder = parent / name
    if folder.is_dir():
        try:
            os.utime(folder)
        except OSError:
            pass
        return folder
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=parent))
    try:
        make(fresh)
        try:
            fresh.rename(folder)
        except OSError:
            # Another process was first; its content is the same.
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    _forget_old(parent, name.partition("-")[0])
    return folder


def _forget_old(parent: Path, kind: str) -> None:
    """Remove the entries of a kind that were not used for longest, and what was abandoned."""
    entries = []
    try:
        for entry in os.scandir(parent):
            used = entry.stat().st_mtime
            if entry.name.startswith(f"{kind}-"):
                entries.append((used, entry.path))
            elif entry.name.startswith(".new-") and used < time.time() - _ABANDONED_AFTER:
                shutil.rmtree(entry.path, ignore_errors=True)
    except OSError:
        return
    for _, path in sorted(entries)[: max(0, len(entries) - _LIMIT)]:
        shutil.rmtree(path, ignore_errors=True)
