# SPDX-License-Identifier: BSD-3-Clause
"""Random pmappings of small workloads, evaluated one Einsum at a time."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from accelforge import _model
from accelforge.mapper.FFM.group import PmappingGroup
from accelforge.mapper.FFM.tree import NotJoinableError, build_tree
from tests.accelforge.package.problems import compute, memory

__all__ = ["brute_force", "evaluate", "front", "make_groups", "workload"]

Problem = dict[str, Any]


def workload(
    einsums: Sequence[dict[str, str]],
    sizes: dict[str, int],
    *,
    gb: float | str = "inf",
    copies: Sequence[int] = (),
) -> Problem:
    """Make a problem: each Einsum is {tensor: "rank rank"}, the output last; `p+r` is a rank."""
    made = []
    for i, tensors in enumerate(einsums):
        names = list(tensors)
        ranks = {name: tensors[name].split() for name in names}
        used = sorted({v for own in ranks.values() for rank in own for v in rank.split("+")})
        bits = dict.fromkeys(names, 8.0 + 0 * i)
        made.append(
            {
                "name": f"E{i}",
                "is_copy_operation": i in copies,
                "variables": {v: sizes[v] for v in used},
                "tensors": [
                    {
                        "name": name,
                        "output": name == names[-1],
                        "projection": [
                            {"terms": dict.fromkeys(rank.split("+"), 1)} if "+" in rank else rank
                            for rank in ranks[name]
                        ],
                    }
                    for name in names
                ],
                "levels": [
                    memory("MM", "inf", bits),
                    {
                        **memory("GB", gb, bits),
                        "spatial": [{"name": "X", "fanout": 4}],
                        "actions": [
                            {"name": "read", "energy": 0.11, "throughput": 3.0},
                            {"name": "write", "energy": 0.13, "throughput": 3.0},
                        ],
                    },
                    compute(),
                ],
            }
        )
    return {"format": "accelforge-problem", "version": 1, "einsums": made, "mapping": []}


def shared_tensors(problem: Problem) -> set[str]:
    """List the tensors that several Einsums use."""
    names = [tensor["name"] for einsum in problem["einsums"] for tensor in einsum["tensors"]]
    return {name for name in names if names.count(name) > 1}


def divisors(n: int) -> list[int]:
    """List the proper divisors of a number."""
    return [d for d in range(1, n) if n % d == 0]


def random_nodes(
    einsum: Problem,
    shared: set[str],
    rng: random.Random,
    *,
    most_loops: int,
    spatial: bool,
    persistent: bool,
) -> list[Problem]:
    """Make a random pmapping with tiles; it may be invalid."""
    extents = dict(einsum["variables"])
    loops: list[Problem] = []
    variables = rng.sample(list(extents), len(extents))
    for variable in variables[: rng.randint(0, most_loops)]:
        choices = divisors(extents[variable])
        if not choices:
            continue
        tile = rng.choice(choices)
        if spatial and rng.random() < 0.3 and extents[variable] // tile <= 4:
            if any("spatial" in loop for loop in loops):
                continue
            loops.append({"spatial": variable, "component": "GB", "dim": "X", "tile": tile})
        else:
            loops.append({"temporal": variable, "tile": tile})
        extents[variable] = tile

    slots: list[list[Problem]] = [[] for _ in range(len(loops) + 1)]
    for tensor in (t["name"] for t in einsum["tensors"]):
        place = rng.randint(0, len(loops))
        if persistent and rng.random() < 0.3:
            slots[0].append({"hold": "GB", "tensors": [tensor], "persistent": True})
            continue
        if tensor not in shared or rng.random() < 0.3:
            slots[0].insert(0, {"hold": "MM", "tensors": [tensor]})
            if rng.random() < 0.5:
                slots[place].append({"hold": "GB", "tensors": [tensor]})
        elif rng.random() < 0.1:
            slots[place].insert(0, {"hold": "MM", "tensors": [tensor]})
        else:
            slots[place].append({"hold": "GB", "tensors": [tensor]})
    nodes = []
    for slot, loop in itertools.zip_longest(slots, loops):
        top = [node for node in slot if node["hold"] == "MM"]
        rest = [node for node in slot if node["hold"] != "MM"]
        nodes += [*top, *rng.sample(rest, len(rest))]
        if loop is not None:
            nodes.append(loop)
    inner = [{"temporal": v, "tile": 1} for v, extent in extents.items() if extent > 1]
    return [*nodes, *inner, {"compute": "MAC", "einsum": einsum["name"]}]


def end_of_fused(nodes: list[Problem], shared: set[str]) -> int:
    """Count the nodes down to the lowest outermost holder of a shared tensor."""
    seen: set[str] = set()
    end = 0
    for i, node in enumerate(nodes):
        for tensor in node.get("tensors", ()):
            if tensor in shared and tensor not in seen:
                end = i + 1
            seen.add(tensor)
    return end


def relevance(einsum: Problem, tensor: str, variable: str) -> str:
    """Say how a loop over a variable concerns a tensor."""
    (found,) = (t for t in einsum["tensors"] if t["name"] == tensor)
    for rank in found["projection"]:
        if rank == variable:
            return "relevant"
        if not isinstance(rank, str) and variable in rank["terms"]:
            return "partly"
    return "irrelevant"


def reservations(
    einsum: Problem, nodes: list[Problem], loops: int
) -> Iterator[tuple[str, str, int, int, bool]]:
    """Give component, tensor, depths of reservation and holder, whether it is the outermost one."""
    seen: set[str] = set()
    for i, node in enumerate(nodes):
        if "hold" not in node:
            continue
        (tensor,) = node["tensors"]
        depth = sum("hold" not in before for before in nodes[:i])
        above = depth
        backing = tensor not in seen
        seen.add(tensor)
        for after in nodes[i + 1 :] if not (backing or einsum["is_copy_operation"]) else ():
            if "hold" in after or "compute" in after:
                break
            if "spatial" in after:
                if after["component"] != node["hold"]:
                    break
                depth += 1
                continue
            kind = relevance(einsum, tensor, after["temporal"])
            if kind == "irrelevant":
                break
            depth += 1
            if kind == "partly":
                break
        if node.get("persistent"):
            depth = -1
        yield node["hold"], tensor, min(depth, loops), min(above, loops), backing


def depends_on_order(einsum: Problem, nodes: list[Problem], end: int) -> bool:
    """Return whether a reservation would sink if the fused loops below it changed places.

    The mapper makes no such pmappings: a loop that a reservation could sink through is not needed.
    """
    seen: set[str] = set()
    for i, node in enumerate(nodes[:end]):
        if "hold" not in node:
            continue
        (tensor,) = node["tensors"]
        inner = tensor in seen
        seen.add(tensor)
        kinds = []
        for after in nodes[i + 1 : end] if inner else ():
            if "hold" in after:
                break
            variable = after["temporal"] if "temporal" in after else after["spatial"]
            kinds.append("spatial" in after or relevance(einsum, tensor, variable) == "irrelevant")
        if len(set(kinds)) > 1:
            return True
    return False


def make_groups(
    problem: Problem,
    rng: random.Random,
    *,
    tries: int,
    most_loops: int = 2,
    spatial: bool = False,
    persistent: bool = False,
    most_rows: int = 10**9,
) -> list[list[PmappingGroup]]:
    """Make groups of random pmappings for each Einsum."""
    shared = shared_tensors(problem)
    made = []
    for einsum in problem["einsums"]:
        alone = {**problem, "einsums": [einsum]}
        found: dict[Any, list[Any]] = {}
        texts: set[str] = set()
        for _ in range(tries):
            nodes = random_nodes(
                einsum,
                shared,
                rng,
                most_loops=most_loops,
                spatial=spatial,
                persistent=persistent,
            )
            if str(nodes) in texts or len(texts) >= most_rows:
                continue
            if depends_on_order(einsum, nodes, end_of_fused(nodes, shared)):
                continue
            try:
                result = _model.evaluate({**alone, "mapping": nodes})
            except _model.ProblemError:
                continue
            if not result.valid:
                continue
            texts.add(str(nodes))
            add_row(einsum, shared, nodes, result.as_dict(), found)
        made.append([make_group(einsum["name"], key, rows) for key, rows in found.items()])
    return made


def add_row(
    einsum: Problem,
    shared: set[str],
    nodes: list[Problem],
    values: dict[Any, float],
    found: dict[Any, list[Any]],
) -> None:
    """Add one pmapping to the rows of its structure."""
    end = end_of_fused(nodes, shared)
    loops = [node for node in nodes[:end] if "hold" not in node]
    structure: list[Any] = []
    own: dict[tuple[str, int], float] = {}
    backings: dict[str, tuple[str, int, float]] = {}
    stops = set()
    every = list(reservations(einsum, nodes, len(loops)))
    copy = einsum["is_copy_operation"]
    for component, tensor, depth, above, backing in every:
        key = ("usage_memory", einsum["name"], component, tensor)
        share = values.get(key)
        if share is None:
            # Of a copy one of the tensors in a memory is shown.
            keys = [k for k in values if k[:1] == ("usage_memory",) and k[2] == component]
            share = values[keys[0]] if keys else 0.0
        stops |= {depth, above}
        if backing and tensor in shared:
            backings[tensor] = (component, depth, share)
        elif (
            copy
            and any(t in shared and c == component and b for c, t, _, _, b in every if t != tensor)
        ) or (copy and any(c == component for c, t, _, _, b in every if t < tensor and b)):
            continue
        else:
            own[component, depth] = own.get((component, depth), 0) + share
    for node in nodes[:end]:
        if "hold" in node:
            (tensor,) = node["tensors"]
            if backings.get(tensor, ("",))[0] == node["hold"]:
                structure.append(("hold", node["hold"], tensor))
        elif "temporal" in node:
            structure.append(("temporal", node["temporal"]))
        else:
            structure.append(("spatial", node["component"], node["dim"], node["spatial"]))
    inside = tuple(sorted(s for s in stops if 0 < s < len(loops)))
    depths = tuple(sorted((tensor, depth) for tensor, (_, depth, _) in backings.items()))
    place = (tuple(structure), inside, tuple(sorted(own)), tuple(sorted(backings)), depths)
    objectives = (values["total", "energy"], values["total", "latency"])
    tiles = tuple(loop["tile"] for loop in loops)
    found.setdefault(place, []).append((objectives, tiles, own, backings, nodes))


def make_group(einsum: str, key: Any, rows: list[Any]) -> PmappingGroup:
    """Make a group of rows of one structure."""
    structure, stops, own, backings, _ = key
    return PmappingGroup(
        einsum=einsum,
        nodes=structure,
        stops=stops,
        objectives=np.array([row[0] for row in rows]),
        tiles=np.array([row[1] for row in rows], dtype=np.int64).reshape(len(rows), -1),
        reservations={
            place: np.array([row[2][place] for row in rows]) for place in own if place[1] >= 0
        },
        persistent={
            place: np.array([row[2][place] for row in rows]) for place in own if place[1] < 0
        },
        shared={
            tensor: (*rows[0][3][tensor][:2], np.array([row[3][tensor][2] for row in rows]))
            for tensor in backings
        },
        template=np.arange(len(rows), dtype=np.int32),
        full_tiles=[tuple(n["tile"] for n in row[4] if "tile" in n) for row in rows],
        templates=[[{k: v for k, v in n.items() if k != "tile"} for n in row[4]] for row in rows],
    )


def evaluate(problem: Problem, nodes: list[Problem]) -> dict[Any, float] | None:
    """Evaluate a mapping of the whole workload; None if it is invalid."""
    try:
        result = _model.evaluate({**problem, "mapping": nodes})
    except _model.ProblemError:
        return None
    return result.as_dict() if result.valid else None


def front(points: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Give the points that no other point dominates, each once, numbers rounded."""
    unique = sorted({tuple(float(f"{x:.9e}") for x in point) for point in points})
    return [
        p
        for p in unique
        if not any(q != p and all(a <= b for a, b in zip(q, p, strict=True)) for q in unique)
    ]


def brute_force(problem: Problem, groups: list[list[PmappingGroup]]) -> list[dict[Any, float]]:
    """Evaluate all combinations of pmappings that make a mapping."""
    choices = [
        [(g, row) for g, group in enumerate(own) for row in range(len(group))] for own in groups
    ]
    found = []
    for picks in itertools.product(*choices):
        try:
            nodes = build_tree(groups, picks, problem)
        except NotJoinableError:
            continue
        values = evaluate(problem, nodes)
        if values is not None:
            found.append(values)
    return found
