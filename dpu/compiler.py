# SPDX-License-Identifier: BSD-3-Clause
"""Compiles C to DPU programs, with the interface of the vendor's package.

It uses the vendor's compiler if that is found, else `dpu.toolchain`.
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
        The command of the vendor's clang; by default what `dpu.toolchain.find_toolchain` finds.
    target : str, optional
        The chip, ``v1A`` or ``v1B``.
    verbose : bool
        Whether to write commands and warnings to the standard error.
    costs : str
        ``offchip``: the fastest arithmetic. ``upmem``: routines with instruction counts near those
        of the vendor's compiler.
    sizes : str
        Profile keys of the sizes of the chip, such as ``softWramKiB=32``, where they are others.
    """

    def __init__(
        self,
        path: str | None = None,
        target: str | None = None,
        verbose: bool = False,
        *,
        costs: str = "offchip",
        sizes: str = "",
    ) -> None:
        self.path = path
        self.target = target if target is not None else "v1A"
        self.verbose = verbose
        self.costs = costs
        self.sizes = sizes

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
            The file of the program, by default ``a.out``.
        includes : iterable of path
            Folders of headers.
        defines : mapping
            Macros; NR_TASKLETS and STACK_SIZE_DEFAULT also set the tasklets of the program.
        options : iterable of str
            More options for the compiler.
        target : str, optional
            The chip, by default that of the object.
        opt_lvl : str, optional
            One of this module's constants, by default `O2`.
        debug : bool
            Whether the vendor's compiler adds debug information.
        verbose : bool
            Whether to write this command to the standard error.

        Returns
        -------
        subprocess.CompletedProcess
            The command, and its warnings in `stderr`.

        Raises
        ------
        subprocess.CalledProcessError
            If the compiler or the linker fails, or the program does not fit; `stderr` says why.
        """
        if isinstance(sources, (str, os.PathLike)):
            sources = [sources]
        files = [os.fspath(source) for source in sources]
        goal = os.fspath(output) if output is not None else _DEFAULT_OUTPUT
        chosen = BuildOptions(
            level=opt_lvl if opt_lvl is not None else O2,
            defines=dict(defines) if defines is not None else {},
            includes=list(includes),
            options=list(options),
            chip=target if target is not None else self.target,
            costs=self.costs,
            sizes=self.sizes,
        )

        sizes = [f"--sizes={chosen.sizes}"] if chosen.sizes else []
        command = ["dpu-clang", f"-mcpu={chosen.chip}", *sizes, *chosen.arguments()]
        command += [*files, "-o", goal]
        is_verbose = self.verbose or verbose
        try:
            tools = self._toolchain()
            if tools.kind is Kind.VENDOR:
                return _run_vendor(tools, command, debug=debug, verbose=is_verbose)
            if is_verbose:
                print(*command, file=sys.stderr)
            warnings = build_cached(files, goal, chosen, toolchain=tools)
        except subprocess.CalledProcessError:
            raise
        except ToolchainError as error:
            raise subprocess.CalledProcessError(1, command, "", str(error)) from error

        if warnings and is_verbose:
            print(warnings, end="", file=sys.stderr)
        return subprocess.CompletedProcess(command, 0, "", warnings)

    def _toolchain(self) -> Toolchain:
        if self.path is not None:
            return Toolchain(Kind.VENDOR, (self.path,), (), ())
        return find_toolchain()


def _run_vendor(
    tools: Toolchain, command: list[str], *, debug: bool, verbose: bool
) -> subprocess.CompletedProcess[str]:
    """Run the vendor's compiler with the arguments of a command."""
    # The vendor's own order has these before the sources.
    first = [f"--target={_TARGET}", *(["-g"] if debug else [])]
    own = [tools.compiler[0], *first, *command[1:]]
    if verbose:
        print(*own, file=sys.stderr)
    return subprocess.run(own, capture_output=True, text=True, check=True)
