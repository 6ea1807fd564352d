# SPDX-License-Identifier: BSD-3-Clause
"""A cache of compiled programs, keyed by the content that they were compiled from.

Entries are folders in the user's cache folder. Each is written under a temporary name, synced to
disk and renamed, so that several processes may create the same entry at the same time. It lists its
files with their digests, which are checked whenever the entry is used; a damaged entry is created
again. A cache folder that other users can write to is not used, no link in it is followed, and
nothing that is no file is waited for. Of several processes that need an entry, one makes it and the
others wait. Where nothing can be kept, because the disk is full or there is no folder, entries are
made in a temporary one: that takes time, and nothing else.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import shutil
import stat
import struct
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["cache_folder", "digest", "keep", "stamp_of"]

_LIMIT = 200
# Seconds: an entry used so recently may be in use; a temporary one so old was abandoned.
_IN_USE = 600.0
_ABANDONED_AFTER = 3600.0
_CONTENTS = ".contents"
_LOCK = ".lock"
# Seconds: whoever makes an entry for so long may have stopped.
_WAIT = 300.0
_POLL = 0.05
_ATTEMPTS = 5
# Bytes that an entry may need; less than that is no reason for a failure.
_PROBE = 1 << 20


def digest(parts: Iterable[str | bytes]) -> str:
    """Return the digest of a sequence of parts, including their boundaries."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def stamp_of(path: str | os.PathLike[str]) -> str:
    """Return a stamp of a file that changes with its content: path, size and time."""
    try:
        status = os.stat(path)
    except OSError:
        return f"{os.fspath(path)} 0 0"
    return f"{os.fspath(path)} {status.st_size} {status.st_mtime_ns}"


def cache_folder(package: str) -> Path:
    """Return the folder of the entries of a package.

    It is below XDG_CACHE_HOME. If that cannot be written or is not safe, it is a temporary folder,
    which a RuntimeWarning says, as the next process will compile everything again.
    """
    folder = _base()
    if folder is None:
        _warn_once("there is no home folder; what is compiled is not kept: set XDG_CACHE_HOME")
        return _temporary_folder()
    reason = _unsafe_base(folder)
    for name in ("offchip", package):
        folder = folder / name
        reason = reason or _make_safe(folder)
    if reason is None and os.access(folder, os.W_OK | os.X_OK):
        return folder

    _warn_once(
        f"{reason or f'{folder} cannot be written'}; what is compiled is not kept: correct the "
        "permissions, or set XDG_CACHE_HOME to a folder of your own"
    )
    return _temporary_folder()


def _base() -> Path | None:
    """Return the folder of all caches; None for a user without a home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / ".cache" if home.is_absolute() else None


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=4)


def _warn_once(text: str) -> None:
    if _temporary is None:
        warnings.warn(text, RuntimeWarning, stacklevel=4)


def _temporary_folder() -> Path:
    global _temporary
    if _temporary is None:
        _temporary = Path(tempfile.mkdtemp(prefix="offchip-cache-"))
        atexit.register(shutil.rmtree, _temporary, ignore_errors=True)
    return _temporary


_temporary: Path | None = None


def _unsafe_base(folder: Path) -> str | None:
    """Return why other users could replace files in a folder; None if they cannot."""
    try:
        status = folder.stat()
    except OSError:
        return None
    if status.st_uid not in (0, os.geteuid()):
        return f"{folder} belongs to another user"
    if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
        return f"{folder} is writable by everyone"
    return None


def _make_safe(folder: Path) -> str | None:
    """Make a folder, or see to it that only its owner can write to it; a link is not followed.

    Returns
    -------
    str, optional
        Why it cannot be used; empty if it cannot be made at all.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode):
            return f"{folder} is not a folder"
        if status.st_uid != os.geteuid():
            return f"{folder} belongs to another user"
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            folder.chmod(stat.S_IMODE(status.st_mode) & ~(stat.S_IWGRP | stat.S_IWOTH))
    except OSError:
        return ""
    return None


def keep(package: str, name: str, make: Callable[[Path], None]) -> Path:
    """Return the folder of an entry, which is made if it is not there or was damaged.

    Parameters
    ----------
    package : str
        Whose entry it is, such as ``dpu``.
    name : str
        A kind and a digest of what the content depends on, as ``kind-digest``.
    make : callable
        Fills an empty folder that it is given.
    """
    parent = cache_folder(package)
    try:
        return _keep_in(parent, name, make)
    except Exception as error:
        if parent == _temporary or _has_room(parent):
            raise
        _warn(f"{parent} cannot be written ({error}): what is compiled is not kept")
    return _keep_in(_temporary_folder(), name, make)


