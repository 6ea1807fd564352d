# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a mapping: as SVG, and as a graph of the package pydot."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from accelforge.drawing.boxes import Box
from accelforge.drawing.pydot_node import make_node
from accelforge.drawing.svg import SVG
from accelforge.drawing.trees import Tree, draw_trees
from accelforge.frontend.mapping.holders import Reservation
from accelforge.frontend.mapping.tree import Nested, Split
from accelforge.util.lazy import need

if TYPE_CHECKING:
    from accelforge.frontend.mapping.mapping import Mapping

__all__ = ["mapping_to_pydot", "render_mapping"]


def render_mapping(
    mapping: Mapping, with_reservations: bool = True, with_tile_shape: bool = True
) -> SVG:
    """Draw a mapping.

    Parameters
    ----------
    mapping : Mapping
        Evaluated or not.
    with_reservations : bool
        Whether to draw reservations.
    with_tile_shape : bool
        Whether to write tile shapes into loops.
    """
    root = Tree(Box(""))

    def hang(node: Any, parent: Tree) -> Tree:
        label = node.text or node._render_node_label(with_tile_shape=with_tile_shape)
        tree = Tree(Box(label, node._render_node_shape(), node._render_node_color()))
        parent.below.append(tree)
        return tree

    _walk(mapping, root, with_reservations, hang)
    return draw_trees(root.below, mapping.title)


def _walk(root: Any, above: Any, with_reservations: bool, hang: Callable[[Any, Any], Any]) -> None:
    """Visit the nodes of a mapping, each with what stands for the node above it."""
    waiting = [(root, above)]
    while waiting:
        node, parent = waiting.pop()
        if isinstance(node, Nested):
            for inner in node.nodes:
                if isinstance(inner, (Nested, Split)):
                    waiting.append((inner, parent))
                elif with_reservations or not isinstance(inner, Reservation):
                    parent = hang(inner, parent)
            continue
        own = hang(node, parent)
        if isinstance(node, Split):
            waiting += [(branch, own) for branch in reversed(node.nodes)]


def mapping_to_pydot(
    mapping: Mapping, with_reservations: bool = True, with_tile_shape: bool = True
) -> Any:
    """Make a graph of the package pydot of a mapping.

    Parameters
    ----------
    mapping : Mapping
        Evaluated or not.
    with_reservations : bool
        Whether to draw reservations.
    with_tile_shape : bool
        Whether to write tile shapes into loops.
    """
    pydot = need("pydot", "render_pydot()", "plot")
    graph = pydot.Dot(graph_type="graph", rankdir="TD")

    def hang(node: Any, parent: str | None) -> str:
        name = str(node._render_node_name())
        label = node.text or node._render_node_label(with_tile_shape=with_tile_shape)
        graph.add_node(make_node(node, label))
        if parent is not None:
            graph.add_edge(pydot.Edge(parent, name))
        return name

    _walk(mapping, None, with_reservations, hang)
    return graph
