# SPDX-License-Identifier: BSD-3-Clause
"""A node of a picture: text inside of a shape."""

from __future__ import annotations

from accelforge.drawing.svg import GREY, Canvas, Point
from accelforge.drawing.text import BOLD, measure, wrap

__all__ = ["Box"]

_LINE = 15.0
_PADDING = 10.0
_BEHIND = 4.0
# Room for what a shape has above its text.
_ABOVE = {"cylinder": 5.0}


class Box:
    """A node of a picture.

    Parameters
    ----------
    label : str
        Its text; lines are separated by newlines, and long ones are broken.
    shape : str
        ``box``, ``cylinder``, ``ellipse`` and so on; see `Canvas.shape`.
    color : str
        Of its inside.
    copies : int
        How many outlines are seen behind it, as there are several of it.
    heading : bool
        Whether the first line is bold.
    limit : float
        How wide lines may be.
    """

    def __init__(
        self,
        label: str,
        shape: str = "box",
        color: str = "white",
        copies: int = 0,
        heading: bool = False,
        limit: float = 240.0,
    ) -> None:
        self.lines = wrap(label.strip(), limit)
        self.shape = shape
        self.color = color
        self.copies = copies
        self.heading = heading

        sides = _PADDING * (1.4 if shape in ("ellipse", "hexagon", "rarrow", "oval") else 1)
        bold = BOLD if heading else 1.0
        width = max(measure(line) * (1 if n else bold) for n, line in enumerate(self.lines))
        self._inner = (
            width + 2 * sides,
            len(self.lines) * _LINE + _PADDING + _ABOVE.get(shape, 0),
        )

    @property
    def size(self) -> Point:
        """Width and height, outlines behind it included."""
        return self._inner[0] + self.copies * _BEHIND, self._inner[1] + self.copies * _BEHIND

    def draw(self, canvas: Canvas, center: float, top: float) -> None:
        """Draw the node.

        Parameters
        ----------
        canvas : Canvas
            What to draw on.
        center, top : float
            Where.
        """
        width, height = self._inner
        left = center - self.size[0] / 2
        for number in reversed(range(self.copies + 1)):
            corner = left + number * _BEHIND, top + number * _BEHIND
            canvas.shape(self.shape, corner, (width, height), self.color)

        first = top + _ABOVE.get(self.shape, 0) + _PADDING / 2 + _LINE * 0.76
        for number, line in enumerate(self.lines):
            style = {"font_weight": "bold"} if self.heading and number == 0 else {}
            if self.shape == "none":
                style["color"] = GREY
            canvas.text((left + width / 2, first + _LINE * number), line, **style)
