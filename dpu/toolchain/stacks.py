# SPDX-License-Identifier: BSD-3-Clause
"""The tasklets of a program and the sizes of their stacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..asm.chips import CHIPS, Chip
from .errors import ToolchainError

__all__ = ["Stacks"]

_ALIGNMENT = 16


@dataclass(frozen=True)
class Stacks:
    """The number of tasklets, their stack sizes in bytes, and the chip.

    Parameters
    ----------
    tasklets : int
        NR_TASKLETS.
    size : int
        STACK_SIZE_DEFAULT.
    sizes : mapping of int to int
        STACK_SIZE_TASKLET_n by n, where it differs from `size`.
    chip : Chip
        What runs them.
    """

    tasklets: int = 1
    size: int = 1024
    sizes: Mapping[int, int] = field(default_factory=dict)
    chip: Chip = CHIPS["v1A"]

    def check(self) -> None:
        """Raise ToolchainError if the chip cannot run these tasklets."""
        limits = self.chip
        if not 1 <= self.tasklets <= limits.tasklets:
            raise ToolchainError(
                f"NR_TASKLETS must be 1 to {limits.tasklets}, not {self.tasklets} ({limits.name})"
            )

        for tasklet, size in [(None, self.size), *self.sizes.items()]:
            name = "STACK_SIZE_DEFAULT" if tasklet is None else f"STACK_SIZE_TASKLET_{tasklet}"
            if tasklet is not None and not 0 <= tasklet < limits.table_rows:
                raise ToolchainError(f"{name}: tasklet numbers are 0 to {limits.table_rows - 1}")
            if not 0 <= size <= limits.wram:
                raise ToolchainError(f"{name} must be 0 to {limits.wram} bytes, not {size}")

    def of(self, tasklet: int) -> int:
        """Return the size of one tasklet's stack, rounded up to the stack alignment."""
        if tasklet >= self.tasklets:
            return 0
        return -(-self.sizes.get(tasklet, self.size) // _ALIGNMENT) * _ALIGNMENT
