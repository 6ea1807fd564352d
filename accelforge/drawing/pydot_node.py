# SPDX-License-Identifier: BSD-3-Clause
"""Nodes for graphs of the package pydot."""

from __future__ import annotations

from typing import Any

from offchip.lazy import need

__all__ = ["make_node"]


def make_node(node: Any, label: str) -> Any:
    """Make a pydot.Node.

    Parameters
    ----------
    node : ArchNode or MappingNode
        Says its name, shape and color.
    label : str
        Its text.
    """
    return need("pydot", "A graph of pydot", "plot").Node(
        str(node._render_node_name()),
        label=label,
        shape=node._render_node_shape(),
        style="filled",
        fillcolor=node._render_node_color(),
    )
