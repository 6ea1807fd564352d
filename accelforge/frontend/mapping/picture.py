# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a mapping: as SVG, and as a graph of the package pydot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from accelforge.drawing.boxes import Box
from accelforge.drawing.pydot_node import make_node
from accelforge.drawing.svg import SVG
from accelforge.drawing.trees import Tree, draw_trees
from accelforge.frontend.mapping.holders import Reservation, TensorHolder
from accelforge.frontend.mapping.loops import Loop
from accelforge.frontend.mapping.tree import Nested, Split
from offchip.lazy import need

if TYPE_CHECKING:
    from accelforge.frontend.mapping.mapping import Mapping

__all__ = ["mapping_to_pydot", "render_mapping"]


def render_mapping(
    mapping: Mapping, with_reservations: bool = True, with_tile_shape: bool = True
) -> SVG:
    """Draw a mapping, without loops of one iteration.

    Parameters
    ----------
    mapping : Mapping
        Evaluated or not.
    with_reservations : bool
        Whether to draw reservations. One that follows the node that holds its tensors says nothing
        new, and is left out.
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
    """Visit the nodes of a mapping that are drawn, each with what stands for the node above it."""
    waiting = [(root, above)]
    while waiting:
        node, parent = waiting.pop()
        if isinstance(node, Nested):
            for inner in _drawn(node.nodes, with_reservations):
                if isinstance(inner, (Nested, Split)):
                    waiting.append((inner, parent))
                else:
                    parent = hang(inner, parent)
            continue
        own = hang(node, parent)
        if isinstance(node, Split):
            waiting += [(branch, own) for branch in reversed(node.nodes)]


def _drawn(nodes: Iterable[Any], with_reservations: bool) -> Iterator[Any]:
    """Leave out nodes that tell a reader nothing, unless they have a text of their own."""
    held: set[tuple[Any, str]] = set()  # by the holders right above
    for node in nodes:
        if isinstance(node, Reservation):
            known = {(node.resource, tensor) for tensor in node.purposes} <= held
            if with_reservations and (node.text or not known):
                yield node
            continue
        if isinstance(node, TensorHolder):
            held |= {(node.component, tensor) for tensor in node.tensors}
        else:
            held = set()
        once = isinstance(node, Loop) and node.calculated_n_iterations == 1
        if node.text or not once:
            yield node


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
