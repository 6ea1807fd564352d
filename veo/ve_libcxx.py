# SPDX-License-Identifier: BSD-3-Clause
"""C++'s library for the Vector Engine: functions of libc++ that are not in its headers.

The ziglang wheel has their sources. Those that a program needs are compiled when it is linked, and
their objects are kept for the next one.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import importlib.metadata
import os
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from veo.ve_clang import archive_members, clang_command, wheel_folder

__all__ = ["libcxx_objects"]

# In the order in which they are compiled until nothing is missing: what most programs need first.
_SOURCES = (
    *("string", "stdexcept", "stdlib_stdexcept", "stdlib_exception", "new_helpers", "algorithm"),
    *("memory", "functional", "thread", "condition_variable", "condition_variable_destructor"),
    *("system_error", "error_category", "cxa_handlers", "cxa_default_handlers", "abort_message"),
    *("private_typeinfo", "stdlib_typeinfo", "future", "hash", "random", "charconv", "variant"),
    *("ios", "ios.instantiations", "iostream", "locale", "ostream", "fstream"),
    *("optional", "any", "bind", "call_once", "chrono", "shared_mutex", "mutex", "atomic"),
    *("barrier", "memory_resource", "valarray", "vector", "random_shuffle", "exception"),
    *("cxa_vector", "cxa_thread_atexit", "cxa_noexception", "cxa_aux_runtime", "cxa_virtual"),
)
_FLAGS = ("-std=c++23", "-O2", "-w", "-D_LIBCPP_BUILDING_LIBRARY", "-DLIBCXX_BUILDING_LIBCXXABI")
_FOLDERS = ("libcxx/src", "libcxxabi/include", "libcxxabi/src", "libcxx/libc")
# Names of namespace std, and of what compilers call for C++; but for those that the worker has.
_NAME = re.compile(
    rb"(_Z(NK?|T[A-Z]+N?)?St|__dynamic_cast$|__abort_message$|__cxa_(?!atexit|finalize|guard|pure))"
    rb"(?!3__15mutex|3__112__next_prime|3__16chrono1|3__122__libcpp_verbose_abort)"
)
_SYMTAB = 2


def libcxx_objects(inputs: Iterable[str | Path]) -> list[Path]:
    """Return objects of libc++ that a program needs; compile those that are not there yet.

    What is missing after that, the worker says when it loads the program.

    Parameters
    ----------
    inputs : iterable of paths
        The objects and archives of the program.

    Raises
    ------
    OSError
        The objects cannot be kept, or a source cannot be compiled.
    """
    wanted: set[bytes] = set()
    defined: set[bytes] = set()
    for path in inputs:
        _read_symbols(Path(path).read_bytes(), wanted, defined)
    objects: list[Path] = []
    while wanted - defined:
        found = next(_offers(wanted - defined, objects), None)
        if found is None:
            break
        objects.append(found)
        _read_symbols(found.read_bytes(), wanted, defined)
    return objects


def _offers(missing: set[bytes], taken: list[Path]) -> Iterator[Path]:
    """Yield objects that define one of the missing symbols."""
    folder = _cache_folder()
    for name in _SOURCES:
        path = folder / f"{name}.o"
        if path not in taken:
            if not path.exists():
                _compile(name, path)
            defined: set[bytes] = set()
            _read_symbols(path.read_bytes(), set(), defined)
            if defined & missing:
                yield path


def _cache_folder() -> Path:
    """Return the folder of the objects of this compiler, which is the user's own."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    caches = Path(base) if os.path.isabs(base) else _home_caches()
    if caches is None:
        return _temporary_folder()
    text = f"{importlib.metadata.version('ziglang')} {_FLAGS} {clang_command('C++')}"
    key = hashlib.blake2b(text.encode(), digest_size=8)
    for file in (Path(__file__), Path(__file__).with_name("ve_structures.py")):
        key.update(file.read_bytes())
    folder = caches / "offchip" / f"libcxx-{key.hexdigest()}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise PermissionError(
            f"{folder} can be written by others: correct that, or set XDG_CACHE_HOME to a folder"
            " of your own"
        )
    return folder


def _home_caches() -> Path | None:
    """Return the folder of the user's caches; None for a user without a home."""
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / ".cache" if home.is_absolute() else None


@functools.cache
def _temporary_folder() -> Path:
    """Return a folder that lasts as long as the process, where nothing can be kept."""
    folder = tempfile.mkdtemp(prefix="offchip-libcxx-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _compile(name: str, out: Path) -> None:
    sources = wheel_folder()
    source = next(
        path
        for part in ("libcxx", "libcxxabi")
        if (path := sources / part / "src" / f"{name}.cpp").exists()
    )
    include = [f"-I{sources / folder}" for folder in _FOLDERS]
    with tempfile.TemporaryDirectory(prefix=".new-", dir=out.parent) as folder:
        fresh = Path(folder) / out.name
        # clang 22 cannot select instructions for what its optimiser makes of locales.
        plain = ["-O0"] if name == "locale" else []
        command = [
            *clang_command("C++"),
            *_FLAGS,
            *plain,
            *include,
            "-c",
            str(source),
            "-o",
            str(fresh),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ChildProcessError(
                f"{source} of the ziglang wheel was not compiled: {done.stderr}"
            )
        fresh.replace(out)


def _read_symbols(data: bytes, wanted: set[bytes], defined: set[bytes]) -> None:
    """Add the names of C++'s library that an object, or an archive's objects, want and define."""
    for _, member in archive_members(data):
        _read_symbols(member, wanted, defined)
    if data[:4] != b"\x7fELF":
        return
    (offset,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<II4QII2Q", data, offset + i * size) for i in range(count)]
    for _, kind, _, _, start, length, link, *_ in sections:
        if kind != _SYMTAB:
            continue
        names = sections[link][4]
        for at in range(start, start + length, 24):
            name, info, _, section = struct.unpack_from("<IBBH", data, at)
            text = data[names + name : data.index(b"\0", names + name)]
            # Local symbols are no offer to others.
            if info >> 4 and _NAME.match(text):
                (defined if section else wanted).add(text)
