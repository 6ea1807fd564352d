# SPDX-License-Identifier: BSD-3-Clause
"""Groups of pmappings that can be fused: the best for each structure and its tiles."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from accelforge import _model, _search
from accelforge.mapper.FFM.search import search
from tests.accelforge.mapper import mapspaces
from tests.accelforge.mapper.brute_force import loops_of, tile_choices, with_tiles
from tests.accelforge.mapper.mapspaces import Mapspace

Key = tuple[Any, ...]
TOTALS = [("total", "energy"), ("total", "latency")]


def chain_space(m: int, n: int, k: int, size: float, **mapper: float) -> Mapspace:
    """Z[m, n] = A[m, k] * B[k, n], where A and Z may stay in the buffer."""
    whole = mapspaces.gemm({"m": m, "n": n, "k": k}, glb=size, registers=6)
    names = ["A", "B", "Z"]
    places = mapspaces.placements(
        [("DRAM", ["B"], ["A", "Z"]), ("GB", [], names), ("NoC", [], []), ("Reg", ["B"], [])]
    )
    kept = [
        place for place in places if {holder["tensor"] for holder in place["holders"]} == {*names}
    ]
    return {
        **whole,
        "placements": kept,
        "shared": ["A", "Z"],
        "intermediate": ["A"],
        "tracked": [],
        "mapper": mapper,
    }


def structure(
    space: Mapspace, template: list[dict[str, Any]], tiles: tuple[int, ...]
) -> tuple[Key, Key, list[str]]:
    """Give the nodes and tiles that are fused, and the variables of the loops that count."""
    levels = [level["component"] for level in space["problem"]["einsums"][0]["levels"]]
    extents = dict(space["problem"]["einsums"][0]["variables"])
    loops = loops_of(template)
    last = {name: i for i, name in loops}
    seen: set[str] = set()
    nodes: list[Key] = []
    fused: list[int] = []
    counted: list[str] = []
    end: tuple[int, int, int] = (0, 0, 0)
    rest = iter(tiles)
    for i, node in enumerate(template):
        if "hold" in node:
            (tensor,) = node["tensors"]
            if tensor not in seen and tensor in space["shared"]:
                nodes.append(("hold", node["hold"], tensor))
                end = (len(nodes), len(fused), len(counted))
            seen.add(tensor)
        elif "compute" not in node:
            name = node.get("temporal") or node["spatial"]
            tile = next(rest)
            if tile != extents[name]:
                spatial = (node["component"], node["dim"]) if "spatial" in node else ()
                nodes.append(("spatial" if spatial else "temporal", *spatial, name))
                fused.append(tile)
                if last[name] != i:
                    counted.append(name)
            extents[name] = tile
    return (
        tuple(sort_holds(nodes[: end[0]], levels)),
        tuple(fused[: end[1]]),
        counted[: end[2]],
    )


def sort_holds(nodes: list[Key], levels: list[str]) -> Iterator[Key]:
    """Sort holders that have no loop between them."""
    run: list[Key] = []
    for node in [*nodes, None]:
        if node is not None and node[0] == "hold":
            run.append(node)
            continue
        yield from sorted(run, key=lambda hold: (levels.index(hold[1]), hold[2]))
        run = []
        if node is not None:
            yield node


def every_result(space: Mapspace, most: float) -> dict[tuple[Key, Key], set[tuple[float, ...]]]:
    """Evaluate all tiles of all templates, by structure and fused tiles."""
    bounds = space["problem"]["einsums"][0]["variables"]
    found: dict[tuple[Key, Key], set[tuple[float, ...]]] = {}
    for template in _search.list_templates(space):
        choices = tile_choices(template, bounds)
        try:
            model = _model.Model({**space["problem"], "mapping": with_tiles(template, choices[0])})
        except _model.ProblemError:
            continue
        table = np.array(choices, dtype=float)
        batch = model.evaluate_batch(
            {f"mapping[{i}].tile": table[:, c] for c, (i, _) in enumerate(loops_of(template))},
            columns=TOTALS,
            threads=1,
        )
        for tiles, status, values in zip(choices, batch.status, batch.values, strict=True):
            if status != 0:
                continue
            nodes, fused, counted = structure(space, template, tiles)
            if len(counted) > most or any(counted.count(name) > 1 for name in counted):
                continue
            found.setdefault((nodes, fused), set()).add(tuple(values.tolist()))
    return found


@pytest.mark.parametrize("most", [math.inf, 2, 1, 0])
def test_each_structure_has_its_best(most: float) -> None:
    space = chain_space(4, 4, 2, 12, max_fused_loops=most)
    every = every_result(space, most)
    groups, info = search(space)
    found: dict[tuple[Key, Key], list[tuple[float, ...]]] = {}
    for group in groups:
        for tiles, row in zip(group.tiles.tolist(), group.objectives.tolist(), strict=True):
            found.setdefault((group.nodes, tuple(tiles)), []).append(tuple(row))

    assert info["complete"]
    assert set(found) == set(every)
    for key, rows in found.items():
        for row in every[key]:
            assert any(
                all(a <= b * (1 + 1e-9) for a, b in zip(mine, row, strict=True)) for mine in rows
            ), key
        for row in rows:
            close = [other for other in every[key] if np.allclose(other, row, rtol=1e-9, atol=0)]
            assert close, key


def test_reservations_are_counted_by_depth() -> None:
    space = {**chain_space(4, 4, 2, 64), "tracked": ["GB"]}
    groups, _ = search(space)
    checked = 0
    for group in groups:
        for row in range(len(group)):
            result = _model.evaluate({**space["problem"], "mapping": group.mapping(row)})
            parts = [*group.reservations.items(), *group.shared.values()]
            own = sum(
                shares[row] for (memory, _), shares in group.reservations.items() if memory == "GB"
            )
            own += sum(shares[row] for memory, _, shares in group.shared.values() if memory == "GB")
            assert own == pytest.approx(result.as_dict().get(("reservation", "GB"), 0.0))
            depths = [depth for memory, depth in group.reservations]
            assert all(0 <= depth <= len(group.loops) for depth in depths)
            checked += bool(parts)
    assert checked > 0
