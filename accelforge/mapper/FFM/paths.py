# SPDX-License-Identifier: BSD-3-Clause
"""The way from the root of a mapping to one Einsum, as far as Einsums may share it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Fused", "Hold", "NotJoinableError", "Path", "make_paths"]


class NotJoinableError(ValueError):
    """Pmappings do not fit together."""


@dataclass(frozen=True)
class Fused:
    """A loop that other Einsums may share."""

    node: dict[str, Any]
    variable: str
    like: tuple[Any, ...]
    """Properties that are equal in Einsums that share it."""
    ranks: dict[str, int]
    """Tensor to the number of its rank that the variable is in."""


@dataclass(frozen=True, eq=False)
class Hold:
    """One tensor held by one component."""

    component: str
    tensor: str
    persistent: bool
    depth: int
    """Number of fused loops above."""
    backing: bool
    """True if it is the tensor's outermost holder."""
    einsum: str

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for holders that are one in the tree."""
        own = () if self.backing else (self.einsum,)
        return (self.component, self.tensor, *own)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hold) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def node(self, *, alone: bool) -> dict[str, Any]:
        """Make a node of the mapping, for this Einsum alone or for all that have the tensor."""
        node: dict[str, Any] = {"hold": self.component, "tensors": [self.tensor]}
        if self.persistent:
            node["persistent"] = True
        if alone:
            node["einsums"] = [self.einsum]
        return node


@dataclass
class Path:
    """One pmapping: fused loops and what is held above the last of them, then the rest.

    Fused loops with one iteration are left out.
    """

    einsum: str
    fused: list[str]
    """Tensors that other Einsums use too."""
    loops: list[Fused] = field(default_factory=list)
    before: list[set[int]] = field(default_factory=list)
    """Per loop: the loops that must stay further out."""
    holds: list[Hold] = field(default_factory=list)
    backing: dict[str, Hold] = field(default_factory=dict)
    tail: list[dict[str, Any]] = field(default_factory=list)


class PathMaker:
    """Makes the path of one Einsum."""

    def __init__(self, einsum: Mapping[str, Any], fused: list[str]) -> None:
        self.path = Path(einsum["name"], fused)
        self.einsum = einsum
        self.extents = {name: float(bound) for name, bound in einsum["variables"].items()}
        self.tensors = {tensor["name"] for tensor in einsum["tensors"]}

    def make(self, nodes: Sequence[Mapping[str, Any]], stops: Sequence[int]) -> Path:
        end = self.end_of_fused(nodes)
        for node in nodes[:end]:
            if "hold" in node:
                self.hold(node)
            else:
                self.loop(node)
        self.path.tail = [dict(node) for node in nodes[end:]]
        # Tensors held below the last fused loop may have to be written before those shared there.
        missing = [tensor for tensor in self.path.fused if tensor not in self.path.backing]
        if missing:
            raise NotJoinableError(f"{self.path.einsum!r} holds {missing[0]!r} nowhere")
        self.order(stops)
        return self.path

    def end_of_fused(self, nodes: Sequence[Mapping[str, Any]]) -> int:
        seen: set[str] = set()
        end = 0
        for i, node in enumerate(nodes):
            new = [t for t in node.get("tensors", ()) if t in self.tensors and t not in seen]
            seen.update(new)
            if any(tensor in self.path.fused for tensor in new):
                end = i + 1
        return end

    def hold(self, node: Mapping[str, Any]) -> None:
        for tensor in node["tensors"]:
            if tensor not in self.tensors:
                continue
            backing = tensor not in self.path.backing
            hold = Hold(
                node["hold"],
                tensor,
                bool(node.get("persistent", False)),
                len(self.path.loops),
                backing,
                self.path.einsum,
            )
            self.path.holds.append(hold)
            if backing:
                self.path.backing[tensor] = hold

    def loop(self, node: Mapping[str, Any]) -> None:
        key = "temporal" if "temporal" in node else "spatial"
        names = node[key]
        variable = names if isinstance(names, str) else names[self.path.einsum]
        bound = float(self.einsum["variables"][variable])
        tile = 1.0 if bound <= 1 else float(node["tile"])
        iterations = math.ceil(self.extents[variable] / tile)
        self.extents[variable] = tile
        if iterations <= 1:
            return
        place = (node.get("component"), node.get("dim"))
        self.path.loops.append(
            Fused(
                {**node, key: variable},
                variable,
                (key, *place, tile, iterations),
                self.ranks(variable),
            )
        )

    def ranks(self, variable: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for tensor in self.einsum["tensors"]:
            for i, rank in enumerate(tensor["projection"]):
                terms = (rank,) if isinstance(rank, str) else rank.get("terms", {})
                if variable in terms:
                    found.setdefault(tensor["name"], i)
        return found

    def order(self, stops: Sequence[int]) -> None:
        """Loops between two places where something is held may change places."""
        loops = self.path.loops
        places = {*stops, *(hold.depth for hold in self.path.holds)}
        for i, loop in enumerate(loops):
            outer = max((place for place in places if place <= i), default=0)
            same = {j for j in range(i) if loops[j].variable == loop.variable}
            self.path.before.append(set(range(outer)) | same)


def make_paths(
    groups: Sequence[Sequence[Any]],
    picks: Sequence[tuple[int, int]],
    problem: Mapping[str, Any],
) -> list[Path]:
    """Make the path of each Einsum; see `accelforge.mapper.FFM.tree.build_tree`."""
    einsums = problem["einsums"]
    users: dict[str, int] = {}
    for einsum in einsums:
        for tensor in einsum["tensors"]:
            users[tensor["name"]] = users.get(tensor["name"], 0) + 1

    paths = []
    for einsum, own, (group, row) in zip(einsums, groups, picks, strict=True):
        fused = [t["name"] for t in einsum["tensors"] if users[t["name"]] > 1]
        chosen = own[group]
        stops = set(chosen.stops)
        stops |= {depth for _, depth in chosen.reservations}
        paths.append(PathMaker(einsum, fused).make(chosen.mapping(row), sorted(stops)))
    return paths
