# SPDX-License-Identifier: BSD-3-Clause
"""Places for the nodes of a graph: in layers, with few crossings and straight edges."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Places", "arrange"]

_SWEEPS = 12
# Large graphs get fewer sweeps: as many links as this may be visited in all.
_EFFORT = 60_000
_BESIDE = 16.0
_BETWEEN = 34.0
_MARGIN = 10.0
# Width of the place that an edge takes in a layer that it passes.
_LANE = 6.0

Edge = tuple[int, int]


@dataclass(frozen=True)
class Places:
    """Places to draw at.

    Attributes
    ----------
    nodes : list of tuple
        Center and top of each node.
    edges : list of list
        The points that each edge passes, from its first node to its second.
    size : tuple of float
        Width and height of the picture.
    """

    nodes: list[tuple[float, float]]
    edges: list[list[tuple[float, float]]]
    size: tuple[float, float]


def arrange(sizes: Sequence[tuple[float, float]], edges: Sequence[Edge]) -> Places:
    """Find places.

    Parameters
    ----------
    sizes : sequence of tuple
        Width and height of each node.
    edges : sequence of tuple
        Pairs of nodes, the upper one first; where that is impossible, as in a cycle, an edge goes
        up.
    """
    if not sizes:
        return Places([], [], (2 * _MARGIN, 2 * _MARGIN))
    turned = _back_edges(len(sizes), edges)
    down = [(b, a) if (a, b) in turned else (a, b) for a, b in edges if a != b]
    layer = _layers(len(sizes), down)
    widths, layer, chains = _with_lanes([width for width, _ in sizes], layer, down)

    rows: list[list[int]] = [[] for _ in range(max(layer) + 1)]
    for node, number in enumerate(layer):
        rows[number].append(node)
    links = [link for chain in chains for link in itertools.pairwise(chain)]
    sweeps = max(2, min(_SWEEPS, _EFFORT // max(len(links), 1)))
    rows = _order(rows, links, len(widths), sweeps)
    x = _columns(rows, links, widths, [chain[1:-1] for chain in chains], sweeps)
    y, height = _heights(rows, sizes)
    paths = dict(zip(down, chains, strict=True))
    return Places(
        [(x[node], y[layer[node]][0]) for node in range(len(sizes))],
        [_path(edge, edge in turned, paths, x, y, layer, sizes) for edge in edges],
        (max(x[n] + widths[n] / 2 for n in range(len(widths))) + _MARGIN, height),
    )


def _back_edges(count: int, edges: Sequence[Edge]) -> set[Edge]:
    """Find edges to turn so that there is no cycle: those back to what is being visited."""
    below: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        if a != b:
            below[a].append(b)
    turned, state = set(), [0] * count
    for root in range(count):
        if state[root]:
            continue
        state[root], stack = 1, [(root, iter(below[root]))]
        while stack:
            node, rest = stack[-1]
            for child in rest:
                if state[child] == 1:
                    turned.add((node, child))
                elif not state[child]:
                    state[child] = 1
                    stack.append((child, iter(below[child])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return turned


def _layers(count: int, edges: Sequence[Edge]) -> list[int]:
    """Put each node below all that have an edge to it, and what nothing leads to near its use."""
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        above[b].append(a)
        below[a].append(b)
    missing = [len(nodes) for nodes in above]
    ready = [node for node in range(count) if not missing[node]]
    layer = [0] * count
    for node in ready:
        for child in below[node]:
            layer[child] = max(layer[child], layer[node] + 1)
            missing[child] -= 1
            if not missing[child]:
                ready.append(child)
    for node in range(count):
        if not above[node] and below[node]:
            layer[node] = min(layer[child] for child in below[node]) - 1
    return layer


def _with_lanes(
    widths: list[float], layer: list[int], edges: Sequence[Edge]
) -> tuple[list[float], list[int], list[list[int]]]:
    """Add a node to each layer that an edge passes; give the nodes along each edge."""
    widths, layer, chains = list(widths), list(layer), []
    for a, b in edges:
        chain = [a]
        for number in range(layer[a] + 1, layer[b]):
            chain.append(len(widths))
            widths.append(_LANE)
            layer.append(number)
        chains.append([*chain, b])
    return widths, layer, chains


def _order(
    rows: list[list[int]], links: Sequence[Edge], count: int, sweeps: int
) -> list[list[int]]:
    """Sort each layer so that few links cross."""
    near: tuple[list[list[int]], list[list[int]]] = (
        [[] for _ in range(count)],
        [[] for _ in range(count)],
    )
    for a, b in links:
        near[0][b].append(a)
        near[1][a].append(b)

    best, fewest = rows, _crossings(rows, near[1])
    for sweep in range(sweeps):
        if not fewest:
            break
        rows = [list(row) for row in rows]
        numbers = range(1, len(rows)) if sweep % 2 == 0 else range(len(rows) - 2, -1, -1)
        for number in numbers:
            other = rows[number - 1] if sweep % 2 == 0 else rows[number + 1]
            place = {node: index for index, node in enumerate(other)}
            linked = near[sweep % 2]
            keys = {
                node: sum(place[n] for n in linked[node]) / len(linked[node])
                if linked[node]
                else index * len(other) / len(rows[number])
                for index, node in enumerate(rows[number])
            }
            rows[number].sort(key=keys.__getitem__)
        crossings = _crossings(rows, near[1])
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _crossings(rows: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> int:
    total = 0
    for upper, lower in itertools.pairwise(rows):
        place = {node: index for index, node in enumerate(lower)}
        seen: list[int] = []
        for node in upper:
            ends = sorted(place[child] for child in below[node])
            total += sum(len(seen) - bisect.bisect_right(seen, end) for end in ends)
            for end in ends:
                bisect.insort(seen, end)
    return total


def _columns(
    rows: Sequence[Sequence[int]],
    links: Sequence[Edge],
    widths: Sequence[float],
    lanes: Sequence[Sequence[int]],
    sweeps: int,
) -> list[float]:
    """Find the center of each node: near those that it is linked with, without overlaps."""
    near: list[list[int]] = [[] for _ in widths]
    for a, b in links:
        near[a].append(b)
        near[b].append(a)
    weights = [1.0] * len(widths)
    x = [0.0] * len(widths)

    def settle(target: Callable[[int], float]) -> None:
        for row in rows:
            places = _apart(row, [target(v) for v in row], [weights[v] for v in row], widths)
            for node, place in zip(row, places, strict=True):
                x[node] = place

    def between(node: int) -> float:
        return sum(x[n] for n in near[node]) / len(near[node]) if near[node] else x[node]

    settle(lambda node: 0.0)
    for _ in range(3 * sweeps):
        settle(between)
    # Then long edges become straight, and boxes make room.
    together = {lane: chain for chain in lanes for lane in chain}
    for lane in together:
        weights[lane] = 1000.0
    for _ in range(sweeps if together else 0):
        middle = {chain[0]: sum(x[n] for n in chain) / len(chain) for chain in lanes if chain}
        settle(lambda v: middle[together[v][0]] if v in together else between(v))  # noqa: B023
    left = min(x[node] - widths[node] / 2 for node in range(len(widths)))
    return [place - left + _MARGIN for place in x]


def _apart(
    row: Sequence[int], targets: Sequence[float], weights: Sequence[float], widths: Sequence[float]
) -> list[float]:
    """Find the places nearest to the targets (least squares) at which nodes do not overlap."""
    offsets = [0.0]
    for a, b in itertools.pairwise(row):
        offsets.append(offsets[-1] + (widths[a] + widths[b]) / 2 + _BESIDE)
    # Without their offsets, places may not fall: neighbours that would are pooled.
    pools: list[list[float]] = []
    for target, weight, offset in zip(targets, weights, offsets, strict=True):
        pools.append([target - offset, weight, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, heavy, many = pools.pop()
            last = pools[-1]
            last[0] = (last[0] * last[1] + mean * heavy) / (last[1] + heavy)
            last[1] += heavy
            last[2] += many
    flat = [mean for mean, _, many in pools for _ in range(int(many))]
    return [place + offset for place, offset in zip(flat, offsets, strict=True)]


def _heights(
    rows: Sequence[Sequence[int]], sizes: Sequence[tuple[float, float]]
) -> tuple[list[tuple[float, float]], float]:
    """Return top and bottom of each layer, and the height of the picture."""
    found, top = [], _MARGIN
    for row in rows:
        bottom = top + max((sizes[node][1] for node in row if node < len(sizes)), default=0.0)
        found.append((top, bottom))
        top = bottom + _BETWEEN
    return found, top - _BETWEEN + _MARGIN


def _path(
    edge: Edge,
    turned: bool,
    chains: dict[Edge, list[int]],
    x: Sequence[float],
    y: Sequence[tuple[float, float]],
    layer: Sequence[int],
    sizes: Sequence[tuple[float, float]],
) -> list[tuple[float, float]]:
    if edge[0] == edge[1]:
        return []
    chain = chains[edge[::-1] if turned else edge]
    first, *lanes, last = chain
    points = [(x[first], y[layer[first]][0] + sizes[first][1])]
    if sizes[first][1] < y[layer[first]][1] - y[layer[first]][0]:
        points.append((x[first], y[layer[first]][1]))
    for lane in lanes:
        points += [(x[lane], y[layer[lane]][0]), (x[lane], y[layer[lane]][1])]
    points.append((x[last], y[layer[last]][0]))
    return points[::-1] if turned else points