def _has_room(folder: Path) -> bool:
    """Tell whether a folder takes a file: if it does not, that is why making an entry failed."""
    try:
        with tempfile.TemporaryFile(prefix=".new-", dir=folder) as file:
            file.write(bytes(_PROBE))
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        return False
    return True


def _keep_in(parent: Path, name: str, make: Callable[[Path], None]) -> Path:
    folder = parent / name
    if _use(folder):
        return folder
    with _turn(parent, name):
        return folder if _use(folder) else _make(folder, make)


def _make(folder: Path, make: Callable[[Path], None]) -> Path:
    parent, name = folder.parent, folder.name
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=parent))
    try:
        make(fresh)
        _write_contents(fresh, name)
        _put(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    _forget_old(parent, name.partition("-")[0])
    return folder


def _use(folder: Path) -> bool:
    """Tell whether an entry is there and whole; it counts as used from now on."""
    with _locked(folder.parent, fcntl.LOCK_SH):
        try:
            os.utime(folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        except OSError:
            pass
    return _is_whole(folder)


def _put(fresh: Path, folder: Path) -> None:
    """Rename a new entry to its place, unless another process has put a whole one there."""
    for _ in range(_ATTEMPTS):
        try:
            fresh.rename(folder)
            _sync(folder.parent)
            return
        except OSError:
            if _use(folder):
                return
            _remove(folder)
    raise OSError(f"{folder} cannot be replaced: remove it")


def _remove(path: Path) -> None:
    """Remove an entry, or what is in its place, atomically for other processes."""
    grave = Path(tempfile.mkdtemp(prefix=".old-", dir=path.parent))
    try:
        path.rename(grave / "entry")
    except OSError:
        pass
    shutil.rmtree(grave, ignore_errors=True)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.name != _CONTENTS)


def _listing(folder: Path, name: str) -> str:
    """Return an entry's name, which is not that of any other, and the digests of its files."""
    lines = [name]
    for path in _files(folder):
        if not path.is_dir():
            data = _read(path)
            lines.append(f"{digest([data])} {path.relative_to(folder)}")
    return "\n".join(lines) + "\n"


def _read(path: Path) -> bytes:
    """Read a file: neither what a link names nor a pipe that nobody writes to."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path} is not a regular file")
        return file.read()


def _write_contents(folder: Path, name: str) -> None:
    (folder / _CONTENTS).write_text(_listing(folder, name), errors="surrogateescape")
    for path in [*_files(folder), folder / _CONTENTS, folder]:
        _sync(path)


def _sync(path: Path) -> None:
    """Have a file or folder on disk before anything that is done next."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_whole(folder: Path) -> bool:
    """Tell whether an entry is this user's and has what was written."""
    try:
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return False
        written = _read(folder / _CONTENTS).decode("utf-8", "surrogateescape")
        return written == _listing(folder, folder.name)
    except OSError:
        return False


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[bool]:
    """Hold the lock of a cache folder; say whether another process has it instead."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        is_held = True
        try:
            fcntl.flock(descriptor, how)
        except BlockingIOError:
            is_held = False
        except OSError:
            # A file system without locks: as good as it gets.
            pass
        yield is_held
    finally:
        os.close(descriptor)


@contextmanager
def _turn(folder: Path, name: str) -> Iterator[None]:
    """Wait until nobody else makes an entry: for a byte of a file, which ends with its holder."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(folder / _LOCK, flags, 0o600)
    except OSError:
        # Where no file can be made, entries are made twice.
        yield
        return
    place = int(digest([name])[:12], 16)
    request = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, place, 1, 0)
    end = time.monotonic() + _WAIT
    try:
        while time.monotonic() < end:
            try:
                fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, request)
                break
            except BlockingIOError:
                time.sleep(_POLL)
            except OSError:
                # A file system without locks.
                break
        yield
    finally:
        os.close(descriptor)


def _forget_old(parent: Path, kind: str) -> None:
    """Remove the entries of a kind that were not used for longest, and what was abandoned.

    Whoever is about to use an entry says so under the same lock, so that no entry goes while it is
    in use. A process that finds another one at it leaves it to that.
    """
    now = time.time()
    with _locked(parent, fcntl.LOCK_EX | fcntl.LOCK_NB) as is_held:
        if not is_held:
            return
        entries = []
        for entry in os.scandir(parent):
            try:
                used = entry.stat(follow_symlinks=False).st_mtime
            except OSError:
                continue
            if entry.name.startswith(f"{kind}-"):
                entries.append((used, entry.path))
            elif entry.name.startswith((".new-", ".old-")) and used < now - _ABANDONED_AFTER:
                shutil.rmtree(entry.path, ignore_errors=True)
        for used, path in sorted(entries)[: max(0, len(entries) - _LIMIT)]:
            if used < now - _IN_USE:
                _remove(Path(path))
