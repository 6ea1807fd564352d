# SPDX-License-Identifier: BSD-3-Clause
"""The capacities of the chips, and of those that a program is built for instead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .. import _isa

__all__ = ["CHIPS", "MAX_TASKLETS", "MRAM_BYTES", "Chip", "chip_with", "sizes_of"]

# The largest of any chip.
# Of UPMEM's chips.
MAX_TASKLETS = _isa.THREADS
MRAM_BYTES = _isa.MRAM


@dataclass(frozen=True)
class Chip:
    """The capacities of a chip."""

    name: str
    tasklets: int
    instructions: int
    wram: int
    mram: int = MRAM_BYTES
    cache: int = 0

    @property
    def table_rows(self) -> int:
        """Tasklets that tables of a program have room for."""
        return max(MAX_TASKLETS, self.tasklets)


# DPU_CACHE_KIB_MOST of options.h.
_CACHE_MOST = 4096 << 10

CHIPS = {name: Chip(name, *sizes) for name, *sizes in _isa.chips()}

# Profile keys of sizes: the field, how many of its units the key counts, and the most of these.
_SIZES = {
    "softTasklets": ("tasklets", 1, _isa.THREADS_ROOM),
    "softIramInstructions": ("instructions", 1, _isa.IRAM),
    "softWramKiB": ("wram", 1024, _isa.WRAM_ROOM),
    "softMramMiB": ("mram", 1 << 20, MRAM_BYTES),
    "softCacheKiB": ("cache", 1024, _CACHE_MOST),
}


def chip_with(name: str, sizes: str = "") -> Chip:
    """Return a chip, with other sizes if there are any.

    Parameters
    ----------
    name : str
        One of `CHIPS`.
    sizes : str
        Keys of a profile that are sizes, such as ``softWramKiB=32,softTasklets=8``.

    Raises
    ------
    ValueError
        If there is another key, or a value that no chip has.
    """
    chip = CHIPS[name]
    for word in sizes.split(",") if sizes else ():
        key, _, value = word.partition("=")
        if key not in _SIZES:
            raise ValueError(f"sizes are {', '.join(_SIZES)}, not {word!r}")
        field, unit, most = _SIZES[key]
        number = int(value) if re.fullmatch("[0-9]{1,9}", value) else -1
        if not 0 <= number * unit <= most:
            raise ValueError(f"{key} must be a number from 0 to {most // unit}, not {value!r}")
        if number != 0:
            changed: dict[str, Any] = {field: number * unit}
            chip = replace(chip, **changed)
    return chip


def sizes_of(name: str, sizes: Mapping[str, int]) -> str:
    """Return the profile keys of sizes that are not the chip's own, for `chip_with()`.

    Parameters
    ----------
    name : str
        One of `CHIPS`.
    sizes : mapping
        Fields of `Chip`, with their values.
    """
    own = CHIPS[name]
    return ",".join(
        f"{key}={sizes[field] // unit}"
        for key, (field, unit, _) in _SIZES.items()
        if sizes[field] != getattr(own, field)
    )
