# SPDX-License-Identifier: BSD-3-Clause
"""Directed graphs of boxes, in layers from the top."""

from __future__ import annotations

from collections.abc import Sequence

from accelforge.drawing.boxes import Box
from accelforge.drawing.layers import Edge, arrange
from accelforge.drawing.svg import SVG, Canvas

__all__ = ["draw_graph"]


def draw_graph(boxes: Sequence[Box], edges: Sequence[Edge]) -> SVG:
    """Draw a graph.

    Parameters
    ----------
    boxes : sequence of Box
        The nodes.
    edges : sequence of tuple
        Pairs of numbers of nodes; an arrow goes from the first to the second.
    """
    edges = list(dict.fromkeys(edges))
    places = arrange([box.size for box in boxes], edges)
    canvas = Canvas()
    for points in places.edges:
        if points:
            canvas.curve(points)
            canvas.arrow(points[-1], down=points[-1][1] > points[0][1])
    for box, (center, top) in zip(boxes, places.nodes, strict=True):
        box.draw(canvas, center, top)
    return canvas.picture(*places.size)
