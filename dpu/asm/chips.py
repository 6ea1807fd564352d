# SPDX-License-Identifier: BSD-3-Clause
"""What the chips have room for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CHIPS", "Chip"]


@dataclass(frozen=True)
class Chip:
    """What a chip has room for."""

    name: str
    tasklets: int
    instructions: int
    wram: int


CHIPS = {"v1A": Chip("v1A", 24, 4096, 65536), "v1B": Chip("v1B", 16, 3968, 63488)}
