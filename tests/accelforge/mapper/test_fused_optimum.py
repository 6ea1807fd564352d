# SPDX-License-Identifier: BSD-3-Clause
"""Mappings of two Einsums that may be fused: the public call finds the best of all of them.

All mappings are made without the mapper, and evaluated with the model: any holders in any order,
any loops between them, and the tensor between the Einsums in either memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

pytest.importorskip("yaml")
pytest.importorskip("jinja2")

import accelforge as af
from accelforge import _model
from accelforge.mapper.FFM.mapspace import list_mapspaces
from tests.accelforge.mapper.brute import every_mapping, front
from tests.accelforge.mapper.small import COSTS, mac, memory, spec

Nodes = list[dict[str, Any]]
Point = tuple[float, float, float]

E, L, USAGE = af.Metrics.ENERGY, af.Metrics.LATENCY, af.Metrics.RESOURCE_USAGE
LARGE = 1e6
COLUMNS = ("energy", "latency")


def two_einsums(buffer: float) -> af.Spec:
    """Return a sum and a product, with a buffer that the tensor between them may stay in."""
    far = [{"name": name, "energy": 7, "throughput": 0.5} for name in ("read", "write")]
    main = af.arch.Memory(
        name="Main",
        size=float("inf"),
        tensors={"keep": "~Intermediates", "may_keep": "All"},
        actions=far,
        **COSTS,
    )
    given = spec(
        main,
        memory("Buffer", buffer, keep="~Main", may_keep="All"),
        mac(),
        einsums=["T[m] = A[m, k]", "Z[m, n] = T[m] * W[m, n]"],
        rank_sizes={"M": 4, "K": 2, "N": 2},
    )
    given.mapper.max_fused_loops_per_rank_variable = 100
    return given


# --- all mappings ---------------------------------------------------------------------------------


def evaluate(problem: dict[str, Any], mapping: Nodes) -> Point | None:
    """Return energy, latency and the bits that the buffer holds."""
    result = _model.evaluate({**problem, "mapping": mapping})
    if not result.valid:
        return None
    values = result.as_dict()
    used = values.get(("reservation", "Buffer"), 0.0) * LARGE
    return values["total", "energy"], values["total", "latency"], round(used, 6)


def is_outside(nodes: Nodes) -> bool:
    """Say whether the tensor between the Einsums is in the main memory."""
    return any("T" in node["tensors"] for node in nodes if node.get("hold") == "Main")


def split(nodes: Nodes) -> tuple[Nodes, Nodes]:
    """Split a mapping below the holder of the tensor between the Einsums."""
    place = next(i for i, node in enumerate(nodes) if "T" in node.get("tensors", ()))
    return nodes[: place + 1], nodes[place + 1 :]


def segments(nodes: Nodes) -> tuple[tuple[tuple[str, int], ...], list[Nodes]]:
    """Return the loops, and the holders above, between and below them."""
    loops: list[tuple[str, int]] = []
    held: list[Nodes] = [[]]
    for node in nodes:
        if "temporal" in node:
            loops.append((node["temporal"], node["tile"]))
            held.append([])
        else:
            held[-1].append(node)
    return tuple(loops), held


def fuse(first: Nodes, second: Nodes, names: list[str]) -> Nodes | None:
    """Return the mapping of both Einsums, or None if the loops above the tensor differ."""
    (above, below), (other_above, other_below) = split(first), split(second)
    loops, held = segments(above[:-1])
    other_loops, other_held = segments(other_above[:-1])
    if loops != other_loops:
        return None
    nodes: Nodes = []
    for place, pair in enumerate(zip(held, other_held, strict=True)):
        if place > 0:
            nodes.append({"temporal": loops[place - 1][0], "tile": loops[place - 1][1]})
        for name, holders in zip(names, pair, strict=True):
            nodes += [{**holder, "einsums": [name]} for holder in holders]
    return [*nodes, above[-1], {"sequential": [below, other_below]}]


@cache
def every_point() -> tuple[tuple[Point, ...], tuple[Point, ...]]:
    """Evaluate all mappings: those with the tensor in the main memory, and in the buffer."""
    spaces = list_mapspaces(two_einsums(LARGE))
    problems = [space.mapspace["problem"] for space in spaces]
    both = {**problems[0], "einsums": [problem["einsums"][0] for problem in problems]}
    names = [einsum["name"] for einsum in both["einsums"]]
    outside: list[set[Point]] = []
    inside: list[list[Nodes]] = []
    for space, problem in zip(spaces, problems, strict=True):
        mappings = list(every_mapping(space.mapspace))
        points = (evaluate(problem, nodes) for nodes in mappings if is_outside(nodes))
        outside.append({point for point in points if point is not None})
        inside.append([nodes for nodes in mappings if not is_outside(nodes)])

    # Einsums that share nothing in the buffer take turns in it.
    apart = {
        (a[0] + b[0], a[1] + b[1], max(a[2], b[2]))
        for a, b in itertools.product(front(outside[0]), front(outside[1]))
    }
    return tuple(apart), tuple(fused_points(inside, both, names))


def fused_points(
    inside: list[list[Nodes]], problem: dict[str, Any], names: list[str]
) -> Iterator[Point]:
    found: set[Point] = set()
    for first, second in itertools.product(*inside):
        nodes = fuse(first, second, names)
        point = evaluate(problem, nodes) if nodes is not None else None
        if point is not None:
            found.add(point)
    yield from found


# --- comparison -----------------------------------------------------------------------------------


def best(buffer: float, *columns: int) -> list[tuple[float, ...]]:
    """Return the front of what fits."""
    apart, fused = every_point()
    fitting = [point for point in (*apart, *fused) if point[2] <= buffer]
    return front({tuple(point[column] for column in columns) for point in fitting})


def mapped(buffer: float, metrics: af.Metrics) -> Any:
    given = two_einsums(buffer)
    given.mapper.metrics = metrics
    return given.map_workload_to_arch(print_progress=False)._table()


def assert_same(found: list[tuple[float, ...]], expected: list[tuple[float, ...]]) -> None:
    assert len(found) == len(expected)
    for mine, other in zip(sorted(found), expected, strict=True):
        assert mine == pytest.approx(other, rel=1e-9)


SIZES = [16, 24, 40, 64, 96, 1000]


@pytest.mark.parametrize("buffer", SIZES)
@pytest.mark.parametrize("metrics", [E, L, E | L])
def test_no_mapping_of_two_einsums_is_better(buffer: float, metrics: af.Metrics) -> None:
    columns = [i for i, metric in enumerate((E, L)) if metrics & metric]
    table = mapped(buffer, metrics)
    found = list(zip(*(table[f"Total<SEP>{COLUMNS[i]}"] for i in columns), strict=True))
    assert_same(found, best(buffer, *columns))


def test_no_mapping_of_two_einsums_takes_less_of_the_buffer() -> None:
    table = mapped(1000, E | USAGE)
    used = [share * 1000 for share in table["reservation<SEP>Buffer<SEP>-1<SEP>right"]]
    assert_same(list(zip(table["Total<SEP>energy"], used, strict=True)), best(1000, 0, 2))


def test_fusion_matters_here() -> None:
    """Some sizes need it for the best energy, with and without loops above the tensor."""
    apart, fused = every_point()
    gains = 0
    for buffer in SIZES:
        alone = [point[0] for point in apart if point[2] <= buffer]
        together = [point[0] for point in fused if point[2] <= buffer]
        gains += bool(together and alone and min(together) < min(alone))
    assert gains >= 3
