# SPDX-License-Identifier: BSD-3-Clause
"""Compiles C to DPU programs, with the interface of the vendor's package.

The compiler is the vendor's if it is found, else `dpu.toolchain`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping

from .toolchain import BuildOptions, ToolchainError, build_cached, find_toolchain
from .toolchain.compilers import Kind, Toolchain

__all__ = ["O0", "O1", "O2", "O3", "Compiler", "Os", "Oz"]

O0, O1, O2, O3, Os, Oz = "-O0", "-O1", "-O2", "-O3", "-Os", "-Oz"

_TARGET = "dpu-upmem-dpurte"
_DEFAULT_OUTPUT = "a.out"


class Compiler:
    """A compiler for DPU programs.

    Parameters
    ----------
    path : str, optional
        Command of a clang of the vendor's; without it `dpu.toolchain.find_toolchain` looks for one.
    target : str, optional
        The chip, ``v1A`` or ``v1B``.
    verbose : bool
        Whether commands and warnings are written to the standard error.
    """

    def __init__(
        self, path: str | None = None, target: str | None = None, verbose: bool = False
    ) -> None:
        self.path = path
        self.target = target if target is not None else "v1A"
        self.verbose = verbose

    def compile(
        self,
        sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        output: str | os.PathLike[str] | None = None,
        includes: Iterable[str | os.PathLike[str]] = (),
        defines: Mapping[str, str | int | None] | None = None,
        options: Iterable[str] = (),
        target: str | None = None,
        opt_lvl: str | None = None,
        debug: bool = True,
        verbose: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Compile and link a program.

        Parameters
        ----------
        sources : path or iterable of path
            C files and objects.
        output : path, optional
            Where the program goes: ``a.out`` otherwise.
        includes : iterable of path
            Folders for headers.
        defines : mapping
            Macros; NR_TASKLETS and STACK_SIZE_DEFAULT also say what tasklets the program has.
        options : iterable of str
            Further ones for the compiler.
        target : str, optional
            The chip, instead of that of the object.
        opt_lvl : str, optional
            One of this module's constants; `O2` otherwise.
        debug : bool
            Whether the vendor's compiler is asked for debug information.
        verbose : bool
            Whether this command is written to the standard error.

        Returns
        -------
        subprocess.CompletedProcess
            What was done.

        Raises
        ------
        subprocess.CalledProcessError
            If the compiler or the linker refuse, or the program does not fit; `stderr` has why.
        """
        if isinstance(sources, (str, os.PathLike)):
            sources = [sources]
        files = [os.fspath(source) for source in sources]
        goal = os.fspath(output) if output is not None else _DEFAULT_OUTPUT
        further = list(options)
        chosen = BuildOptions(
            level=opt_lvl if opt_lvl is not None else O2,
            defines=dict(defines) if defines is not None else {},
            includes=list(includes),
            options=further,
            chip=target if target is not None else self.target,
        )
        command = ["dpu-clang", f"-mcpu={chosen.chip}", *chosen.arguments(), *files, "-o", goal]
        try:
            tools = self._toolchain()
            if tools.kind is Kind.VENDOR:
                command[0] = tools.compiler[0]
                # The vendor's own order has these before the sources.
                command[1:1] = [f"--target={_TARGET}", *(["-g"] if debug else [])]
            if self.verbose or verbose:
                print(*command, file=sys.stderr)
            if tools.kind is Kind.VENDOR:
                return subprocess.run(command, capture_output=True, text=True, check=True)
            warnings = build_cached(files, goal, chosen, toolchain=tools)
        except subprocess.CalledProcessError:
            raise
        except ToolchainError as error:
            raise subprocess.CalledProcessError(1, command, "", str(error)) from error
        if warnings and (self.verbose or verbose):
            print(warnings, end="", file=sys.stderr)
        return subprocess.CompletedProcess(command, 0, "", warnings)

    def _toolchain(self) -> Toolchain:
        if self.path is not None:
            return Toolchain(Kind.VENDOR, (self.path,), (), ())
        return find_toolchain()
