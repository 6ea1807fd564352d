# SPDX-License-Identifier: BSD-3-Clause
"""The run-time objects that programs are linked with, compiled once per compiler and chip."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from offchip.code_cache import digest, keep, stamp_of

from ...asm.chips import CHIPS
from ..commands import run
from ..compilers import Toolchain
from ..errors import ToolchainError
from ..options import COSTS
from ..target import RUNTIME_HEADERS, RUNTIME_SOURCES, predefined_macros

__all__ = ["compiler_stamp", "runtime_objects", "runtime_stamp"]

_OPTIONS = ("-O2", "-std=gnu11", "-gdwarf-4", "-ffunction-sections", "-fdata-sections")


# The files that replace others with the same functions for `--costs=upmem`.
_UPMEM_COSTS = "costs_"


def runtime_objects(
    toolchain: Toolchain, chip: str, costs: str = COSTS[0], tasklets: int = 0
) -> list[Path]:
    """Return the objects of the run time; compile them on first use.

    Of two that have the same functions the first one counts.

    Parameters
    ----------
    toolchain : Toolchain
        The compiler.
    chip : str
        ``v1A`` or ``v1B``.
    costs : str
        One of `COSTS`.
    tasklets : int
        Tables have room for so many, and at least for those of the chip.

    Raises
    ------
    CommandError
        If the compiler fails.
    ToolchainError
        If the sources are missing.
    """
    sources = sorted(RUNTIME_SOURCES.glob("*.c"))
    if not sources:
        raise ToolchainError(
            f"run-time sources not found in {RUNTIME_SOURCES}: the installation is incomplete"
        )
    usual = CHIPS[chip]
    built_for = replace(usual, tasklets=max(usual.tasklets, tasklets))
    options = [
        *toolchain.target_options,
        *toolchain.code_options,
        *predefined_macros(built_for),
        *_OPTIONS,
    ]
    options += ["-isystem", str(RUNTIME_HEADERS), f"-I{RUNTIME_SOURCES}"]
    # Otherwise the objects depend on the working directory of the process that compiles them, which
    # is cut off the names of files below it. The root is never cut off.
    options.append("-fdebug-compilation-dir=/")

    def make(folder: Path) -> None:
        def compile(source: Path) -> None:
            output = folder / f"{source.stem}.o"
            run([*toolchain.compiler, *options, "-c", str(source), "-o", str(output)])

        with ThreadPoolExecutor(max(2, len(os.sched_getaffinity(0)))) as pool:
            list(pool.map(compile, sources))

    name = digest([compiler_stamp(toolchain), runtime_stamp(), *options])
    folder = keep("dpu", f"runtime-{name}", make)
    objects = [folder / f"{source.stem}.o" for source in sources]
    own = [path for path in objects if not path.name.startswith(_UPMEM_COSTS)]
    if costs != "upmem":
        return own
    return [*(path for path in objects if path.name.startswith(_UPMEM_COSTS)), *own]


@lru_cache(maxsize=1)
def runtime_stamp() -> str:
    """Return a stamp of this version of the run time."""
    files = [*sorted(RUNTIME_SOURCES.glob("*.*")), *sorted(RUNTIME_HEADERS.rglob("*.h"))]
    return digest(part for file in files for part in (file.name, file.read_bytes()))


@lru_cache(maxsize=16)
def compiler_stamp(toolchain: Toolchain) -> str:
    """Return a stamp of a compiler and its linker."""
    return digest(
        [
            toolchain.kind.value,
            *map(str, toolchain.version),
            stamp_of(toolchain.compiler[0]),
            stamp_of(toolchain.linker[0]),
        ]
    )
