# SPDX-License-Identifier: BSD-3-Clause
"""Runs C programs on the host: what those on the DPU are compared with.

The same compiler makes code of the host for a processor of 32 bits, whose structures and floating
point are as the DPU's. Where that code does not run, the host's own compiler takes its place.
"""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

from dpu.toolchain import Toolchain
from tests.support.builds import clean_environment

__all__ = ["START", "Reference", "find_reference"]

START = 14695981039346656037
_SOURCES = Path(__file__).resolve().parent / "reference"
_OF_32_BITS = ["--target=i386-unknown-linux-gnu", "-march=pentium4", "-malign-double", "-msse2"]
_OF_32_BITS += ["-mfpmath=sse", "-ffreestanding", "-fno-stack-protector", "-fno-pic"]


class Reference:
    """Compiles for the host and runs there.

    Parameters
    ----------
    compiler, linker : list of str
        Commands, to which arguments are added.
    start : str
        The file that starts the programs.
    is_same_compiler : bool
        Whether it is the one that makes the DPU's code.
    """

    def __init__(
        self, compiler: list[str], linker: list[str], start: str, *, is_same_compiler: bool
    ) -> None:
        self.compiler = compiler
        self.linker = linker
        self.start = _SOURCES / start
        self.is_same_compiler = is_same_compiler
        # Libraries preloaded under sanitizers are not for other programs.
        self._environment = clean_environment()

    def _run(self, *command: str, folder: Path) -> bytes:
        return subprocess.run(
            command, stdout=subprocess.PIPE, check=True, cwd=folder, env=self._environment
        ).stdout

    def hashes(
        self, texts: Sequence[str], options: Sequence[str], folder: Path, suffix: str = ".c"
    ) -> list[int]:
        """Return what programs compute, all of them in one process.

        Parameters
        ----------
        texts : sequence of str
            C programs; the one with number `i` has a function `body_<i>`.
        options : sequence of str
            For the compiler.
        folder : Path
            For files.
        suffix : str
            That of the programs' files: ``.cpp`` if they are C++, with `body_<i>` in C's way.
        """
        numbers = range(len(texts))
        calls = [f"void body_{n}(unsigned long long *h);" for n in numbers]
        calls += ["void write_hash(const unsigned long long *);", "void hash_all(void) {"]
        for n in numbers:
            calls.append(f"{{ unsigned long long h = {START}ull; body_{n}(&h); write_hash(&h); }}")
        names = ["all.c"]
        (folder / "all.c").write_text("\n".join([*calls, "}\n"]))
        for n, text in enumerate(texts):
            names.append(f"body_{n}{suffix}")
            (folder / names[-1]).write_text(text)
        self._run(*self.compiler, *options, "-c", str(self.start), *names, folder=folder)
        objects = [Path(name).with_suffix(".o").name for name in [self.start.name, *names]]
        self._run(*self.linker, *objects, "-o", "host", folder=folder)
        output = self._run(str(folder / "host"), folder=folder)
        return list(struct.unpack(f"<{len(texts)}Q", output))


def find_reference(toolchain: Toolchain, folder: Path) -> Reference:
    """Return the compiler of the DPU's code, if this host runs what it makes for 32 bits."""
    same = Reference(
        [*toolchain.compiler, *_OF_32_BITS],
        [*toolchain.linker, "-m", "elf_i386", "-static"],
        "start32.c",
        is_same_compiler=True,
    )
    try:
        if same.hashes(["void body_0(unsigned long long *h) { *h /= 3; }"], [], folder):
            return same
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"no code of 32 bits here, the host's own compiler instead: {error}")
    compiler = os.environ.get("CC", "gcc").split()
    return Reference([*compiler, "-ffp-contract=off"], compiler, "native.c", is_same_compiler=False)
