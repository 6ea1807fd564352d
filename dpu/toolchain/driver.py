# SPDX-License-Identifier: BSD-3-Clause
"""From C sources and objects to a DPU program."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .compilers import Kind, Toolchain, find_toolchain
from .elf_reader import ElfFile
from .errors import CommandError, ToolchainError
from .layout import Stacks, linker_script
from .mram_access import check_mram_access
from .program import Program, make_program

__all__ = ["BuildOptions", "build", "compile_object", "link"]

_CHIPS = ("v1A", "v1B")
_OBJECTS = (".o", ".a")
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|0|[1-9]\d*)[uUlL]*")
_STACK_OF = re.compile(r"STACK_SIZE_TASKLET_(\d+)")


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """How to compile and link.

    Parameters
    ----------
    level : str
        ``-O0`` to ``-O3``, ``-Os`` or ``-Oz``.
    defines : mapping
        Macros; NR_TASKLETS, STACK_SIZE_DEFAULT and STACK_SIZE_TASKLET_n also say what tasklets the
        program has. None defines a macro without a value.
    includes : sequence of path
        Folders for headers, before those of the run time.
    system_includes : sequence of path
        Folders of the run time's headers.
    options : sequence of str
        Further ones for the compiler.
    chip : str
        ``v1A`` or ``v1B``.
    """

    level: str = "-O2"
    defines: Mapping[str, str | int | None] = field(default_factory=dict)
    includes: Sequence[str | os.PathLike[str]] = ()
    system_includes: Sequence[str | os.PathLike[str]] = ()
    options: Sequence[str] = ()
    chip: str = "v1A"

    def stacks(self) -> Stacks:
        """Return the tasklets and stacks that the macros tell."""
        sizes = {}
        for name, value in self.defines.items():
            match = _STACK_OF.fullmatch(name)
            if match:
                sizes[int(match[1])] = _number(name, value)
        default = Stacks()
        stacks = Stacks(
            _number("NR_TASKLETS", self.defines.get("NR_TASKLETS", default.tasklets)),
            _number("STACK_SIZE_DEFAULT", self.defines.get("STACK_SIZE_DEFAULT", default.size)),
            sizes,
        )
        stacks.check()
        return stacks

    def arguments(self) -> list[str]:
        """Return the compiler's arguments."""
        arguments = [self.level]
        for name, value in self.defines.items():
            arguments.append(f"-D{name}" if value is None else f"-D{name}={value}")
        arguments += [f"-I{os.fspath(folder)}" for folder in self.includes]
        for folder in self.system_includes:
            arguments += ["-isystem", os.fspath(folder)]
        return [*arguments, *self.options]


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
        C files; objects and archives of this toolchain.
    output : path
        Where the program goes.
    options : BuildOptions, optional
        How.
    toolchain : Toolchain, optional
        With what; what `find_toolchain` finds otherwise.

    Returns
    -------
    Program, optional
        What was written; None if the vendor's compiler did it.

    Raises
    ------
    CommandError
        If the compiler or the linker refuse; it has their text.
    ToolchainError
        If the program does not fit, or there is no compiler.
    """
    chosen = options if options is not None else BuildOptions()
    tools = toolchain if toolchain is not None else find_toolchain()
    if chosen.chip not in _CHIPS:
        raise ToolchainError(f"chip is {' or '.join(_CHIPS)}, not {chosen.chip!r}")
    if not sources:
        raise ToolchainError("there is nothing to compile")
    paths = [Path(source) for source in sources]
    if tools.kind is Kind.VENDOR:
        command = [*tools.compiler, f"-mcpu={chosen.chip}", *chosen.arguments()]
        _run([*command, *map(str, paths), "-o", os.fspath(output)])
        return None
    with tempfile.TemporaryDirectory(prefix="dpu-") as name:
        folder = Path(name)
        objects = []
        for index, path in enumerate(paths):
            if path.suffix in _OBJECTS:
                objects.append(path)
            else:
                objects.append(folder / f"{index}.o")
                compile_object(path, objects[-1], chosen, toolchain=tools)
        program = link(objects, chosen, toolchain=tools)
    Path(output).write_bytes(program.elf)
    return program


def compile_object(
    source: Path, output: Path, options: BuildOptions, *, toolchain: Toolchain
) -> str:
    """Compile a C file to an object and return the compiler's warnings.

    Raises
    ------
    CommandError
        If the compiler refuses the file.
    ToolchainError
        If the code reads or writes MRAM through a pointer.
    """
    common = [*toolchain.compiler, *toolchain.target_options]
    common += ["-D__DPU__", "-D__dpu__", f"-D__dpu_{options.chip}__"]
    sections = ["-ffunction-sections", "-fdata-sections"]
    # A name beside the output does not meet that of another build.
    text = output.with_name(output.name + ".ll")
    try:
        warnings = _run(
            [
                *(*common, *sections, *options.arguments()),
                *("-g1", "-S", "-emit-llvm", str(source), "-o", str(text)),
            ]
        )
        check_mram_access(text.read_text(errors="replace"), str(source))
        # The text is optimised: what remains is to select instructions.
        _run(
            [
                *(*common, *sections, options.level, "-Xclang", "-disable-llvm-passes"),
                *("-Wno-unused-command-line-argument", "-c", str(text), "-o", str(output)),
            ]
        )
    finally:
        text.unlink(missing_ok=True)
    return warnings


def link(objects: Sequence[Path], options: BuildOptions, *, toolchain: Toolchain) -> Program:
    """Link objects and archives and translate the result.

    Raises
    ------
    CommandError
        If the linker refuses, such as for symbols that are not defined.
    ToolchainError
        If the program does not fit.
    """
    stacks = options.stacks()
    with tempfile.TemporaryDirectory(prefix="dpu-") as name:
        script, linked = Path(name) / "dpu.ld", Path(name) / "linked.elf"
        script.write_text(linker_script(stacks))
        _run(
            [
                *(*toolchain.linker, "-m", "elf32lriscv", "--emit-relocs", "--nmagic"),
                *("--no-relax", "--gc-sections", "--color-diagnostics=never"),
                *("-T", str(script), "-o", str(linked), *map(str, objects)),
            ]
        )
        return make_program(ElfFile(linked.read_bytes()), stacks, chip=options.chip)


def _number(name: str, value: str | int | None) -> int:
    match = _NUMBER.fullmatch(str(value))
    if match is None:
        raise ToolchainError(f"{name} is a number, not {value!r}")
    return int(match[1], 0)


def _run(command: Sequence[str]) -> str:
    """Run a command and return what it wrote to its standard error."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise ToolchainError(f"{command[0]} does not run: {error}") from error
    if done.returncode:
        raise CommandError(done.returncode, command, done.stderr)
    return done.stderr
