# SPDX-License-Identifier: BSD-3-Clause
"""The loops of a mapping: their extents, and what larger and smaller tiles there are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["LoopPlace", "loops_of"]


@dataclass
class LoopPlace:
    """A loop.

    Attributes
    ----------
    path : str
        Of its tile.
    name : str
        Its rank variables.
    spatial : bool
        Whether it is spatial.
    tile : float
        Extent of its tile.
    einsums : list of str
        The Einsums below it.
    outer : list of float
        Extent that it cuts, for each Einsum below it.
    inner : list of float
        Tile of the next loop over the variable within it, or 1.
    """

    path: str
    name: str
    spatial: bool
    tile: float
    einsums: list[str] = field(default_factory=list)
    outer: list[float] = field(default_factory=list)
    inner: list[float] = field(default_factory=list)

    def larger(self) -> float | None:
        """Return the next larger tile that divides what the loop cuts."""
        ratios = [outer / self.tile for outer in self.outer]
        if any(not ratio.is_integer() for ratio in ratios):
            return None
        factor = _least_factor(math.gcd(*(int(ratio) for ratio in ratios)))
        return None if factor is None else self.tile * factor

    def smaller(self) -> float | None:
        """Return the next smaller tile that the loops within it divide."""
        ratios = [self.tile / inner for inner in self.inner]
        if any(not ratio.is_integer() for ratio in ratios):
            return None
        factor = _least_factor(math.gcd(*(int(ratio) for ratio in ratios)))
        return None if factor is None else self.tile / factor


def _least_factor(number: int) -> int | None:
    if number < 2:
        return None
    return next((p for p in range(2, math.isqrt(number) + 1) if number % p == 0), number)


def loops_of(problem: Mapping[str, Any]) -> list[LoopPlace]:
    """List the loops of a mapping, whose tiles a change may vary.

    Parameters
    ----------
    problem : dict
        The problem.
    """
    bounds = {einsum["name"]: einsum["variables"] for einsum in problem["einsums"]}
    found: dict[str, LoopPlace] = {}
    for einsum, way in _ways(problem["mapping"], "mapping", []):
        cut: dict[str, tuple[float, LoopPlace | None]] = {}
        for path, node in way:
            if node.get("initial") is not None:
                # Its first tile is another one, so that it cuts no single extent.
                continue
            spatial = "spatial" in node
            variable = node["spatial" if spatial else "temporal"]
            own = variable if isinstance(variable, str) else variable[einsum]
            names = {own} if isinstance(variable, str) else set(variable.values())
            extent, above = cut.get(own, (float(bounds[einsum][own]), None))
            tile = float(node["tile"]) if extent > 1 else 1.0
            place = found.setdefault(
                path, LoopPlace(path, "/".join(sorted(names)), spatial, float(node["tile"]))
            )
            place.einsums.append(einsum)
            place.outer.append(extent)
            if above is not None:
                above.inner.append(tile)
            cut[own] = tile, place
        for _, innermost in cut.values():
            if innermost is not None:
                innermost.inner.append(1.0)
    return list(found.values())


def _ways(
    nodes: list[dict[str, Any]], path: str, above: list[tuple[str, dict[str, Any]]]
) -> Iterator[tuple[str, list[tuple[str, dict[str, Any]]]]]:
    """Give each Einsum with the loops above its computation."""
    way = list(above)
    for number, node in enumerate(nodes):
        here = f"{path}[{number}]"
        if "temporal" in node or "spatial" in node:
            way.append((f"{here}.tile", node))
        elif "compute" in node:
            yield node["einsum"], way
        for word in ("sequential", "pipeline"):
            for branch, inner in enumerate(node.get(word, ())):
                yield from _ways(inner, f"{here}.{word}[{branch}]", way)
