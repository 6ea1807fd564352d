# SPDX-License-Identifier: BSD-3-Clause
"""Turns the nodes of a problem's mapping into a `Mapping`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from accelforge.fields import EvalableList
from accelforge.frontend.mapping import (
    Compute,
    Nested,
    Sequential,
    Spatial,
    Storage,
    Temporal,
    Toll,
)
from accelforge.frontend.mapping import Mapping as MappingTree
from accelforge.util.oset import oset

__all__ = ["mapping_of_nodes"]

Nodes = list[dict[str, Any]]


def mapping_of_nodes(
    nodes: Nodes, tolls: Collection[str], variables: Mapping[str, Collection[str]]
) -> MappingTree:
    """Make a mapping.

    Parameters
    ----------
    nodes : list of dict
        The nodes; docs/design/accelforge.md says what they are.
    tolls : collection of str
        The components that are tolls.
    variables : mapping
        The rank variables of each Einsum.
    """
    return MappingTree(nodes=[_node(node, nodes, tolls, variables) for node in nodes])


def _node(
    node: dict[str, Any],
    around: Nodes,
    tolls: Collection[str],
    variables: Mapping[str, Collection[str]],
) -> Any:
    if "hold" in node:
        component = node["hold"]
        kind = Toll if component in tolls else Storage
        held = kind(tensors=list(node["tensors"]), component=component)
        if node.get("persistent"):
            held.persistent = True
        if node.get("einsums"):
            held.einsums = EvalableList(node["einsums"])
        return held
    if "compute" in node:
        return Compute(einsum=node["einsum"], component=node["compute"])
    if "temporal" in node or "spatial" in node:
        return _loop(node, around, variables)
    branches = [
        Nested(nodes=[_node(inner, branch, tolls, variables) for inner in branch])
        for branch in node["sequential"]
    ]
    return Sequential(nodes=branches)


def _loop(node: dict[str, Any], around: Nodes, variables: Mapping[str, Collection[str]]) -> Any:
    """Make a loop; its rank variable is a name, a set of names, or one name for each Einsum.

    A set says what each Einsum calls the variable if each has one name of it only.
    """
    spatial = "spatial" in node
    name = node["spatial" if spatial else "temporal"]
    by_einsum = {} if isinstance(name, str) else {e: name[e] for e in _einsums(around)}
    if by_einsum:
        names = oset(by_einsum.values())
        clear = all(names & set(variables[e]) == {own} for e, own in by_einsum.items())
        name = names if clear else by_einsum
        if len(names) == 1:
            (name,) = names

    tile = int(node["tile"])
    loop: Any = (
        Spatial(rank_variable=name, tile_shape=tile, name=node["dim"], component=node["component"])
        if spatial
        else Temporal(rank_variable=name, tile_shape=tile)
    )
    loop._einsum_to_rank_variable = by_einsum
    return loop


def _einsums(nodes: Nodes) -> Iterator[str]:
    for node in nodes:
        if "compute" in node:
            yield node["einsum"]
        for branch in node.get("sequential", ()):
            yield from _einsums(branch)
