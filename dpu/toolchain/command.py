# SPDX-License-Identifier: BSD-3-Clause
"""The commands ``dpu-upmem-dpurte-clang`` and ``-clang++``, which are ``dpu-clang`` too."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from offchip.outputs import make_executable, written_file
from offchip.sdk_places import place_hint

from .arguments import CPLUSPLUS_MODE, Arguments, Goal, parse
from .commands import run
from .compilers import Kind, Toolchain, find_toolchain
from .driver import build_cached, compile_source, read
from .errors import CommandError, ToolchainError
from .frontend.unit import preprocessor_command, run_preprocessor

__all__ = ["main", "main_cplusplus"]

_NAME = "dpu-clang"
_TARGET = "dpu-upmem-dpurte"
_USAGE = f"""usage: {_NAME} [options] file...
Compiles C and C++ for UPMEM's DPUs. The options are those of C compilers:
  -o FILE -c -S -E -M -MM -MD -MMD -MF FILE -MT GOAL -MP -fsyntax-only
  -O0 to -O3 -Os -Oz -I FOLDER -D NAME=VALUE -U NAME -include FILE -isystem FOLDER -std= -W* -f*
  -L FOLDER -l NAME -Wl,OPTION -u SYMBOL -nostdlib -mcpu=v1A|v1B --costs=offchip|upmem
  --sizes=softWramKiB=N,softMramMiB=N,softIramInstructions=N,softTasklets=N,softCacheKiB=N -x c|c++
-DNR_TASKLETS=N, -DSTACK_SIZE_DEFAULT=BYTES and -DSTACK_SIZE_TASKLET_n=BYTES are needed for linking
too. Objects contain RISC-V code, which is translated to DPU code when a program is linked.
Example: {_NAME} -O2 -g -DNR_TASKLETS=16 -o program main.c
"""
_OBJECTS = (".o", ".obj", ".a")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit status.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if "--help" in words:
            print(_USAGE, end="")
            return 0
        tools = find_toolchain()
        if tools.kind is Kind.VENDOR:
            # The vendor's run time has its own costs.
            words = [word for word in words if word != "--costs=upmem"]
            os.execv(tools.compiler[0], [tools.compiler[0], *words])
        if "--version" in words:
            print(_version(tools))
            return 0
        answer = _answer(words, tools)
        if answer is not None:
            print(answer)
            return 0
        if "-###" in words:
            return _show_commands([word for word in words if word != "-###"], tools)
        arguments = parse(words)
        if not arguments.inputs:
            raise ToolchainError("no input files")
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dpu-")))
            arguments.inputs = [_stored(name, folder) for name in arguments.inputs]
            _keep_from_compilers(arguments, stack)
            warnings = _COMMANDS[arguments.goal](arguments, tools)
        _say(warnings)
    except CommandError as error:
        _say(f"{error}\n{_hint(words)}")
        return 1
    except ToolchainError as error:
        text = str(error)
        # A message with a location reads like the compiler's own.
        _say(f"{text}\n" if ": error: " in text else f"{_NAME}: error: {text}\n")
        _say(_hint(words))
        return 1
    except OSError as error:
        _say(f"{_NAME}: error: {error}\n")
        return 1
    return 0


def main_cplusplus() -> int:
    """Run the command as ``dpu-upmem-dpurte-clang++``, which takes sources for C++."""
    return main([CPLUSPLUS_MODE, *sys.argv[1:]])


def _version(tools: Toolchain) -> str:
    from offchip import __version__

    return f"{_NAME} of offchip {__version__}, by {tools.describe()}\nTarget: {_TARGET}"


def _answer(words: Sequence[str], tools: Toolchain) -> str | None:
    """Return what build systems ask a compiler about itself; None if they do not."""
    for word in words:
        if word in ("-dumpmachine", "-print-target-triple", "-print-effective-triple"):
            return _TARGET
        if word == "-dumpversion":
            return ".".join(map(str, tools.version))
        if word.startswith(("-print-", "--print-")):
            # The answer is the compiler's own: programs, folders, files.
            return run([*tools.compiler, f"-{word.lstrip('-')}"])[0].rstrip("\n")
    return None


def _show_commands(words: Sequence[str], tools: Toolchain) -> int:
    """Print how sources are compiled, in quotes, and do nothing, as clang does for -###."""
    arguments = parse(words)
    _say(f"{_version(tools)}\n")
    for source in arguments.inputs:
        if Path(source).suffix not in _OBJECTS:
            command = preprocessor_command(Path(source), arguments.options, toolchain=tools)
            _say(" " + " ".join(f'"{word}"' for word in command) + "\n")
    return 0


