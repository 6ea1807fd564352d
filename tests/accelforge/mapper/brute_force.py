# SPDX-License-Identifier: BSD-3-Clause
"""Tries all tiles of templates, and finds what is best, in Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from accelforge import _model

__all__ = ["chains", "evaluate", "every_row", "front", "tile_choices"]

Nodes = list[dict[str, Any]]
Row = tuple[float, ...]


def chains(bound: int, loops: int) -> Iterator[tuple[int, ...]]:
    """List the tiles of loops over one variable, from the outermost; the last is 1."""
    if loops == 1:
        yield (1,)
        return
    for tile in range(1, bound + 1):
        if bound % tile == 0:
            yield from ((tile, *rest) for rest in chains(tile, loops - 1))


def loops_of(template: Nodes) -> list[tuple[int, str]]:
    """Give the place and the variable of each loop."""
    found = ((i, node.get("temporal") or node.get("spatial")) for i, node in enumerate(template))
    return [(i, name) for i, name in found if name is not None]


def tile_choices(template: Nodes, bounds: dict[str, int]) -> list[tuple[int, ...]]:
    """List all tiles of a template's loops."""
    loops = loops_of(template)
    names = sorted({name for _, name in loops})
    places = [[k for k, (_, other) in enumerate(loops) if other == name] for name in names]
    found = []
    for chosen in itertools.product(
        *(chains(bounds[name], len(mine)) for name, mine in zip(names, places, strict=True))
    ):
        tiles = [0] * len(loops)
        for mine, chain in zip(places, chosen, strict=True):
            for k, tile in zip(mine, chain, strict=True):
                tiles[k] = tile
        found.append(tuple(tiles))
    return found


def with_tiles(template: Nodes, tiles: Iterable[int]) -> Nodes:
    """Give the loops of a template tiles."""
    rest = iter(tiles)
    return [
        {**node, "tile": next(rest)} if "temporal" in node or "spatial" in node else node
        for node in template
    ]


def evaluate(problem: dict[str, Any], mapping: Nodes) -> Any:
    """Evaluate a mapping with the model."""
    return _model.evaluate({**problem, "mapping": mapping})


def every_row(
    problem: dict[str, Any],
    templates: Iterable[Nodes],
    columns: list[tuple[str, ...]],
    allows: Callable[[Nodes], bool] = lambda mapping: True,
) -> set[Row]:
    """Give columns of all valid mappings of templates; those that one does not have are 0."""
    bounds = problem["einsums"][0]["variables"]
    found: set[Row] = set()
    for template in templates:
        tiles = [t for t in tile_choices(template, bounds) if allows(with_tiles(template, t))]
        if not tiles:
            continue
        choices = np.array(tiles, dtype=float)
        try:
            model = _model.Model({**problem, "mapping": with_tiles(template, choices[0])})
        except _model.ProblemError:
            continue
        known = [column for column in columns if column in model.columns]
        batch = model.evaluate_batch(
            {f"mapping[{i}].tile": choices[:, k] for k, (i, _) in enumerate(loops_of(template))},
            columns=known,
            threads=1,
        )
        for values in batch.values[batch.status == 0]:
            named = dict(zip(known, values.tolist(), strict=True))
            found.add(tuple(named.get(column, 0.0) for column in columns))
    return found


def front(rows: Iterable[Row]) -> list[Row]:
    """Keep the rows that no other is as good as, up to rounding."""

    def as_good(a: Row, b: Row) -> bool:
        return all(x <= y * (1 + 1e-9) + 1e-300 for x, y in zip(a, b, strict=True))

    kept: list[Row] = []
    for row in sorted(rows):
        if not any(as_good(other, row) for other in kept):
            kept.append(row)
    return kept
