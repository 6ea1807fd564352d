# SPDX-License-Identifier: BSD-3-Clause
"""Trees of boxes, from the root at the top; of any depth."""

from __future__ import annotations

from collections.abc import Sequence

from accelforge.drawing.boxes import Box
from accelforge.drawing.svg import GREY, SVG, Canvas
from accelforge.drawing.text import BOLD, measure

__all__ = ["Tree", "draw_trees"]

_BESIDE = 18.0
_BELOW = 13.0
# Below a node with several branches there is room for the line that connects them.
_BELOW_SPLIT = 22.0
_MARGIN = 10.0
_TITLE = 22.0


class Tree:
    """A box with trees below it.

    Parameters
    ----------
    box : Box
        The root.
    dashed : bool
        Whether the line to what is above it is dashed.
    """

    def __init__(self, box: Box, dashed: bool = False) -> None:
        self.box = box
        self.dashed = dashed
        self.below: list[Tree] = []
        self._extent = 0.0
        self._left = 0.0
        self._top = 0.0

    @property
    def _bottom(self) -> float:
        return self._top + self.box.size[1]

    def _arrange(self) -> float:
        """Give all nodes their places; the top left corner is at `_left` and `_top`."""
        nodes = [self]
        for node in nodes:
            nodes += node.below
        for node in reversed(nodes):
            node._extent = max(node.box.size[0], node._extent_below())
        for node in nodes:
            gap = _BELOW if len(node.below) < 2 else _BELOW_SPLIT
            left = node._left + (node._extent - node._extent_below()) / 2
            for child in node.below:
                child._left, child._top = left, node._bottom + gap
                left += child._extent + _BESIDE
        return max(node._bottom for node in nodes)

    def _extent_below(self) -> float:
        return sum(c._extent for c in self.below) + _BESIDE * max(len(self.below) - 1, 0)

    @property
    def _center(self) -> float:
        return self._left + self._extent / 2

    def _draw(self, canvas: Canvas) -> None:
        nodes = [self]
        for node in nodes:
            nodes += node.below
            for child in node.below:
                bend = child._top - (child._top - node._bottom) / 2
                start, end = (node._center, node._bottom), (child._center, child._top)
                bends = [(node._center, bend), (child._center, bend)]
                straight = abs(start[0] - end[0]) < 0.5
                canvas.polyline([start, *([] if straight else bends), end], child.dashed)
        for node in nodes:
            node.box.draw(canvas, node._center, node._top)


def draw_trees(roots: Sequence[Tree], title: str | None = None) -> SVG:
    """Draw trees side by side.

    Parameters
    ----------
    roots : list of Tree
        The trees.
    title : str, optional
        Written above them.
    """
    canvas = Canvas()
    if title:
        canvas.text((_MARGIN, _MARGIN + 8), title, GREY, text_anchor="start", font_weight="bold")
    left, bottom = _MARGIN, _MARGIN
    for root in roots:
        root._left, root._top = left, _MARGIN + (_TITLE if title else 0)
        bottom = max(bottom, root._arrange())
        root._draw(canvas)
        left += root._extent + _BESIDE
    width = left - _BESIDE if roots else _MARGIN
    width = max(width, _MARGIN + measure(title or "") * BOLD)
    return canvas.picture(width + _MARGIN, bottom + _MARGIN)
