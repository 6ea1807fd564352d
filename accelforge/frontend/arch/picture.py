# SPDX-License-Identifier: BSD-3-Clause
"""The picture of an architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accelforge.drawing.boxes import SVG, Box, draw
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
    root = Box("Architecture", "none")
    _hang_nodes(arch, root)
    return draw(root.children)


def _hang_nodes(branch: Any, parent: Box) -> Box:
    for node in branch.nodes:
        if isinstance(node, Branch):
            below = _hang_nodes(node, parent)
            if not isinstance(node, Fork):
                parent = below
            continue
        box = Box(node._render_node_label(), node._render_node_shape(), node._render_node_color())
        parent.children.append(box)
        if not node._is_compute:
            parent = box
    return parent
