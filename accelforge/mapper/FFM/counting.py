# SPDX-License-Identifier: BSD-3-Clause
"""Sizes of mapspaces."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from typing import Any

__all__ = ["count_pmappings"]


def count_pmappings(mapspace: dict[str, Any]) -> int:
    """Return how many pmappings a mapspace has, whether they fit or not.

    Each template has one for each choice of tiles that divide the tiles around them.

    Parameters
    ----------
    mapspace : dict
        Of one Einsum.
    """
    from accelforge import _search

    bounds = mapspace["problem"]["einsums"][0]["variables"]
    total = 0
    for template in _search.list_templates(mapspace):
        loops = Counter(
            node.get("temporal", node.get("spatial"))
            for node in template
            if "temporal" in node or "spatial" in node
        )
        total += math.prod(_chains(bounds[name], count) for name, count in loops.items())
    return total


def _count_chains(bound: int, loops: int) -> int:
    """Return in how many ways a bound is a product of the iterations of loops, in order."""
    ways, factor = 1, 2
    while bound > 1:
        power = 0
        while bound % factor == 0:
            bound //= factor
            power += 1
        ways *= math.comb(power + loops - 1, loops - 1)
        factor = factor + 1 if factor * factor <= bound else max(bound, 2)
    return ways


_chains = lru_cache(maxsize=1 << 12)(_count_chains)
