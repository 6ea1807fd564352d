# SPDX-License-Identifier: BSD-3-Clause
"""The capacities of the chips."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _isa

__all__ = ["CHIPS", "MAX_TASKLETS", "MRAM_BYTES", "Chip"]

# The largest of any chip.
MAX_TASKLETS = _isa.THREADS
MRAM_BYTES = _isa.MRAM


@dataclass(frozen=True)
class Chip:
    """The capacities of a chip."""

    name: str
    tasklets: int
    instructions: int
    wram: int


CHIPS = {name: Chip(name, *sizes) for name, *sizes in _isa.chips()}