def _hint(words: Sequence[str]) -> str:
    hint = place_hint(words, "dpu-env")
    return f"{hint}\n" if hint else ""


def _say(text: str) -> None:
    sys.stderr.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stderr.flush()


def _keep_from_compilers(arguments: Arguments, stack: contextlib.ExitStack) -> None:
    """Have files in place of outputs that are none, such as devices, until the stack is closed."""
    output, listed = arguments.output, arguments.dependency_file
    # The preprocessor's output is written by this process.
    if output is not None and arguments.goal in (Goal.PROGRAM, Goal.OBJECTS, Goal.ASSEMBLY):
        file = stack.enter_context(written_file(output))
        if file != Path(output):
            arguments.output = str(file)
            if arguments.dependency_options and not arguments.dependency_targets:
                arguments.dependency_targets = ["-MT", output]
    if listed is not None:
        file = stack.enter_context(written_file(listed))
        arguments.dependency_file = listed if file == Path(listed) else str(file)


def _stored(name: str, folder: Path) -> str:
    """Return the name of an input file; store the standard input in one."""
    if name != "-":
        return name
    path = folder / "stdin.c"
    path.write_bytes(sys.stdin.buffer.read())
    return str(path)


def _sources(arguments: Arguments) -> list[Path]:
    """Return the inputs for a goal that takes no objects."""
    paths = [Path(name) for name in arguments.inputs]
    for path in paths:
        if path.suffix in _OBJECTS:
            raise ToolchainError(f"{path}: objects cannot be used with {arguments.goal.value}")
    if arguments.output is not None and len(paths) > 1:
        raise ToolchainError(f"-o with {arguments.goal.value} requires a single source")
    return paths


def _dependencies(arguments: Arguments, output: str) -> list[str]:
    """Return the preprocessor's options for the dependency list of an output."""
    if not arguments.dependency_options:
        return []
    file = arguments.dependency_file or str(Path(output).with_suffix(".d"))
    targets = arguments.dependency_targets or ["-MT", output]
    return [*arguments.dependency_options, "-MF", file, *targets]


def _program(arguments: Arguments, tools: Toolchain) -> str:
    output = arguments.output or "a.out"
    asked = _dependencies(arguments, output)
    warnings = build_cached(
        arguments.inputs,
        output,
        arguments.options,
        toolchain=tools,
        dependencies=[asked] * len(arguments.inputs),
        runtime=arguments.runtime,
    )
    make_executable(output)
    return warnings


def _objects(arguments: Arguments, tools: Toolchain) -> str:
    warnings = ""
    assembly = arguments.goal is Goal.ASSEMBLY
    for source in _sources(arguments):
        output = arguments.output or source.stem + (".s" if assembly else ".o")
        asked = _dependencies(arguments, output)
        options = arguments.options
        unit = read(source, options, toolchain=tools, further=asked)
        warnings += compile_source(unit, Path(output), options, toolchain=tools, assembly=assembly)
    return warnings


def _preprocessed(arguments: Arguments, tools: Toolchain) -> str:
    further = []
    if arguments.goal is not Goal.PREPROCESSED:
        further = [arguments.goal.value, *arguments.dependency_targets]
        further += [o for o in arguments.dependency_options if o in ("-MP", "-MG")]

    output = arguments.output
    if arguments.goal is not Goal.PREPROCESSED:
        output = arguments.dependency_file or output
    texts, warnings = "", ""
    for source in _sources(arguments):
        asked = further or _dependencies(arguments, output or f"{source.stem}.o")
        text, said = run_preprocessor(source, arguments.options, toolchain=tools, further=asked)
        texts, warnings = texts + text, warnings + said

    data = texts.encode("utf-8", "surrogateescape")
    if output is None or output == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    else:
        Path(output).write_bytes(data)

    return warnings


def _checked(arguments: Arguments, tools: Toolchain) -> str:
    warnings = ""
    with tempfile.TemporaryDirectory(prefix="dpu-") as folder:
        for source in _sources(arguments):
            unit = read(source, arguments.options, toolchain=tools)
            warnings += compile_source(unit, Path(folder, "o"), arguments.options, toolchain=tools)
    return warnings


_COMMANDS = {
    Goal.PROGRAM: _program,
    Goal.OBJECTS: _objects,
    Goal.ASSEMBLY: _objects,
    Goal.PREPROCESSED: _preprocessed,
    Goal.CHECKED: _checked,
    Goal.DEPENDENCIES: _preprocessed,
    Goal.USER_DEPENDENCIES: _preprocessed,
}


if __name__ == "__main__":
    sys.exit(main())
