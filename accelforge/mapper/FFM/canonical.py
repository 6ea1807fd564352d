# SPDX-License-Identifier: BSD-3-Clause
"""Gives equal names to mapspaces that differ in names only, so that they are searched once."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from accelforge.mapper.FFM.group import Node, PmappingGroup

__all__ = ["Names", "text_of", "with_plain_names"]

_EINSUM = "e"


@dataclass(frozen=True)
class Names:
    """What the plain names of a mapspace stand for.

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
        return replace(
            group,
            einsum=self.einsum,
            nodes=tuple(self._structure(node) for node in group.nodes),
            shared={self.tensors[t]: value for t, value in group.shared.items()},
            templates=[[self._node(node) for node in nodes] for nodes in group.templates],
        )

    def _structure(self, node: Node) -> Node:
        names = self.tensors if node[0] == "hold" else self.variables
        return (*node[:-1], names[node[-1]])

    def _node(self, node: dict[str, Any]) -> dict[str, Any]:
        if "hold" in node:
            return {**node, "tensors": [self.tensors[tensor] for tensor in node["tensors"]]}
        if "compute" in node:
            return {**node, "einsum": self.einsum}
        loop = "temporal" if "temporal" in node else "spatial"
        return {**node, loop: self.variables[node[loop]]}


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
    tensors = _plain("t", (tensor["name"] for tensor in einsum["tensors"]))
    variables = _plain("v", einsum["variables"])
    renamed = {
        **mapspace,
        "problem": {**problem, "einsums": [_einsum(einsum, tensors, variables)]},
        "shared": [tensors[t] for t in mapspace["shared"]],
        "intermediate": [tensors[t] for t in mapspace["intermediate"]],
        "placements": [_placement(p, tensors, variables) for p in mapspace["placements"]],
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
    placement: dict[str, Any], tensors: dict[str, str], variables: dict[str, str]
) -> dict[str, Any]:
    return {
        "holders": [{**h, "tensor": tensors[h["tensor"]]} for h in placement["holders"]],
        "orders": {
            component: [[[tensors[t] for t in group] for group in order] for order in orders]
            for component, orders in placement["orders"].items()
        },
        "no_refetch": _named(placement["no_refetch"], tensors),
        "no_resend": _named(placement["no_resend"], tensors),
        "tile_shape": [_condition(rule, variables) for rule in placement["tile_shape"]],
        "spatial": [
            {**dim, "loop_bounds": [_condition(rule, variables) for rule in dim["loop_bounds"]]}
            for dim in placement["spatial"]
        ],
    }


def _named(members: dict[str, list[str]], tensors: dict[str, str]) -> dict[str, list[str]]:
    return {component: [tensors[t] for t in names] for component, names in members.items()}


def _condition(rule: dict[str, Any], variables: dict[str, str]) -> dict[str, Any]:
    return {**rule, "variables": [variables[v] for v in rule["variables"]]}
