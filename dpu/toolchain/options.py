# SPDX-License-Identifier: BSD-3-Clause
"""Options of a build."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..asm.chips import CHIPS, Chip, chip_with
from .errors import ToolchainError
from .stacks import Stacks

__all__ = ["COSTS", "BuildOptions"]

# Run times whose instruction counts the arithmetic may have.
COSTS = ("offchip", "upmem")

_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|0|[1-9]\d*)[uUlL]*")
_TASKLETS = "NR_TASKLETS"
_STACK_OF = re.compile(r"STACK_SIZE_TASKLET_(\d+)")


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """How to compile and link a program.

    Parameters
    ----------
    level : str
        ``-O0`` to ``-O3``, ``-Os`` or ``-Oz``.
    defines : mapping
        Macros. NR_TASKLETS (1 by default), STACK_SIZE_DEFAULT and STACK_SIZE_TASKLET_n also set the
        tasklets and stacks of the program. None defines a macro without a value.
    includes : sequence of path
        Folders of headers, searched before those of the run time.
    system_includes : sequence of path
        Folders of system headers.
    options : sequence of str
        More options for the compiler.
    link_options : sequence of str
        More options for the linker.
    chip : str
        ``v1A`` or ``v1B``.
    sizes : str
        Profile keys of its sizes, such as ``softWramKiB=32``, where they are others.
    runtime : bool
        Whether to use the headers and functions of the run time.
    costs : str
        ``offchip``: the fastest routines. ``upmem``: those whose instruction counts are near the
        rates published for UPMEM's compiler.
    language : str
        ``c`` or ``c++``; empty: by the suffix of each source.
    """

    level: str = "-O2"
    defines: Mapping[str, str | int | None] = field(default_factory=dict)
    includes: Sequence[str | os.PathLike[str]] = ()
    system_includes: Sequence[str | os.PathLike[str]] = ()
    options: Sequence[str] = ()
    link_options: Sequence[str] = ()
    chip: str = "v1A"
    sizes: str = ""
    runtime: bool = True
    costs: str = COSTS[0]
    language: str = ""

    def check(self) -> None:
        """Raise ToolchainError if the chip, its sizes or the costs are unknown."""
        if self.chip not in CHIPS:
            raise ToolchainError(f"chip must be {' or '.join(CHIPS)}, not {self.chip!r}")
        self.limits()
        if self.costs not in COSTS:
            raise ToolchainError(f"costs must be {' or '.join(COSTS)}, not {self.costs!r}")

    def limits(self) -> Chip:
        """Return the chip with its sizes."""
        try:
            return chip_with(self.chip, self.sizes)
        except ValueError as error:
            raise ToolchainError(str(error)) from None

    def stacks(self) -> Stacks:
        """Return the tasklets and stacks that the macros set."""
        sizes = {}
        for name, value in self.defines.items():
            match = _STACK_OF.fullmatch(name)
            if match:
                sizes[int(match[1])] = _number(name, value)
        default = Stacks()
        stacks = Stacks(
            _number(_TASKLETS, self.defines.get(_TASKLETS, default.tasklets)),
            _number("STACK_SIZE_DEFAULT", self.defines.get("STACK_SIZE_DEFAULT", default.size)),
            sizes,
            self.limits(),
        )
        stacks.check()
        return stacks

    def arguments(self) -> list[str]:
        """Return the compiler's arguments."""
        arguments = [self.level]
        # As in the vendor's driver: 1, unless any argument contains the word.
        if not any(_TASKLETS in text for text in [*self.defines, *self.options]):
            arguments.append(f"-D{_TASKLETS}=1")
        for name, value in self.defines.items():
            arguments.append(f"-D{name}" if value is None else f"-D{name}={value}")
        arguments += [f"-I{os.fspath(folder)}" for folder in self.includes]
        for folder in self.system_includes:
            arguments += ["-isystem", os.fspath(folder)]
        return [*arguments, *self.options]


def _number(name: str, value: str | int | None) -> int:
    match = _NUMBER.fullmatch(str(value))
    if match is None:
        raise ToolchainError(f"{name} must be a number, not {value!r}")
    return int(match[1], 0)
