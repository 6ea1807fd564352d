# SPDX-License-Identifier: BSD-3-Clause
"""Measures what one core of this host does in a second."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np

from accelforge.devices.figures import HostFigures
from accelforge.devices.host_programs import HostProgram

__all__ = ["measure_host"]

SOURCE = Path(__file__).with_name("host.c")
RUNS = 25
MEMORY_BYTES = 64 << 20
LEAST_BYTES = 4 << 20  # that are moved in one call
STEPS = 50_000
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


def cache_sizes() -> tuple[int, int]:
    """Return the sizes of the first and of the second level of the cache."""
    # Defaults where the kernel reports no size: usual ones, and not too large.
    return _cache_size(1, 32 << 10), _cache_size(2, 512 << 10)


def measure_host() -> HostFigures:
    """Do what `accelforge.devices.calibrate` says, once for each process."""
    return _measure()


@cache
def _measure() -> HostFigures:
    first, second = cache_sizes()
    with HostProgram(SOURCE) as program:
        fma = program.call("fma_rate", RUNS, STEPS)
        data = program.put(np.ones(MEMORY_BYTES // 8))
        rates = []
        for size in (first // 2, second // 2, MEMORY_BYTES):
            count = size // 8 // 512 * 512
            rounds = max(1, LEAST_BYTES // size)
            rates += [
                program.call(name, RUNS, data, count, rounds)
                for name in ("load_rate", "store_rate")
            ]
        count = first // 2 // 8 // 512 * 512
        vector = program.call("vector_bytes")
        unaligned = program.call("load_rate", RUNS, data + 8, count, LEAST_BYTES // first)
    l1, l2, memory = rates[:2], rates[2:4], rates[4:]
    return HostFigures(
        fma, first, second, l1[0], l1[1], l2[0], l2[1], memory[0], memory[1], unaligned, vector
    )
