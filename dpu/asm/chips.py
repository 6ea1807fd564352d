# SPDX-License-Identifier: BSD-3-Clause
"""What the chips have room for."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _isa

__all__ = ["CHIPS", "MAX_TASKLETS", "MRAM_BYTES", "Chip"]

# Of any chip.
MAX_TASKLETS = _isa.THREADS
MRAM_BYTES = _isa.MRAM


@dataclass(frozen=True)
class Chip:
    """What a chip has room for."""

    name: str
    tasklets: int
    instructions: int
    wram: int


CHIPS = {name: Chip(name, *sizes) for name, *sizes in _isa.chips()}
