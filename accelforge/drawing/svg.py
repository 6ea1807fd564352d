# SPDX-License-Identifier: BSD-3-Clause
"""Lines and shapes of a picture, as SVG.

Pictures have no background and are readable on light and on dark ones: text stands in boxes of
light colors, and lines are grey.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from accelforge.drawing.text import FONT, SIZE

__all__ = ["GREY", "SVG", "Canvas", "Point"]

GREY = "#7d848c"
_DARK = "#1f2328"
_RIM = "#5b636b"
Point = tuple[float, float]
# XML cannot hold these.
_CONTROL = dict.fromkeys([*range(32), 0xFFFE, 0xFFFF, *range(0xD800, 0xE000)], "\ufffd")


class SVG(str):
    """The text of a picture, which a notebook draws."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


class Canvas:
    """Collects what is drawn; coordinates are in pixels, from the top left."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def picture(self, width: float, height: float) -> SVG:
        """Return what was drawn.

        Parameters
        ----------
        width, height : float
            Size of the picture.
        """
        size = f"{math.ceil(width)} {math.ceil(height)}"
        wide, high = size.split(" ")
        body = "\n".join(self._parts)
        return SVG(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" '
            f'viewBox="0 0 {size}" font-family="{FONT}" font-size="{SIZE:g}">\n{body}\n</svg>\n'
        )

    def text(self, at: Point, line: str, color: str = _DARK, **style: str) -> None:
        """Write a line.

        Parameters
        ----------
        at : tuple of float
            The middle of its base line, or another point as ``text_anchor`` says.
        line : str
            The text.
        color : str
            Its color.
        **style : str
            Further attributes, with ``_`` for ``-``.
        """
        style = {"text_anchor": "middle", **style}
        more = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())
        # Spaces at the front are an indent.
        shown = escape(line.replace("  ", "\u00a0\u00a0").translate(_CONTROL))
        self._parts.append(
            f'<text x="{_number(at[0])}" y="{_number(at[1])}" fill="{color}"{more}>{shown}</text>'
        )

    def polyline(self, points: Sequence[Point], dashed: bool = False) -> None:
        """Draw straight lines from point to point."""
        path = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self._line(f'<polyline points="{path}"', dashed)

    def curve(self, points: Sequence[Point]) -> None:
        """Draw a line through points that is vertical in each of them."""
        (x, y), *rest = points
        path = f"M{_number(x)} {_number(y)}"
        for to_x, to_y in rest:
            middle = _number((y + to_y) / 2)
            path += (
                f" C{_number(x)} {middle} {_number(to_x)} {middle} {_number(to_x)} {_number(to_y)}"
            )
            x, y = to_x, to_y
        self._line(f'<path d="{path}"', False)

    def arrow(self, tip: Point, down: bool) -> None:
        """Draw the head of an arrow that points up or down."""
        x, y = tip
        back = y - 7 if down else y + 7
        points = " ".join(
            f"{_number(a)},{_number(b)}" for a, b in ((x, y), (x - 3.5, back), (x + 3.5, back))
        )
        self._parts.append(f'<polygon points="{points}" fill="{GREY}"/>')

    def _line(self, element: str, dashed: bool) -> None:
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        self._parts.append(f'{element} fill="none" stroke="{GREY}" stroke-width="1.3"{dashes}/>')

    def shape(self, name: str, corner: Point, size: Point, color: str) -> None:
        """Draw the outline of a node.

        Parameters
        ----------
        name : str
            ``box``, ``cylinder``, ``ellipse``, ``hexagon``, ``rarrow``, ``component``; ``none`` is
            not drawn, and anything else is a box.
        corner, size : tuple of float
            Top left corner, and width and height.
        color : str
            Of the inside.
        """
        if name == "none":
            return
        element = _SHAPES.get(name, _box)(*corner, *size)
        self._parts.append(f'{element} fill="{color}" stroke="{_RIM}"/>')


def _box(x: float, y: float, width: float, height: float, rx: float = 3) -> str:
    return (
        f'<rect x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" '
        f'height="{_number(height)}" rx="{rx:g}"'
    )


def _round(x: float, y: float, width: float, height: float) -> str:
    return _box(x, y, width, height, height / 2)


def _polygon(*points: Point) -> str:
    return f'<polygon points="{" ".join(f"{_number(x)},{_number(y)}" for x, y in points)}"'


def _hexagon(x: float, y: float, width: float, height: float) -> str:
    cut, middle, bottom, end = min(8.0, width / 4), y + height / 2, y + height, x + width
    return _polygon(
        (x, middle),
        (x + cut, y),
        (end - cut, y),
        (end, middle),
        (end - cut, bottom),
        (x + cut, bottom),
    )


def _arrow(x: float, y: float, width: float, height: float) -> str:
    cut, middle, bottom, end = min(8.0, width / 4), y + height / 2, y + height, x + width
    return _polygon(
        (x, y),
        (end - cut, y),
        (end, middle),
        (end - cut, bottom),
        (x, bottom),
        (x + cut / 2, middle),
    )


def _cylinder(x: float, y: float, width: float, height: float) -> str:
    rim = 3.5
    top, bottom, end, half = y + rim, y + height - rim, x + width, width / 2
    return (
        f'<path d="M{_number(x)} {_number(top)} A{_number(half)} {rim} 0 0 1 {_number(end)} '
        f"{_number(top)} V{_number(bottom)} A{_number(half)} {rim} 0 0 1 {_number(x)} "
        f"{_number(bottom)} Z M{_number(x)} {_number(top)} A{_number(half)} {rim} 0 0 0 "
        f'{_number(end)} {_number(top)}"'
    )


def _component(x: float, y: float, width: float, height: float) -> str:
    end, bottom, cut = x + width, y + height, 6
    return (
        f'<path d="M{_number(x)} {_number(y)} H{_number(end - cut)} L{_number(end)} '
        f'{_number(y + cut)} V{_number(bottom)} H{_number(x)} Z"'
    )


_SHAPES: dict[str, Callable[[float, float, float, float], str]] = {
    "cylinder": _cylinder,
    "ellipse": _round,
    "oval": _round,
    "hexagon": _hexagon,
    "rarrow": _arrow,
    "component": _component,
}
