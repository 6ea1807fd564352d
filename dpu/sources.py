# SPDX-License-Identifier: BSD-3-Clause
"""Builds the program of `DpuSet.load()` from C and assembly sources."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

from dpu.asm.chips import sizes_of
from dpu.errors import DpuError
from offchip.code_cache import digest, keep

__all__ = ["building"]


@contextmanager
def building(
    c_source: Any, asm_source: Any, chip: Mapping[str, int] | None = None
) -> Iterator[str]:
    """Build a program in a temporary folder.

    Parameters
    ----------
    c_source, asm_source : str, path, text stream, list of them or None
        Paths of sources, or streams to read them from.
    chip : mapping, optional
        Number and sizes of the chip that it will run on: chip_id, tasklets, instructions, and
        bytes of wram and mram.

    Yields
    ------
    str
        Path of the program.
    """
    with tempfile.TemporaryDirectory(prefix="offchip-dpu-") as folder:
        c_files = _take_files(c_source, folder, ".c", 0)
        asm_files = _take_files(asm_source, folder, ".S", len(c_files))
        output = os.path.join(folder, "main.dpu")
        if c_files:
            _compile([*c_files, *asm_files], output, chip)
        else:
            _assemble(asm_files, output, chip)
        yield output


def _take_files(sources: Any, folder: str, suffix: str, first: int) -> list[str]:
    """Return the paths of sources; write those from streams to files."""
    if sources is None:
        return []
    if not isinstance(sources, (list, tuple)):
        sources = [sources]
    if not sources:
        raise DpuError("one and only one source or binary program must be defined")
    files = []
    for number, source in enumerate(sources, first):
        if isinstance(source, str) and "\n" in source:
            raise ValueError(
                "a source must be a path or a stream, not text: pass text as io.StringIO(text)"
            )
        if isinstance(source, (str, os.PathLike)):
            files.append(os.fspath(source))
        elif callable(getattr(source, "read", None)):
            text = source.read()
            data = text if isinstance(text, bytes) else text.encode()
            files.append(_store(data, folder, f"src{number}{suffix}"))
        else:
            raise TypeError(
                f"a source must be a path or a stream with read(), not {type(source).__name__}"
            )

    return files


def _store(data: bytes, folder: str, name: str) -> str:
    """Write the text of a stream to a file; return its path."""
    if name.endswith(".c"):
        # The same text always has the same path, which a compiled program contains.
        stored = keep("dpu", f"source-{digest([name, data])}", lambda new: _write(new / name, data))
        return str(stored / name)
    path = Path(folder, name)
    _write(path, data)
    return str(path)


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _assemble(sources: list[str], output: str, chip: Mapping[str, int] | None) -> None:
    try:
        assembler = import_module("dpu.asm")
    except ModuleNotFoundError as error:
        raise _missing("assembly sources", error) from error
    name, sizes = _chip_and_sizes(chip)
    assembler.assemble(sources, output, chip=name, sizes=sizes)


def _compile(sources: list[str], output: str, chip: Mapping[str, int] | None) -> None:
    try:
        compiler = import_module("dpu.compiler")
        toolchain = import_module("dpu.toolchain")
    except ModuleNotFoundError as error:
        raise _missing("C sources", error) from error
    try:
        toolchain.find_toolchain()
    except toolchain.ToolchainError as error:
        raise _missing("C sources", error) from error
    name, sizes = _chip_and_sizes(chip)
    try:
        compiler.Compiler(target=name, sizes=sizes).compile(sources, output=output)
    except CalledProcessError as error:
        # The message of the standard class only says that the command failed.
        if error.stderr and str(error.stderr).strip() not in str(error):
            error.add_note(str(error.stderr))
        raise


def _chip_and_sizes(chip: Mapping[str, int] | None) -> tuple[str, str]:
    """Return the name of a chip, and the profile keys of sizes that are not that chip's own."""
    if chip is None:
        return "v1A", ""
    sizes = dict(chip)
    name = "v1B" if sizes.pop("chip_id") > 8 else "v1A"
    return name, sizes_of(name, sizes)


def _missing(what: str, error: Exception) -> DpuError:
    return DpuError(
        f"{what} cannot be built here: {error}",
        detail="pass a program that was built elsewhere as `binary`",
    )
