# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a mapping: as SVG, and as a graph of the package pydot."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from accelforge.drawing.boxes import SVG, Box, draw
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
    root = Box("Root", "none")
    _walk(
        mapping, root, with_reservations, lambda node, parent: _hang(node, parent, with_tile_shape)
    )
    return draw(root.children, mapping.title)


def _hang(node: Any, parent: Box, with_tile_shape: bool) -> Box:
    label = node.text or node._render_node_label(with_tile_shape=with_tile_shape)
    box = Box(label, node._render_node_shape(), node._render_node_color())
    parent.children.append(box)
    return box


def _walk(node: Any, parent: Any, with_reservations: bool, hang: Callable[[Any, Any], Any]) -> None:
    """Visit the nodes of a mapping, each with what stands for the node above it."""
    if isinstance(node, Nested):
        for inner in node.nodes:
            if isinstance(inner, (Nested, Split)):
                _walk(inner, parent, with_reservations, hang)
            elif with_reservations or not isinstance(inner, Reservation):
                parent = hang(inner, parent)
    elif isinstance(node, Split):
        own = hang(node, parent)
        for branch in node.nodes:
            _walk(branch, own, with_reservations, hang)
    else:
        hang(node, parent)


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
        graph.add_node(
            pydot.Node(
                name,
                label=label,
                shape=node._render_node_shape(),
                style="filled",
                fillcolor=node._render_node_color(),
            )
        )
        if parent is not None:
            graph.add_edge(pydot.Edge(parent, name))
        return name

    _walk(mapping, None, with_reservations, hang)
    return graph
