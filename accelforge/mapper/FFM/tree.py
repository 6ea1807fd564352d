# SPDX-License-Identifier: BSD-3-Clause
"""One mapping of a whole workload, made of one pmapping per Einsum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from accelforge.mapper.FFM.paths import Fused, Hold, NotJoinableError, Path, make_paths

__all__ = ["NotJoinableError", "build_tree"]


@dataclass
class Shared:
    """A loop of the tree: which loop it is in each Einsum below it."""

    members: dict[int, int]
    before: set[int] = field(default_factory=set)


class Weaver:
    """Finds out which loops of the Einsums are one loop."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = paths
        self.loops: list[Shared] = []
        self.common = self.count_common()

    def count_common(self) -> list[int]:
        """Count the loops that Einsums up to each one share with those after it."""
        return [
            max(
                (
                    path.backing[tensor].depth
                    for path in self.paths[: k + 1]
                    for tensor in path.fused
                    if self.last_user(tensor) > k
                ),
                default=0,
            )
            for k in range(len(self.paths) - 1)
        ]

    def last_user(self, tensor: str) -> int:
        return max(i for i, path in enumerate(self.paths) if tensor in path.fused)

    def user_before(self, e: int, tensor: str) -> int | None:
        users = [i for i in range(e) if tensor in self.paths[i].fused]
        return users[-1] if users else None

    def of(self, e: int) -> dict[int, int]:
        """Map the loops of an Einsum to those of the tree."""
        return {loop.members[e]: i for i, loop in enumerate(self.loops) if e in loop.members}

    def weave(self, e: int = 0) -> bool:
        """Add Einsum `e` and those after it; False if that cannot be."""
        if e == len(self.paths):
            return True
        if not self.holders_fit(e):
            return False
        alive = [] if e == 0 else self.alive(e)
        return self.place(e, alive, {})

    def alive(self, e: int) -> list[int]:
        """List the loops that Einsum `e` shares with the one before."""
        # The outermost ones that all orders allow: those above a tensor that is needed later.
        found: set[int] = set()
        for k in range(e):
            own = self.of(k)
            for tensor in self.paths[k].fused:
                if self.last_user(tensor) >= e:
                    found |= {own[i] for i in range(self.paths[k].backing[tensor].depth)}
        return sorted(found)

    def holders_fit(self, e: int) -> bool:
        for tensor in self.paths[e].fused:
            user = self.user_before(e, tensor)
            if user is None:
                continue
            own, other = self.paths[e].backing[tensor], self.paths[user].backing[tensor]
            alike = (own.component, own.depth, own.persistent)
            if alike != (other.component, other.depth, other.persistent):
                return False
        return True

    def place(self, e: int, alive: list[int], chosen: dict[int, int]) -> bool:
        """Choose a loop of Einsum `e` for each of the living ones, then go on."""
        if len(chosen) == len(alive):
            return self.commit(e, chosen)
        loop = alive[len(chosen)]
        return any(
            self.place(e, alive, {**chosen, loop: own})
            for own in range(len(self.paths[e].loops))
            if own not in chosen.values() and self.loops_fit(e, loop, own)
        )

    def loops_fit(self, e: int, loop: int, own: int) -> bool:
        path = self.paths[e]
        for k, other in self.loops[loop].members.items():
            if self.paths[k].loops[other].like != path.loops[own].like:
                return False
        for tensor in path.fused:
            user = self.user_before(e, tensor)
            if user is None:
                continue
            there = self.loops[loop].members.get(user)
            depth = path.backing[tensor].depth
            above = there is not None and there < depth
            if above != (own < depth):
                return False
            if (
                above
                and there is not None
                and self.paths[user].loops[there].ranks.get(tensor)
                != path.loops[own].ranks.get(tensor)
            ):
                return False
        return True

    def commit(self, e: int, chosen: dict[int, int]) -> bool:
        """Add the loops of Einsum `e`; take them back if what follows does not fit."""
        known = len(self.loops)
        saved = [set(loop.before) for loop in self.loops]
        for loop, own in chosen.items():
            self.loops[loop].members[e] = own
        for own in range(len(self.paths[e].loops)):
            if own not in chosen.values():
                self.loops.append(Shared({e: own}))
        tree = self.of(e)
        for own, loop in tree.items():
            self.loops[loop].before |= {tree[i] for i in self.paths[e].before[own]}
            if loop >= known:
                self.loops[loop].before |= set(chosen)

        if self.is_ordered() and self.depths_fit(e) and self.weave(e + 1):
            return True
        del self.loops[known:]
        for shared, before in zip(self.loops, saved, strict=True):
            shared.before = before
            shared.members.pop(e, None)
        return False

    def is_ordered(self) -> bool:
        return self.order(range(len(self.loops))) is not None

    def order(self, loops: Sequence[int] | range) -> list[int] | None:
        """Order loops of the tree from the outermost one; None if there is no order."""
        left = list(loops)
        found: list[int] = []
        while left:
            free = [loop for loop in left if not self.loops[loop].before & (set(left) - {loop})]
            if not free or any(loop in self.loops[loop].before for loop in left):
                return None
            found.append(free[0])
            left.remove(free[0])
        return found

    def depths_fit(self, e: int) -> bool:
        """Return whether what is needed after `e` is not deeper than what `e` has of it."""
        later = [t for t in self.paths[e].fused if self.last_user(t) > e]
        deepest = max((self.paths[e].backing[t].depth for t in later), default=0)
        return all(
            path.backing[tensor].depth <= deepest
            for path in self.paths[:e]
            for tensor in path.fused
            if self.last_user(tensor) > e
        )


