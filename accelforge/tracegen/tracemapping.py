# SPDX-License-Identifier: BSD-3-Clause
"""Values of rank variables in each step of a mapping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accelforge.frontend.mapping import Compute, Loop, Nested, Spatial, Split
from accelforge.frontend.mapping.annotations import einsums_below

if TYPE_CHECKING:
    from accelforge.frontend.mapping import Mapping
    from accelforge.frontend.spec import Spec

__all__ = ["trace_iterations"]

_MOST_STEPS = 10**8
# An array for each rank variable.
Trace = dict[str, Any]
# Extents of the rank variables of an Einsum.
Extents = dict[str, int]


def trace_iterations(mapping: Mapping, spec: Spec) -> Trace:
    """List the values of rank variables, one per step of the innermost loops.

    Parameters
    ----------
    mapping : Mapping
        With temporal loops only, whose tiles divide those around them.
    spec : Spec
        Whose workload it maps.

    Returns
    -------
    dict
        For each rank variable an array with one number per step, counted from 1. It is NaN while
        an Einsum is computed that does not have the variable.

    Raises
    ------
    NotImplementedError
        The mapping has a spatial loop, or tiles that do not divide those around them.
    """
    workload = spec._spec_eval_expressions().workload
    bounds = {name: workload._rank_variable_bounds(name) for name in workload.einsum_names}
    return _trace(mapping, {name: bounds[name] for name in einsums_below(mapping)})


def _trace(node: Any, extents: dict[str, Extents]) -> Trace:
    """Trace a node and all below it, with the extents that the loops above leave."""
    import numpy as np

    if isinstance(node, Compute):
        return {name: np.ones(1) for name in extents[str(node.einsum)]}
    if isinstance(node, Split):
        return _one_after_another(
            [
                _trace(branch, {name: extents[name] for name in einsums_below(branch)})
                for branch in node.nodes
            ]
        )
    if not isinstance(node, Nested):
        raise NotImplementedError(f"cannot trace a {type(node).__name__} there")

    loops = []
    inside: Trace = {}
    for inner in node.nodes:
        if isinstance(inner, (Nested, Split, Compute)):
            inside = _trace(inner, extents)
        elif isinstance(inner, Loop):
            extents = dict(extents)
            loops.append((inner, _count(inner, extents)))
    for loop, count in reversed(loops):
        inside = _repeat(inside, _variables(loop), count, int(loop.tile_shape))
    return inside


def _variables(loop: Loop) -> set[str]:
    name = loop.rank_variable
    return {name} if isinstance(name, str) else set(name or ())


def _count(loop: Loop, extents: dict[str, Extents]) -> int:
    """Return the number of iterations of a loop, and reduce extents to its tile."""
    if isinstance(loop, Spatial):
        raise NotImplementedError(
            f"the trace has one line of steps, and the spatial loop over {loop.rank_variable} does "
            "several at a time"
        )
    tile, names = loop.tile_shape, _variables(loop)
    if not isinstance(tile, int):
        raise NotImplementedError(f"the tile shape {tile!r} is not a whole number")
    around = {own[name] for own in extents.values() for name in names & own.keys()}
    if len(around) != 1 or any(extent % tile for extent in around):
        raise NotImplementedError(
            f"tiles of {tile} do not divide the {' or '.join(map(str, sorted(around)))} values of "
            f"{', '.join(sorted(names))}"
        )
    for einsum, own in extents.items():
        extents[einsum] = {name: tile if name in names else own[name] for name in own}
    return int(around.pop() // tile)


def _repeat(inside: Trace, names: set[str], count: int, tile: int) -> Trace:
    import numpy as np

    steps = len(next(iter(inside.values()), ()))
    if steps * count > _MOST_STEPS:
        raise ValueError(f"the trace has more than {_MOST_STEPS:,} steps")
    start = np.repeat(np.arange(count) * float(tile), steps)
    return {
        name: np.tile(trace, count) + (start if name in names else 0.0)
        for name, trace in inside.items()
    }


def _one_after_another(parts: list[Trace]) -> Trace:
    import numpy as np

    lengths = [len(next(iter(part.values()), ())) for part in parts]
    names = dict.fromkeys(name for part in parts for name in part)
    return {
        name: np.concatenate(
            [
                part[name] if name in part else np.full(length, np.nan)
                for part, length in zip(parts, lengths, strict=True)
            ]
        )
        for name in names
    }
