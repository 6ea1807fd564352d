# SPDX-License-Identifier: BSD-3-Clause
"""All mappings of one small Einsum, made without the mapper, and what the engine says of them.

Holders stand in any order that the hierarchy of memories allows, and any loops stand between them;
the mapper leaves out what cannot be better.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from accelforge import _model

Nodes = list[dict[str, Any]]


def every_mapping(mapspace: dict[str, Any]) -> Iterator[Nodes]:
    """Yield the mappings of a mapspace without fan-outs."""
    einsum = mapspace["problem"]["einsums"][0]
    levels = [level["component"] for level in einsum["levels"]]
    leaf = {"compute": levels[-1], "einsum": einsum["name"]}
    for placement in mapspace["placements"]:
        holders = [(h["component"], h["tensor"]) for h in placement["holders"]]
        top = [holder for holder in holders if holder[0] == levels[0]]
        rest = [holder for holder in holders if holder[0] != levels[0]]
        for order in set(itertools.permutations(rest)):
            if _is_ordered(order, levels):
                for slots in _loops(einsum["variables"], len(rest) + 1):
                    yield [*_nodes([top, *([h] for h in order)], slots), leaf]


def _is_ordered(holders: tuple[tuple[str, str], ...], levels: list[str]) -> bool:
    heights = [levels.index(component) for component, _ in holders]
    return heights == sorted(heights)


def _loops(bounds: dict[str, int], slots: int) -> Iterator[tuple[Nodes, ...]]:
    """Yield the loops of each slot, in any order, whose innermost tiles are 1."""
    choices = [list(_chains(bound, slots)) for bound in bounds.values()]
    for chains in itertools.product(*choices):
        per_slot: list[Nodes] = []
        outer = dict(bounds)
        for slot in range(slots):
            loops = []
            for variable, chain in zip(bounds, chains, strict=True):
                if chain[slot] != outer[variable]:
                    loops.append({"temporal": variable, "tile": chain[slot]})
                outer[variable] = chain[slot]
            per_slot.append(loops)
        yield from itertools.product(
            *(list(map(list, itertools.permutations(loops))) for loops in per_slot)
        )


def _chains(bound: int, slots: int) -> Iterator[tuple[int, ...]]:
    """Yield the tiles of a variable in each slot; each divides the one before."""
    if slots == 1:
        yield (1,)
        return
    for tile in range(1, bound + 1):
        if bound % tile == 0:
            for rest in _chains(tile, slots - 1):
                yield (tile, *rest)


def _nodes(groups: list[list[tuple[str, str]]], slots: tuple[Nodes, ...]) -> Iterator[Any]:
    for group, loops in zip(groups, slots, strict=True):
        for component, tensor in group:
            yield {"hold": component, "tensors": [tensor]}
        yield from loops


def best(mapspace: dict[str, Any], *columns: str) -> list[tuple[float, ...]]:
    """Return the Pareto front over some totals of the engine."""
    found: set[tuple[float, ...]] = set()
    for mapping in every_mapping(mapspace):
        result = _model.evaluate({**mapspace["problem"], "mapping": mapping})
        if result.valid:
            values = result.as_dict()
            found.add(tuple(values["total", column] for column in columns))
    return front(found)


def front(rows: set[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Return the rows that no other row is better than."""
    return sorted(
        row
        for row in rows
        if not any(
            other != row and all(a <= b for a, b in zip(other, row, strict=True)) for other in rows
        )
    )
