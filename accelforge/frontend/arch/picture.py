# SPDX-License-Identifier: BSD-3-Clause
"""The picture of an architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accelforge.drawing.boxes import Box
from accelforge.drawing.svg import SVG
from accelforge.drawing.trees import Tree, draw_trees
from accelforge.frontend.arch.spatial import Spatialable
from accelforge.frontend.arch.structure import Branch, Fork

if TYPE_CHECKING:
    from accelforge.frontend.arch.arch import Arch

__all__ = ["render_arch"]


def render_arch(arch: Arch) -> SVG:
    """Draw an architecture.

    Parameters
    ----------
    arch : Arch
        Evaluated or not.
    """
    root = Tree(Box(""))
    _hang_nodes(arch, root)
    return draw_trees(root.below)


def _hang_nodes(branch: Any, parent: Tree, dashed: bool = False) -> Tree:
    """Hang nodes below one another; those of a fork, with dashed lines, beside what follows."""
    for node in branch.nodes:
        if isinstance(node, Branch):
            side = isinstance(node, Fork)
            below = _hang_nodes(node, parent, dashed or side)
            if not side:
                parent = below
            continue
        tree = Tree(_box(node), dashed)
        parent.below.append(tree)
        if not node._is_compute:
            parent = tree
    return parent


def _box(node: Any) -> Box:
    several = isinstance(node, Spatialable) and any(s.fanout != 1 for s in node.spatial)
    label = node._render_node_label()
    shape, color = node._render_node_shape(), node._render_node_color()
    return Box(label, shape, color, copies=2 if several else 0, heading=True)
