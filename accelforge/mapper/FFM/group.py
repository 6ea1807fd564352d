# SPDX-License-Identifier: BSD-3-Clause
"""Pmappings of one Einsum that are alike: what the search hands to the join."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Node", "PmappingGroup"]

Floats = NDArray[np.float64]

#: ``("hold", component, tensor)``, ``("temporal", variable)`` or
#: ``("spatial", component, dimension, variable)``
Node = tuple[str, ...]


@dataclass
class PmappingGroup:
    """All pmappings of one Einsum that share one structure.

    The structure is what stands above the lowest outermost holder of a shared tensor, without the
    numbers of tiles. A *fused* loop is a loop in it. Rows with equal fused tiles do not dominate
    one another in objectives, reservations and sizes of shared tensors.

    Parameters
    ----------
    einsum : str
        Name of the Einsum.
    nodes : tuple
        Fused loops, and outermost holders of shared tensors, from the top; see `Node`.
    objectives : ndarray
        ``(rows, k)``: energy in J (with leak) and latency in s, those that the metrics ask for in
        that order. They add up over Einsums.
    tiles : ndarray
        ``(rows, fused loops)``: the extent of each loop's tile.
    reservations : dict
        ``(memory, depth)`` to the fraction of the memory's size per row that is held directly below
        `depth` fused loops, without outermost holders of shared tensors. The last depth has all
        that stands further in too.
    shared : dict
        Shared tensor to memory, depth and fraction per row of its outermost holder; the depth is
        -1 for a tensor that lives as long as the workload.
    persistent : dict
        As `reservations`, of tensors that live as long as the workload; never of shared tensors.
    template : ndarray
        Number in `templates` per row.
    full_tiles : list of tuple
        Tiles of all loops of the row's template, from the top.
    templates : sequence of list
        Whole mappings as nodes of the problem format, without ``tile``.
    stops : tuple of int
        The depths, other than 0 and that of all fused loops, at which a holder or a reservation
        stands: fused loops may change places where none is between.
    """

    einsum: str
    nodes: tuple[Node, ...]
    objectives: Floats
    tiles: NDArray[np.int64]
    reservations: dict[tuple[str, int], Floats] = field(default_factory=dict)
    shared: dict[str, tuple[str, int, Floats]] = field(default_factory=dict)
    persistent: dict[tuple[str, int], Floats] = field(default_factory=dict)
    template: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    full_tiles: list[tuple[int, ...]] = field(default_factory=list)
    templates: Sequence[list[dict[str, Any]]] = field(default_factory=list)
    stops: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.objectives)

    @property
    def loops(self) -> tuple[Node, ...]:
        """The fused loops, from the top."""
        return tuple(node for node in self.nodes if node[0] != "hold")

    def mapping(self, row: int) -> list[dict[str, Any]]:
        """Give the whole mapping of a row as nodes of the problem format."""
        tiles = iter(self.full_tiles[row])
        return list(self._with_tiles(self.templates[self.template[row]], tiles))

    @staticmethod
    def _with_tiles(
        template: list[dict[str, Any]], tiles: Iterator[int]
    ) -> Iterator[dict[str, Any]]:
        for node in template:
            loops = "temporal" in node or "spatial" in node
            yield {**node, "tile": next(tiles)} if loops else dict(node)
