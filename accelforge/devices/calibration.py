# SPDX-License-Identifier: BSD-3-Clause
"""Measures what one core of this host does in a second."""

from __future__ import annotations

import re
from functools import cache, partial
from pathlib import Path

import numpy as np

from accelforge.devices.figures import HostFigures
from accelforge.devices.host_programs import HostProgram, best_time

__all__ = ["measure_host"]

SOURCE = Path(__file__).with_name("host.c")
REPEAT = 15
MEMORY_BYTES = 64 << 20
LEAST_BYTES = 8 << 20  # that are moved in one call
STEPS = 200_000
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def _cache_size(level: int, default: int) -> int:
    """Return the size of a core's data cache of a level, as the kernel tells it."""
    for folder in sorted(CACHES.glob("index*")):
        try:
            found = [(folder / name).read_text().strip() for name in ("level", "type", "size")]
        except OSError:
            continue
        size = re.fullmatch(r"(\d+)K", found[2])
        if found[0] == str(level) and found[1] in ("Data", "Unified") and size:
            return int(size[1]) << 10
    return default


def measure_host() -> HostFigures:
    """Do what `accelforge.devices.calibrate` says, once for each process."""
    return _measure()


@cache
def _measure() -> HostFigures:
    # Where the kernel does not tell: what is usual, and not too large.
    first, second = _cache_size(1, 32 << 10), _cache_size(2, 512 << 10)
    with HostProgram(SOURCE) as program:
        seconds = best_time(partial(program.call, "multiply_and_add", STEPS), REPEAT)
        rates = [STEPS * program.call("lanes") / seconds]
        data = program.put(np.ones(MEMORY_BYTES // 8))
        for size in (first // 2, second // 2, MEMORY_BYTES):
            count = size // 8 // 512 * 512
            rounds = max(1, LEAST_BYTES // size)
            for loop in (
                partial(program.call, "load", data, count, rounds),
                partial(program.call, "store", data, count, rounds, 1.0),
            ):
                rates.append(8 * count * rounds / best_time(loop, REPEAT))
    return HostFigures(rates[0], first, second, *rates[1:])
