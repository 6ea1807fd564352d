# SPDX-License-Identifier: BSD-3-Clause
"""C++'s library for the Vector Engine: functions of libc++ that are not in its headers.

The ziglang wheel has their sources. Those that a program needs are compiled when it is linked, and
their objects are kept for the next one.
"""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path

from offchip.code_cache import digest, keep
from veo.ve_clang import archive_members, clang_command, clang_digest, wheel_folder

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
        A source cannot be compiled.
    """
    wanted: set[bytes] = set()
    defined: set[bytes] = set()
    for path in inputs:
        _read_symbols(Path(path).read_bytes(), wanted, defined)
    objects: list[Path] = []
    sources = iter(_SOURCES)
    offered: dict[Path, set[bytes]] = {}
    while missing := wanted - defined:
        found = next((path for path, offers in offered.items() if offers & missing), None)
        if found is not None:
            del offered[found]
            objects.append(found)
            _read_symbols(found.read_bytes(), wanted, defined)
        elif (name := next(sources, None)) is not None:
            path = _object_of(name)
            _read_symbols(path.read_bytes(), set(), offered.setdefault(path, set()))
        else:
            break
    return objects


def _object_of(name: str) -> Path:
    """Return the object of a source of libc++, which is compiled if it is not kept."""
    wheel = wheel_folder()
    source = next(
        path
        for part in ("libcxx", "libcxxabi")
        if (path := wheel / part / "src" / f"{name}.cpp").exists()
    )
    # clang 22 cannot select instructions for what its optimiser makes of locales.
    flags = [*_FLAGS, *(["-O0"] if name == "locale" else [])]
    flags += [f"-I{wheel / part}" for part in _FOLDERS]
    key = digest([clang_digest("C++"), *flags, str(source)])
    folder = keep("veo", f"libcxx-{key}", lambda new: _compile(source, flags, new))
    return folder / f"{name}.o"


def _compile(source: Path, flags: list[str], folder: Path) -> None:
    out = folder / f"{source.stem}.o"
    command = [*clang_command("C++"), *flags, "-c", str(source), "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ChildProcessError(f"{source} of the ziglang wheel was not compiled: {done.stderr}")


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
