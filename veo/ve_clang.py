# SPDX-License-Identifier: BSD-3-Clause
"""Vector Engine code without NEC's compilers: the clang of the ziglang wheel, and archives.

There is no linker for the VE here. Objects are put into an archive as they are, and the worker
links its members when it loads it; members that are archives serve the others.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from offchip.code_cache import digest
from offchip.libcxx import libcxx_macros
from offchip.outputs import written_file

__all__ = [
    "OLD_C",
    "archive_members",
    "clang_command",
    "clang_digest",
    "clang_flags",
    "find_libraries",
    "is_available",
    "is_ve_file",
    "wheel_folder",
    "write_library",
]

_TARGET = "--target=ve-unknown-linux-gnu"
# Headers that the host has too, as it has the same layouts of structures.
_INCLUDE = (
    "include",
    "libc/include/x86_64-linux-musl",
    "libc/include/generic-musl",
    "libc/include/any-linux-any",
)
# Position-independent code costs time, and objects are linked where they are loaded.
_LEFT_OUT = re.compile(r"-f(no-)?(pic|PIC|pie|PIE)|-pthread|-shared|-m(arch|tune)=.*")
# The assembler warns if one file of a table of lines has a checksum and others have none, as those
# of the fifth version have with libc++.
_LINES = "-fdebug-default-version=4"
# Written straight into an object, a mask register that is saved on the stack is read by the number
# in a scalar register instead of a constant (clang 22). The assembler writes the constant.
_BY_ASSEMBLER = ("-via-file-asm", "-Wno-unused-command-line-argument")
# The type that the headers have, and so the host; that of the VE is unsigned.
_WIDE = ("-Xclang", "-fwchar-type=int", "-Xclang", "-fsigned-wchar")
# clang of the wheel, with a correction.
_CLANG = Path(__file__).with_name("ve_structures.py")
# Headers of our own, which are looked into first.
_HEADERS = Path(__file__).parent / "include" / "ve_code"
_MAGIC = b"!<arch>\n"
# The header of a member: its name, and its size.
_MEMBER = re.compile(rb"(.{16}).{32}(\d+) *`\n", re.DOTALL)

#: Options with which clang warns, as NEC's compilers do, of what is an error of C99 and later.
OLD_C = tuple(
    f"-Wno-error={name}"
    for name in (
        "implicit-function-declaration",
        "implicit-int",
        "int-conversion",
        "return-mismatch",
        "incompatible-pointer-types",
        "incompatible-function-pointer-types",
    )
)


def is_available() -> bool:
    """Say whether the ziglang wheel, whose clang it is, is installed."""
    return importlib.util.find_spec("ziglang") is not None


def wheel_folder() -> Path:
    """Return the folder of the ziglang wheel with headers and sources."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("the ziglang wheel is not installed")
    return Path(spec.origin).parent / "lib"


def clang_command(language: str) -> list[str]:
    """Return the command that compiles C or C++ for the VE, with its headers.

    Parameters
    ----------
    language : {"C", "C++"}
    """
    headers = wheel_folder()
    folders = [*(["libcxx/include"] if language == "C++" else []), *_INCLUDE]
    # -P: modules in its folder are not the ones that it imports.
    command = [sys.executable, "-P", str(_CLANG), _TARGET, "-nostdinc", *_WIDE]
    command += [*_BY_ASSEMBLER, _LINES]
    command += ["-isystem", str(_HEADERS)]
    command += [word for folder in folders for word in ("-isystem", str(headers / folder))]
    if language == "C++":
        # A function may end without its value, as with NEC's: clang would leave out its end.
        command += ["-x", "c++", "-fno-exceptions", "-fno-strict-return"]
        command += libcxx_macros(services=True)
    else:
        command += OLD_C
    return command


def clang_digest(language: str) -> str:
    """Return a digest of that command and of what it reads: the wheel's version, our own files.

    Parameters
    ----------
    language : {"C", "C++"}
    """
    ours = [_CLANG, *sorted(path for path in _HEADERS.rglob("*") if path.is_file())]
    version = importlib.metadata.version("ziglang")
    return digest([version, *clang_command(language), *(path.read_bytes() for path in ours)])


def clang_flags(words: Sequence[str]) -> list[str]:
    """Return flags of another compiler without those that clang does not have for the VE.

    ``-g`` is added: the argument classes of a kernel are read from its debug info.
    """
    kept = [word for word in words if not _LEFT_OUT.fullmatch(word)]
    if not any(re.fullmatch(r"-g([0-3]|gdb.*|dwarf.*)?", word) for word in kept):
        kept.append("-g")
    return kept


def find_libraries(words: Sequence[str]) -> list[str]:
    """Return the archives that ``-l`` and ``-L`` of a link name.

    Libraries that are in no folder of ``-L`` are left out: the worker has the C library, and says
    what is missing when it loads the result.
    """
    folders = [word[2:] for word in words if word.startswith("-L")]
    names = [word[2:] for word in words if word.startswith("-l")]
    places = (Path(folder) / f"lib{name}.a" for name in names for folder in folders)
    return [str(path) for path in places if path.is_file() and _is_ve_archive(path)]


def is_ve_file(path: str | Path) -> bool:
    """Say whether a file is an object or program for the VE, or an archive with such objects."""
    data = Path(path).read_bytes()
    return _is_ve(data) or any(_is_ve(member) for _, member in archive_members(data))


def write_library(out: str | Path, inputs: Iterable[str | Path], *, whole: bool = False) -> None:
    """Write an archive of VE objects, which the worker links when it loads it.

    Parameters
    ----------
    out : path
        The file, whatever its name: ``kernel.so`` too.
    inputs : iterable of paths
        Objects, all of which are taken, and archives, of which the worker takes what is needed.
    whole : bool
        Whether all members of archives are taken.

    Raises
    ------
    ValueError
        An input is neither.
    """
    members = [(path.name, path.read_bytes()) for path in map(Path, inputs)]
    for name, data in members:
        if not _is_ve(data) and not data.startswith(_MAGIC):
            raise ValueError(f"{name} is no object or archive for the Vector Engine")
    if whole:
        members = [
            inner for name, data in members for inner in archive_members(data) or [(name, data)]
        ]
    with written_file(out) as path, open(path, "wb") as archive:
        archive.write(_MAGIC)
        for name, data in members:
            # Names are for messages, and have 15 characters at most.
            title = f"{name[:15]}/"
            archive.write(f"{title:<16}{0:<12}{0:<6}{0:<6}{'644':<8}{len(data):<10}`\n".encode())
            archive.write(data + b"\n" * (len(data) % 2))


def _is_ve(data: bytes) -> bool:
    return data[:4] == b"\x7fELF" and data[18:20] == (251).to_bytes(2, "little")


def _is_ve_archive(path: Path) -> bool:
    data = path.read_bytes()
    at = data.find(b"\x7fELF")
    return data.startswith(_MAGIC) and (at < 0 or _is_ve(data[at:]))


def archive_members(data: bytes) -> list[tuple[str, bytes]]:
    """List the names and contents of an archive's files, without its tables."""
    members = []
    names = b""
    at = len(_MAGIC) if data.startswith(_MAGIC) else len(data)
    while match := _MEMBER.match(data, at):
        title, size = match[1].rstrip(), int(match[2])
        content = data[match.end() : match.end() + size]
        at = match.end() + size + size % 2
        if title == b"//":
            names = content
        elif title not in (b"/", b"/SYM64/"):
            if re.fullmatch(rb"/\d+", title):
                title = names[int(title[1:]) :].split(b"\n")[0]
            members.append((title.rstrip(b"/").decode(errors="replace"), content))
    return members
