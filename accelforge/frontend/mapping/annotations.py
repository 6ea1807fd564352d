# SPDX-License-Identifier: BSD-3-Clause
"""Adds to a mapping what follows from it: numbers of iterations, and where memory is reserved.

The engine finds these for itself; here they are for people, and for pictures. What would be
reserved in a branch only, but is held above the split, is shown above the split.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from accelforge.frontend.iteration_space import parse_affine
from accelforge.frontend.mapping.holders import Compute, Reservation, Storage, TensorHolder
from accelforge.frontend.mapping.loops import Loop, Spatial
from accelforge.frontend.mapping.mapping import Mapping
from accelforge.frontend.mapping.tree import Nested, Split

if TYPE_CHECKING:
    from accelforge.frontend.workload import Workload

__all__ = ["annotate", "einsums_below"]

_Variables = dict[str, set[str]]
_Extents = dict[str, dict[str, float]]
_RELEVANT, _PARTLY, _IRRELEVANT = range(3)


def einsums_below(node: Any) -> list[str]:
    """List the Einsums that are computed at or below a node.

    Parameters
    ----------
    node : MappingNode
        The node.
    """
    if isinstance(node, Compute):
        return [str(node.einsum)]
    if not isinstance(node, (Nested, Split)):
        return []
    return [str(inner.einsum) for inner in node.get_nodes_of_type(Compute)]


def annotate(mapping: Mapping, workload: Workload) -> Mapping:
    """Return a copy of a mapping with iteration counts and reservations.

    Parameters
    ----------
    mapping : Mapping
        With reservations or without; those that it has are left out.
    workload : Workload
        Evaluated. Loops whose tile shape is text stay without a count.
    """
    names = [name for name in workload.einsum_names if name in einsums_below(mapping)]
    extents: _Extents = {name: {**workload._rank_variable_bounds(name)} for name in names}
    relevance = {name: _relevance(workload.einsums[name]) for name in names}
    copy = mapping.model_copy()
    copy.__dict__["nodes"] = type(mapping.nodes)(
        _Annotator(relevance).chain(_flat(mapping), extents, frozenset())
    )
    return copy


def _relevance(einsum: Any) -> dict[str, dict[str, int]]:
    """Say for each tensor which rank variables are relevant; those that are not are missing."""
    result = {}
    for access in einsum.tensor_accesses:
        known: dict[str, int] = {}
        for text in access.projection.values():
            terms = dict(parse_affine(text).terms)
            for variable in terms:
                known.setdefault(variable, _RELEVANT if len(terms) == 1 else _PARTLY)
        result[access.name] = known
    return result


def _flat(nest: Any) -> list[Any]:
    """Return the nodes of a nest, without the nests in it and without reservations."""
    nodes = []
    for node in nest.nodes if isinstance(nest, Nested) else [nest]:
        if isinstance(node, Nested):
            nodes += _flat(node)
        elif not isinstance(node, Reservation):
            nodes.append(node)
    return nodes


def _names(loop: Loop) -> set[str]:
    name = loop.rank_variable
    return {name} if isinstance(name, str) else set(name or ())


class _Annotator:
    def __init__(self, relevance: dict[str, dict[str, dict[str, int]]]) -> None:
        self.relevance = relevance

    def chain(self, nodes: list[Any], extents: _Extents, held: frozenset[str]) -> list[Any]:
        """Copy the nodes of a chain; `held` are the tensors that a memory above holds."""
        variables = {name: set(own) for name, own in extents.items()}
        reserved: dict[int, dict[tuple[str, bool], list[str]]] = {}
        copies: list[Any] = []
        for index, node in enumerate(nodes):
            if isinstance(node, Storage):
                for number, tensor in enumerate(node.tensors):
                    last = number == len(node.tensors) - 1
                    place = self._place(nodes, index, tensor, variables, last and tensor in held)
                    purposes = reserved.setdefault(place, {})
                    purposes.setdefault((str(node.component), node.persistent), []).append(tensor)
                held |= set(node.tensors)
            if isinstance(node, Split):
                copies.append(self._split(node, extents, held))
            elif isinstance(node, Loop):
                extents = {name: dict(own) for name, own in extents.items()}
                copies.append(_counted(node, extents))
            else:
                copies.append(node.model_copy())
        result: list[Any] = []
        for index in range(len(nodes) + 1):
            result += [
                Reservation(purposes=tensors, resource=memory, persistent=persistent)
                for (memory, persistent), tensors in reserved.get(index, {}).items()
            ]
            result += copies[index : index + 1]
        return result

    def _split(self, split: Split, extents: _Extents, held: frozenset[str]) -> Split:
        copy = split.model_copy()
        copy.__dict__["nodes"] = type(split.nodes)(
            Nested(
                nodes=self.chain(
                    _flat(branch), {name: extents[name] for name in einsums_below(branch)}, held
                )
            )
            for branch in split.nodes
        )
        return copy

    def _place(
        self, nodes: list[Any], index: int, tensor: str, variables: _Variables, sinks: bool
    ) -> int:
        """Return the number of the node above which the reservation of a holder stands."""
        component = nodes[index].component
        place = index + 1
        while sinks and place < len(nodes) and isinstance(nodes[place], Loop):
            loop = nodes[place]
            kind = self._kind(loop, tensor, variables)
            own = isinstance(loop, Spatial) and loop.component == component
            if kind == _IRRELEVANT and not own:
                break
            place += 1
            if kind == _PARTLY and not own:
                break
        # Holders that follow one another stay together.
        while place < len(nodes) and isinstance(nodes[place], TensorHolder):
            place += 1
        return place

    def _kind(self, loop: Loop, tensor: str, variables: _Variables) -> int:
        kinds = [
            self.relevance[einsum][tensor].get(variable, _IRRELEVANT)
            for einsum, own in variables.items()
            if tensor in self.relevance[einsum]
            for variable in _names(loop) & own
        ]
        return max(kinds, default=_IRRELEVANT)


def _counted(loop: Loop, extents: _Extents) -> Loop:
    """Copy a loop with its number of iterations, and reduce extents to its tile."""
    copy, names = loop.model_copy(), _names(loop)
    tile = loop.tile_shape if isinstance(loop.tile_shape, int) else math.nan
    around = {own[name] for own in extents.values() for name in names & own.keys()}
    counts = [extent / tile for extent in around]
    if counts and not any(math.isnan(count) for count in counts):
        copy.calculated_n_iterations = max(map(math.ceil, counts))
    for own in extents.values():
        own.update(dict.fromkeys(names & own.keys(), tile))
    return copy
