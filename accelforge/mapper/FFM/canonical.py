# SPDX-License-Identifier: BSD-3-Clause
"""Gives equal names to mapspaces that differ in names only, so that they are searched once."""

from __future__ import annotations

import json
import marshal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, overload

from accelforge.mapper.FFM.group import PmappingGroup

__all__ = ["Backing", "Names", "bytes_of", "text_of", "with_plain_names"]

_EINSUM = "e"

Backing = tuple[tuple[str, str], ...]
"""Tensors that Einsums share, and the memory that holds each outermost."""


@dataclass(frozen=True)
class Names:
    """Names of the specification for the plain names of a mapspace.

    Attributes
    ----------
    einsum : str
        The Einsum.
    tensors, variables : dict
        Names by plain names.
    """

    einsum: str
    tensors: dict[str, str]
    variables: dict[str, str]

    def restore(self, group: PmappingGroup) -> PmappingGroup:
        """Return a group of pmappings with the names that the specification has."""
        tensors, variables = self.tensors, self.variables
        return PmappingGroup(
            self.einsum,
            tuple(
                [
                    (*node[:-1], (tensors if node[0] == "hold" else variables)[node[-1]])
                    for node in group.nodes
                ]
            ),
            group.objectives,
            group.tiles,
            group.reservations,
            {tensors[t]: value for t, value in group.shared.items()},
            group.persistent,
            group.template,
            group.full_tiles,
            _Restored(self, group.templates),
            group.stops,
        )

    def restore_backing(self, backing: Backing) -> Backing:
        """Return where tensors are held, with the names that the specification has."""
        return tuple([(self.tensors[tensor], memory) for tensor, memory in backing])

    def _node(self, node: dict[str, Any]) -> dict[str, Any]:
        if "hold" in node:
            return {**node, "tensors": [self.tensors[tensor] for tensor in node["tensors"]]}
        if "compute" in node:
            return {**node, "einsum": self.einsum}
        loop = "temporal" if "temporal" in node else "spatial"
        return {**node, loop: self.variables[node[loop]]}