class Builder:
    """Writes the nodes of a tree."""

    def __init__(self, weaver: Weaver) -> None:
        self.weaver = weaver
        self.paths = weaver.paths

    def build(self, first: int, last: int, above: list[int], taken: set[Any]) -> list[Any]:
        """Write the nodes for Einsums `first` to `last`, below the loops `above`.

        Holders in `taken` are written already.
        """
        path = self.paths[first]
        if first == last:
            loops = [*above, *self.inner_loops(first, above)]
            nodes = self.shared_part([first], above, loops, taken, to_the_end=True)
            return [*nodes, *path.tail]

        depth = min(self.weaver.common[first:last])
        everyone = range(first, last + 1)
        shared = self.weaver.loops
        alive = [i for i, loop in enumerate(shared) if set(everyone) <= set(loop.members)]
        ordered = self.weaver.order(alive)
        if ordered is None or len(ordered) < depth:
            raise NotJoinableError("the loops that Einsums share have no order")
        nodes = self.shared_part(everyone, above, ordered[:depth], taken, to_the_end=False)

        branches = []
        start = first
        for k in range(first, last + 1):
            if k == last or self.weaver.common[k] == depth:
                branches.append(self.build(start, k, ordered[:depth], set(taken)))
                start = k + 1
        return [*nodes, {"sequential": branches}]

    def inner_loops(self, e: int, above: list[int]) -> list[int]:
        rest = [loop for loop in self.weaver.of(e).values() if loop not in above]
        return self.weaver.order(rest) or []

    def shared_part(
        self,
        einsums: Sequence[int] | range,
        above: list[int],
        loops: list[int],
        taken: set[Any],
        *,
        to_the_end: bool,
    ) -> list[Any]:
        """Write the loops after `above`, and the holders between them."""
        nodes: list[Any] = []
        for depth in range(len(above), len(loops) + 1):
            bottom = depth == len(loops) and not to_the_end
            chains = [self.chain(e, einsums, depth, bottom, taken) for e in einsums]
            for hold in merge_chains(chains):
                others = any(
                    hold.tensor in self.paths[e].fused
                    for e in einsums
                    if self.paths[e].einsum != hold.einsum
                )
                nodes.append(hold.node(alone=others and not hold.backing))
                taken.add(hold.key)
            if depth < len(loops):
                nodes.append(self.loop_node(loops[depth], einsums))
        return join_holds(nodes)

    def chain(
        self, e: int, einsums: Sequence[int] | range, depth: int, bottom: bool, taken: set[Any]
    ) -> list[Hold]:
        """List the holders of an Einsum at a depth; at the bottom up to the last shared one."""
        holds = [h for h in self.paths[e].holds if h.depth == depth and h.key not in taken]
        if not bottom:
            return holds
        shared = [
            i
            for i, hold in enumerate(holds)
            if hold.backing
            and any(hold.tensor in self.paths[k].fused for k in einsums if k != e)
            and hold.tensor in self.paths[e].fused
        ]
        return holds[: shared[-1] + 1] if shared else []

    def loop_node(self, loop: int, einsums: Sequence[int] | range) -> dict[str, Any]:
        members = self.weaver.loops[loop].members
        own: dict[str, Fused] = {
            self.paths[e].einsum: self.paths[e].loops[members[e]] for e in einsums
        }
        node = dict(next(iter(own.values())).node)
        key = "temporal" if "temporal" in node else "spatial"
        names = {einsum: fused.variable for einsum, fused in own.items()}
        if len(set(names.values())) > 1:
            node[key] = names
        return node


def merge_chains(chains: Sequence[Sequence[Hold]]) -> Iterator[Hold]:
    """Merge lists of holders into one that keeps the order of each; a tensor is held once."""
    left = [list(chain) for chain in chains]
    while any(left):
        heads = [chain[0] for chain in left if chain]
        free = [h for h in heads if not any(h in chain[1:] for chain in left)]
        # Two outermost holders may change places.
        hold = free[0] if free else next((h for h in heads if h.backing), heads[0])
        for chain in left:
            if hold in chain:
                chain.remove(hold)
        yield hold


def join_holds(nodes: list[Any]) -> list[Any]:
    """Make one node of neighbours that hold in one component."""
    joined: list[Any] = []
    for node in nodes:
        last = joined[-1] if joined else {}
        if (
            "hold" in node
            and last.get("hold") == node["hold"]
            and all(last.get(key) == node.get(key) for key in ("persistent", "einsums"))
        ):
            last["tensors"] = [*last["tensors"], *node["tensors"]]
        else:
            joined.append(node)
    return joined


def build_tree(
    groups: Sequence[Sequence[Any]],
    picks: Sequence[tuple[int, int]],
    problem: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Make the mapping that one pmapping of each Einsum gives.

    Parameters
    ----------
    groups : sequence of sequences of PmappingGroup
        One sequence per Einsum of `problem`, in its order.
    picks : sequence of (int, int)
        Per Einsum a group and a row in it.
    problem : mapping
        As in docs/design/accelforge.md; its mapping is not looked at.

    Returns
    -------
    list of dict
        The mapping's nodes, with a sequential node wherever Einsums part.

    Raises
    ------
    NotJoinableError
        If the pmappings do not fit together. It is a ValueError.
    """
    weaver = Weaver(make_paths(groups, picks, problem))
    if not weaver.weave():
        raise NotJoinableError("the pmappings hold a shared tensor in different places")
    return Builder(weaver).build(0, len(weaver.paths) - 1, [], set())
