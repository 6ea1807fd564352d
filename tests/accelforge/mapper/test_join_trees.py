# SPDX-License-Identifier: BSD-3-Clause
"""Whole mappings, taken apart into pmappings, are joined again."""

from __future__ import annotations

import random
from typing import Any

import pytest

from accelforge import _model
from accelforge._join import join
from tests.accelforge.mapper.random_pmappings import (
    add_row,
    depends_on_order,
    divisors,
    end_of_fused,
    evaluate,
    make_group,
    shared_tensors,
    workload,
)
from tests.support.full import share

Problem = dict[str, Any]

CHAIN = [
    {"A": "m k", "W": "k n", "B": "m n"},
    {"B": "m n", "V": "n q", "C": "m q"},
    {"C": "m q", "U": "q s", "D": "m s"},
]
DIAMOND = [
    {"A": "m k", "W": "k n", "B": "m n"},
    {"B": "m n", "C": "m n"},
    {"B": "m n", "D": "m n"},
    {"C": "m n", "D": "m n", "E": "m n"},
]
SKIP = [
    {"A": "m k", "W": "k n", "B": "m n"},
    {"B": "m n", "C": "m n"},
    {"C": "m n", "V": "n q", "D": "m q"},
    {"B": "m n", "D": "m q", "E": "m n"},
]
SIZES = {"m": 8, "k": 2, "n": 4, "q": 2, "s": 2}


class Planter:
    """Makes a random tree."""

    def __init__(self, problem: Problem, rng: random.Random) -> None:
        self.einsums = problem["einsums"]
        self.rng = rng

    def users(self, tensor: str) -> list[int]:
        return [
            i for i, e in enumerate(self.einsums) if any(t["name"] == tensor for t in e["tensors"])
        ]

    def tree(self, first: int, last: int, held: set[str], extents: dict[str, int]) -> list[Any]:
        """Make the nodes for some Einsums, below holders of `held`."""
        rng = self.rng
        own = range(first, last + 1)
        if first == last:
            return self.leaf(first, held, extents)
        split = sorted(rng.sample(range(first, last), rng.randint(1, last - first)))
        parts = list(zip([first, *(s + 1 for s in split)], [*split, last], strict=True))
        crossing = [
            tensor
            for tensor in sorted({t["name"] for e in own for t in self.einsums[e]["tensors"]})
            if tensor not in held
            and sum(any(a <= u <= b for u in self.users(tensor)) for a, b in parts) > 1
        ]
        items: list[Any] = [("hold", tensor) for tensor in crossing]
        common = set.intersection(*(set(self.einsums[e]["variables"]) for e in own))
        items += [("loop", v) for v in common if rng.random() < 0.6]
        rng.shuffle(items)

        nodes: list[Any] = []
        extents = dict(extents)
        for kind, name in items:
            if kind == "hold":
                nodes.append({"hold": rng.choice(["GB", "GB", "MM"]), "tensors": [name]})
            elif divisors(extents[name]):
                extents[name] = rng.choice(divisors(extents[name]))
                nodes.append({"temporal": name, "tile": extents[name]})
        held = held | set(crossing)
        return [*nodes, {"sequential": [self.tree(a, b, held, extents) for a, b in parts]}]

    def leaf(self, e: int, held: set[str], extents: dict[str, int]) -> list[Any]:
        einsum = self.einsums[e]
        tensors = [t["name"] for t in einsum["tensors"] if t["name"] not in held]
        nodes: list[Any] = [{"hold": "MM", "tensors": [tensor]} for tensor in tensors]
        nodes += [{"hold": "GB", "tensors": [t]} for t in tensors if self.rng.random() < 0.5]
        variables = [v for v in einsum["variables"] if extents[v] > 1]
        self.rng.shuffle(variables)
        nodes += [{"temporal": v, "tile": 1} for v in variables]
        return [*nodes, {"compute": "MAC", "einsum": einsum["name"]}]


def path_to(nodes: list[Problem], einsum: Problem) -> list[Problem] | None:
    """Give what a mapping is for one Einsum."""
    names = {t["name"] for t in einsum["tensors"]}
    path = [n for n in nodes if "sequential" not in n]
    path = [n for n in path if "hold" not in n or set(n["tensors"]) & names]
    last = nodes[-1]
    if "sequential" not in last:
        return path if last.get("einsum") == einsum["name"] else None
    for branch in last["sequential"]:
        rest = path_to(branch, einsum)
        if rest is not None:
            return [*path, *rest]
    return None


@pytest.mark.parametrize("einsums", [CHAIN, DIAMOND, SKIP], ids=["chain", "diamond", "skip"])
def test_pieces_of_a_tree_are_joined_to_what_it_was(einsums: list[dict[str, str]]) -> None:
    problem = workload(einsums, SIZES, gb=700.0)
    shared = shared_tensors(problem)
    rng = random.Random(7)
    joined = fused = 0
    for _ in range(share(400, 1500)):
        nodes = Planter(problem, rng).tree(0, len(einsums) - 1, set(), SIZES)
        values = evaluate(problem, nodes)
        if values is None:
            continue
        groups = []
        for einsum in problem["einsums"]:
            path = path_to(nodes, einsum)
            assert path is not None
            alone = _model.evaluate({**problem, "einsums": [einsum], "mapping": path})
            found: dict[Any, list[Any]] = {}
            if depends_on_order(einsum, path, end_of_fused(path, shared)):
                break
            add_row(einsum, shared, path, alone.as_dict(), found)
            groups += [[make_group(einsum["name"], key, rows)] for key, rows in found.items()]
        if len(groups) < len(einsums):
            continue

        result = join(groups, problem, ["energy", "latency"], ["energy"], all_memories=True)

        assert result.objectives[0, 0] == pytest.approx(values["total", "energy"], rel=1e-12)
        usage = result.usage["GB"][0] if "GB" in result.usage else 0
        assert usage == pytest.approx(values.get(("reservation", "GB"), 0), abs=1e-12), nodes
        joined += 1
        fused += sum(len(group[0].loops) > 0 for group in groups)
    assert joined > 100
    assert fused > 100