class _Restored(Sequence[list[dict[str, Any]]]):
    """Templates with the names that the specification has; few of them are looked at."""

    def __init__(self, names: Names, plain: Sequence[list[dict[str, Any]]]) -> None:
        self._names = names
        self._plain = plain

    def __len__(self) -> int:
        return len(self._plain)

    @overload
    def __getitem__(self, key: int) -> list[dict[str, Any]]: ...
    @overload
    def __getitem__(self, key: slice) -> list[list[dict[str, Any]]]: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return [self._nodes(nodes) for nodes in self._plain[key]]
        return self._nodes(self._plain[key])

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def _nodes(self, nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [self._names._node(node) for node in nodes]


def bytes_of(mapspace: dict[str, Any]) -> bytes:
    """Return bytes that are equal only for equal mapspaces, and soon made.

    Parameters
    ----------
    mapspace : dict
        What `with_plain_names` returned.
    """
    # Version 2 has no references, so that bytes do not depend on which parts are one object.
    return marshal.dumps(mapspace, 2)


def text_of(mapspace: dict[str, Any]) -> str:
    """Return a text that is equal for mapspaces with plain names that are equal.

    Parameters
    ----------
    mapspace : dict
        What `with_plain_names` returned.
    """
    return json.dumps(mapspace, sort_keys=True)


def with_plain_names(mapspace: dict[str, Any]) -> tuple[dict[str, Any], Names]:
    """Replace the names of the Einsum, its tensors and its rank variables.

    The order of the names stays the same, as the search goes by it.

    Parameters
    ----------
    mapspace : dict
        Of one Einsum.

    Returns
    -------
    dict
        The mapspace with plain names.
    Names
        What the plain names stand for.
    """
    problem = mapspace["problem"]
    einsum = problem["einsums"][0]
    spatial: dict[int, list[dict[str, Any]]] = {}
    holders: dict[int, dict[str, Any]] = {}
    tensors = _plain("t", (tensor["name"] for tensor in einsum["tensors"]))
    variables = _plain("v", einsum["variables"])
    renamed = {
        **mapspace,
        "problem": {**problem, "einsums": [_einsum(einsum, tensors, variables)]},
        "shared": [tensors[t] for t in mapspace["shared"]],
        "intermediate": [tensors[t] for t in mapspace["intermediate"]],
        "placements": [
            _placement(p, tensors, variables, spatial, holders) for p in mapspace["placements"]
        ],
    }
    names = Names(
        einsum["name"],
        {plain: name for name, plain in tensors.items()},
        {plain: name for name, plain in variables.items()},
    )
    return renamed, names


def _plain(prefix: str, names: Iterable[str]) -> dict[str, str]:
    ordered = sorted(set(names))
    digits = len(str(len(ordered)))
    return {name: f"{prefix}{number:0{digits}}" for number, name in enumerate(ordered)}


def _einsum(
    einsum: dict[str, Any], tensors: dict[str, str], variables: dict[str, str]
) -> dict[str, Any]:
    bounds = einsum["variables"]
    return {
        **einsum,
        "name": _EINSUM,
        "variables": {plain: bounds[name] for name, plain in variables.items()},
        "tensors": [_access(access, tensors, variables) for access in einsum["tensors"]],
        "levels": [_level(level, tensors) for level in einsum["levels"]],
    }


def _access(
    access: dict[str, Any], tensors: dict[str, str], variables: dict[str, str]
) -> dict[str, Any]:
    ranks = [
        {**rank, "terms": {variables[v]: c for v, c in rank["terms"].items()}}
        for rank in access["projection"]
    ]
    return {**access, "name": tensors[access["name"]], "projection": ranks}


def _level(level: dict[str, Any], tensors: dict[str, str]) -> dict[str, Any]:
    result = dict(level)
    if "tensors" in level:
        result["tensors"] = {tensors[t]: value for t, value in level["tensors"].items()}
    if "spatial" in level:
        result["spatial"] = [
            {**dim, "may_reuse": [tensors[t] for t in dim["may_reuse"]]} for dim in level["spatial"]
        ]
    return result


def _placement(
    placement: dict[str, Any],
    tensors: dict[str, str],
    variables: dict[str, str],
    known: dict[int, list[dict[str, Any]]],
    holders: dict[int, dict[str, Any]],
) -> dict[str, Any]:
    """Rename a placement.

    KNOWN has the conditions on spatial loops and HOLDERS the holders, which placements share.
    """
    spatial = known.get(id(placement["spatial"]))
    if spatial is None:
        spatial = known[id(placement["spatial"])] = [
            {**dim, "loop_bounds": [_condition(rule, variables) for rule in dim["loop_bounds"]]}
            for dim in placement["spatial"]
        ]
    for holder in placement["holders"]:
        if id(holder) not in holders:
            holders[id(holder)] = {**holder, "tensor": tensors[holder["tensor"]]}
    return {
        "holders": [holders[id(holder)] for holder in placement["holders"]],
        "orders": {
            component: [[[tensors[t] for t in group] for group in order] for order in orders]
            for component, orders in placement["orders"].items()
        },
        "no_refetch": _named(placement["no_refetch"], tensors),
        "no_resend": _named(placement["no_resend"], tensors),
        "tile_shape": [_condition(rule, variables) for rule in placement["tile_shape"]],
        "spatial": spatial,
    }


def _named(members: dict[str, list[str]], tensors: dict[str, str]) -> dict[str, list[str]]:
    return {component: [tensors[t] for t in names] for component, names in members.items()}


def _condition(rule: dict[str, Any], variables: dict[str, str]) -> dict[str, Any]:
    return {**rule, "variables": [variables[v] for v in rule["variables"]]}
