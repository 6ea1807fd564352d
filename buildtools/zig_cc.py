#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A C compiler for wheels: ziglang's, for an old glibc, with nothing of this machine in its output.

Used as CC, with gcc's options. OFFCHIP_MACHINE is the processor, x86_64 or aarch64: this machine's
if it is not set. It differs from plain ``zig cc`` where that would make other binaries than gcc
does:

* ``zig cc`` refuses filter libraries (``-Wl,--filter``); they are linked with its ld.lld.
* It brings an unwinder of its own. In a program whose symbols others see (``-rdynamic``) that
  would take the place of libgcc_s, which C++ code that is loaded later throws with.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

__all__ = ["GLIBC", "MACHINE", "compiler_options", "filter_link", "main"]

GLIBC = "2.28"
MACHINE = os.environ.get("OFFCHIP_MACHINE") or os.uname().machine
TARGET = f"{MACHINE}-linux-gnu.{GLIBC}"

# Functions that the loader finds in the real library, with the versions that first had them.
UNWINDER = "void _Unwind_Backtrace(void) {}\nvoid _Unwind_GetIPInfo(void) {}\n"
UNWINDER_VERSIONS = (
    "GCC_3.3 { global: _Unwind_Backtrace; local: *; };\n"
    "GCC_4.2.0 { global: _Unwind_GetIPInfo; } GCC_3.3;\n"
)


def find_zig() -> str:
    """Path of the compiler that the ziglang package has."""
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        sys.exit(
            f"error: {sys.executable} has no package ziglang; install offchip's extra `wheels`"
        )
    return str(Path(spec.origin).with_name("zig"))


def compiler_options(folder: str) -> list[str]:
    """Options for every step: the target, and nothing that tells machines apart."""
    return ["-target", TARGET, "-g0", f"-ffile-prefix-map={folder}=."]


def filter_link(arguments: Sequence[str]) -> list[str] | None:
    """Give ld.lld's arguments for a link of a filter library, None for anything else."""
    if not any(word.startswith("-Wl,--filter=") for word in arguments):
        return None
    words = []
    for word in arguments:
        if word.startswith("-Wl,"):
            words += word.split(",")[1:]
        elif word in ("-shared", "-s", "-o") or not word.startswith("-"):
            words.append(word)
    return words


def _make_unwinder(zig: str, folder: Path) -> str:
    """Make a library to link with, as zig has no libgcc_s."""
    (folder / "unwinder.c").write_text(UNWINDER)
    (folder / "unwinder.map").write_text(UNWINDER_VERSIONS)
    made = str(folder / "libgcc_s.so.1")
    command = [zig, "cc", "-target", TARGET, "-O2", "-shared", "-fPIC", "-nostdlib"]
    command += [f"-Wl,--version-script={folder}/unwinder.map", "-Wl,-soname,libgcc_s.so.1"]
    subprocess.run([*command, str(folder / "unwinder.c"), "-o", made], check=True)
    return made


def _link(zig: str, arguments: list[str]) -> int:
    filtering = filter_link(arguments)
    if filtering is not None:
        return subprocess.run([zig, "ld.lld", *filtering]).returncode

    command = [zig, "cc", *compiler_options(os.getcwd()), "-s"]
    if "-rdynamic" not in arguments:
        return subprocess.run([*command, *arguments]).returncode

    with tempfile.TemporaryDirectory() as folder:
        unwinder = _make_unwinder(zig, Path(folder))
        return subprocess.run([*command, *arguments, unwinder]).returncode


def main(arguments: list[str]) -> int:
    """Compile or link as gcc would with these arguments."""
    zig = find_zig()
    if any(word in arguments for word in ("-c", "-S", "-E", "--version")):
        command = [zig, "cc", *compiler_options(os.getcwd()), *arguments]
        return subprocess.run(command).returncode
    return _link(zig, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
