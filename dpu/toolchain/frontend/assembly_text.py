# SPDX-License-Identifier: BSD-3-Clause
"""Reads files of DPU assembly, through the preprocessor of C if they are named ``.S``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..commands import run
from ..compilers import Toolchain
from ..errors import ToolchainError
from ..options import BuildOptions
from ..target import RUNTIME_HEADERS, predefined_macros

__all__ = ["ASSEMBLY", "AssemblyUnit", "preprocess_assembly"]

ASSEMBLY = (".S", ".s")


@dataclass(frozen=True)
class AssemblyUnit:
    """A file of DPU assembly after preprocessing."""

    source: Path
    text: str


def preprocess_assembly(
    source: Path, options: BuildOptions, *, toolchain: Toolchain, further: Sequence[str] = ()
) -> AssemblyUnit:
    """Read a file; one named ``.S`` goes through the preprocessor.

    Raises
    ------
    CommandError
        If the preprocessor fails.
    ToolchainError
        If the file cannot be read.
    """
    if source.suffix == ".s":
        try:
            text = source.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError as error:
            raise ToolchainError(f"cannot read {source}: {error.strerror}") from error
        return AssemblyUnit(source, text)

    command = [*toolchain.compiler, *toolchain.target_options, *predefined_macros(options.limits())]
    command += [*options.arguments(), "-isystem", str(RUNTIME_HEADERS), *further]
    command += ["-Wno-unused-command-line-argument", "-E", "-x", "assembler-with-cpp"]
    text, _ = run([*command, str(source), "-o", "-"])
    return AssemblyUnit(source, text)
