# SPDX-License-Identifier: BSD-3-Clause
"""Builds DPU programs from C sources and objects."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from offchip.code_cache import digest, keep

from ..elf.reader import ElfError, ElfFile
from ..stack import explain_small
from .commands import run
from .compilers import Kind, Toolchain, find_toolchain
from .errors import ToolchainError
from .frontend.assembly_text import ASSEMBLY, AssemblyUnit, preprocess_assembly
from .frontend.unit import Unit, compile_unit, preprocess
from .link.layout import linker_script
from .link.runtime import compiler_stamp, runtime_objects, runtime_stamp
from .options import BuildOptions

# The translator takes long to import, and a cached program does not need it.
if TYPE_CHECKING:
    from .link.program import Program

__all__ = ["BuildOptions", "build", "build_cached", "compile_source", "link", "read"]

# A preprocessed file.
Source = Unit | AssemblyUnit
_OBJECTS = (".o", ".obj", ".a")
_PROGRAM, _WARNINGS = "program", "warnings"


def build(
    sources: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    options: BuildOptions | None = None,
    *,
    toolchain: Toolchain | None = None,
) -> Program | None:
    """Compile and link a program.

    Parameters
    ----------
    sources : sequence of path
        Files of C, C++ and assembly (``.S``, ``.s``); objects and archives of this toolchain.
    output : path
        The file of the program.
    options : BuildOptions, optional
        How to build it.
    toolchain : Toolchain, optional
        The compiler; by default that of `find_toolchain`.

    Returns
    -------
    Program, optional
        The program; None if the vendor's compiler built it.

    Raises
    ------
    CommandError
        If the compiler or the linker fails; the message is its output.
    ToolchainError
        If the program does not fit, or no compiler is found.
    """
    chosen = options if options is not None else BuildOptions()
    tools = toolchain if toolchain is not None else find_toolchain()
    paths = _check(sources, chosen)
    if tools.kind is Kind.VENDOR:
        _build_by_vendor(tools, paths, Path(output), chosen)
        return None
    inputs = _preprocess(paths, chosen, tools)
    program, _ = _make(inputs, chosen, tools)
    _write(program.elf, Path(output))
    return program


def build_cached(
    sources: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    options: BuildOptions | None = None,
    *,
    toolchain: Toolchain | None = None,
    dependencies: Sequence[Sequence[str]] = (),
    runtime: bool = True,
) -> str:
    """Build a program, or take it from the cache; return the compiler's warnings.

    Parameters
    ----------
    sources, output, options, toolchain
        As for `build`.
    dependencies : sequence of sequence of str
        Preprocessor options for the dependency list of each source.
    runtime : bool
        Whether to link the run time; its headers can be included in any case.
    """
    chosen = options if options is not None else BuildOptions()
    tools = toolchain if toolchain is not None else find_toolchain()
    paths = _check(sources, chosen)
    if tools.kind is Kind.VENDOR:
        return _build_by_vendor(tools, paths, Path(output), chosen)
    inputs = _preprocess(paths, chosen, tools, dependencies)
    chosen = replace(chosen, runtime=chosen.runtime and runtime)

    def make(folder: Path) -> None:
        program, warnings = _make(inputs, chosen, tools)
        (folder / _PROGRAM).write_bytes(program.elf)
        (folder / _WARNINGS).write_text(warnings, errors="surrogateescape")

    folder = keep("dpu", f"program-{_name(inputs, chosen, tools)}", make)
    _write((folder / _PROGRAM).read_bytes(), Path(output))
    return (folder / _WARNINGS).read_text(errors="surrogateescape")


def link(objects: Sequence[Path | str], options: BuildOptions, *, toolchain: Toolchain) -> Program:
    """Link objects and archives, and translate the result.

    Raises
    ------
    CommandError
        If the linker fails, for example for undefined symbols.
    ToolchainError
        If the program does not fit.
    """
    from .link.program import make_program

    stacks = options.stacks()
    runtime: list[str] = []
    if options.runtime:
        tasklets = options.limits().tasklets
        members = map(str, runtime_objects(toolchain, options.chip, options.costs, tasklets))
        runtime = ["-u", "error_storage", "--start-lib", *members, "--end-lib"]
    with tempfile.TemporaryDirectory(prefix="dpu-") as name:
        script, linked = Path(name) / "dpu.ld", Path(name) / "linked.elf"
        script.write_text(linker_script(stacks, options.costs if options.runtime else None))
        run(
            [
                *(*toolchain.linker, "-m", "elf32lriscv", "--emit-relocs", "--nmagic"),
                *("--no-relax", "--gc-sections", "--color-diagnostics=never"),
                # `check_data` reports what does not fit, by name.
                "--no-check-sections",
                *("-T", str(script), "-o", str(linked)),
                *(*map(str, objects), *options.link_options, *runtime),
            ]
        )
        try:
            return make_program(ElfFile(linked.read_bytes()), stacks)
        except ElfError as error:
            raise ToolchainError(str(error)) from error


def _check(sources: Sequence[str | os.PathLike[str]], options: BuildOptions) -> list[Path]:
    options.check()
    if not sources:
        raise ToolchainError("no input files")
    return [Path(source) for source in sources]


def _preprocess(
    paths: Sequence[Path],
    options: BuildOptions,
    toolchain: Toolchain,
    dependencies: Sequence[Sequence[str]] = (),
) -> list[Source | Path]:
    """Preprocess C files; leave objects as they are."""
    further = [*dependencies, *([()] * (len(paths) - len(dependencies)))]
    return [
        path if path.suffix in _OBJECTS else read(path, options, toolchain=toolchain, further=asked)
        for path, asked in zip(paths, further, strict=True)
    ]


def read(
    source: Path, options: BuildOptions, *, toolchain: Toolchain, further: Sequence[str] = ()
) -> Source:
    """Preprocess a file of C, C++ or assembly."""
    if source.suffix in ASSEMBLY:
        return preprocess_assembly(source, options, toolchain=toolchain, further=further)
    return preprocess(source, options, toolchain=toolchain, further=further)


def compile_source(
    source: Source,
    output: Path,
    options: BuildOptions,
    *,
    toolchain: Toolchain,
    assembly: bool = False,
) -> str:
    """Compile a preprocessed file to an object, or to RISC-V assembly; return the warnings."""
    if isinstance(source, Unit):
        return compile_unit(source, output, options, toolchain=toolchain, assembly=assembly)
    # It imports the assembler, which C does not need.
    from .frontend.assembly_file import compile_assembly

    compile_assembly(source, output, toolchain=toolchain, assembly=assembly)
    return ""


def _make(
    inputs: Sequence[Source | Path], options: BuildOptions, toolchain: Toolchain
) -> tuple[Program, str]:
    warnings = ""
    with tempfile.TemporaryDirectory(prefix="dpu-") as name:
        objects = []
        for index, item in enumerate(inputs):
            if isinstance(item, Path):
                objects.append(item)
            else:
                objects.append(Path(name) / f"{index}.o")
                warnings += compile_source(item, objects[-1], options, toolchain=toolchain)
        program = link(objects, options, toolchain=toolchain)
    small = explain_small(program.elf) if options.runtime and "-w" not in options.options else None
    return program, warnings + (f"dpu-clang: warning: {small}\n" if small is not None else "")


def _name(inputs: Sequence[Source | Path], options: BuildOptions, toolchain: Toolchain) -> str:
    parts = [compiler_stamp(toolchain), runtime_stamp(), _own_stamp(), options.chip]
    parts += [repr(options.runtime), repr(options.stacks()), options.costs]
    parts += [*options.arguments(), "", *options.link_options, ""]
    contents: list[str | bytes] = []
    for item in inputs:
        if isinstance(item, Path):
            contents.append(item.read_bytes())
        else:
            contents += [str(item.source), item.text, repr(getattr(item, "language", ""))]
    libraries = [path.read_bytes() for path in _libraries(options.link_options)]
    return digest([*parts, *contents, *libraries])


def _libraries(options: Sequence[str]) -> list[Path]:
    """Return the files that the linker finds by its options."""
    folders = [Path(option[2:]) for option in options if option.startswith("-L")]
    found = [Path(option) for option in options if not option.startswith("-")]
    for option in options:
        if option.startswith("-l"):
            name = option[3:] if option.startswith("-l:") else f"lib{option[2:]}.a"
            found += [folder / name for folder in folders]
    return [path for path in found if path.is_file()]


@lru_cache(maxsize=1)
def _own_stamp() -> str:
    """Return a digest of the contents of the toolchain."""
    folder = Path(__file__).resolve().parent
    files = [
        *folder.glob("**/*.py"),
        *folder.parent.glob("asm/*.py"),
        *folder.parent.glob("dwarf/*.py"),
        *folder.parent.glob("_isa*.so"),
    ]
    return digest(part for file in sorted(files) for part in (file.name, file.read_bytes()))


def _build_by_vendor(
    toolchain: Toolchain, paths: Sequence[Path], output: Path, options: BuildOptions
) -> str:
    command = [*toolchain.compiler, f"-mcpu={options.chip}", *options.arguments()]
    # It builds for its own chip, and refuses others.
    command += [f"--sizes={options.sizes}"] if options.sizes else []
    command += [*map(str, paths), *options.link_options]
    _, warnings = run([*command, "-o", str(output)])
    return warnings


def _write(elf: bytes, output: Path) -> None:
    try:
        output.write_bytes(elf)
    except OSError as error:
        raise ToolchainError(f"cannot write {output}: {error.strerror}") from error
