# SPDX-License-Identifier: BSD-3-Clause
"""The path from the root of an architecture to one of its computes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["FlattenedArch"]


class FlattenedArch:
    """The nodes on the way to a compute, root first.

    Parameters
    ----------
    nodes : iterable of Leaf
        In order.
    """

    def __init__(self, nodes: Iterable[Any]) -> None:
        self.nodes = list(nodes)

    def __getitem__(self, key: int | str | slice) -> Any:
        """Get a node by number or by name."""
        if not isinstance(key, str):
            return self.nodes[key]
        for node in self.nodes:
            if node.name == key:
                return node
        raise KeyError(f"no node {key} on the way to {self.nodes[-1].name if self.nodes else '-'}")

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def index(self, name: str) -> int:
        """Return the number of a node.

        Parameters
        ----------
        name : str
            Name of the node.
        """
        for number, node in enumerate(self.nodes):
            if node.name == name:
                return number
        raise ValueError(f"no node {name} on the way to the compute")

    def is_above(self, name_a: str, name_b: str) -> bool:
        """Say whether one node is above another.

        Parameters
        ----------
        name_a, name_b : str
            Names of the nodes.
        """
        return self.index(name_a) < self.index(name_b)
