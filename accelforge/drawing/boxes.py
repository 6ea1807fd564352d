# SPDX-License-Identifier: BSD-3-Clause
"""Boxes that hang on one another, and their picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["SVG", "Box", "draw"]

CHARACTER = 7.2
LINE = 16
PADDING = 10
GAP = 18


class SVG(str):
    """The text of a picture, which a notebook draws."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


class Box:
    """A node of a picture.

    Parameters
    ----------
    label : str
        Its text; lines are separated by newlines.
    shape : str
        ``box``, ``cylinder``, ``ellipse``, ``hexagon`` and others, of which most are drawn alike.
    color : str
        Of its inside.
    children : list of Box
        What hangs on it.
    """

    def __init__(self, label: str, shape: str = "box", color: str = "white") -> None:
        self.lines = label.strip().split("\n")
        self.shape = shape
        self.color = color
        self.children: list[Box] = []

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        width = max(len(line) for line in self.lines) * CHARACTER + 2 * PADDING
        return width, len(self.lines) * LINE + PADDING

    def extent(self) -> float:
        """Width of this node and of all below it."""
        below = sum(child.extent() for child in self.children)
        return max(self.size[0], below + GAP * max(len(self.children) - 1, 0))

    def draw(self, x: float, y: float, out: list[str]) -> float:
        """Draw this node and all below it into a column that begins at x.

        Returns
        -------
        float
            Where the picture ends below.
        """
        extent, (width, height) = self.extent(), self.size
        center = x + extent / 2
        bottom = y + height
        at = (
            x
            + (
                extent
                - sum(c.extent() for c in self.children)
                - GAP * max(len(self.children) - 1, 0)
            )
            / 2
        )
        for child in self.children:
            middle = at + child.extent() / 2
            top = y + height + GAP
            out.append(
                f'<line x1="{center:.1f}" y1="{y + height:.1f}" x2="{middle:.1f}" y2="{top:.1f}" '
                f'stroke="#888"/>'
            )
            bottom = max(bottom, child.draw(at, top, out))
            at += child.extent() + GAP
        self._outline(center - width / 2, y, out)
        for number, line in enumerate(self.lines):
            out.append(
                f'<text x="{center:.1f}" y="{y + PADDING / 2 + LINE * (number + 0.75):.1f}" '
                f'text-anchor="middle">{escape(line)}</text>'
            )
        return bottom

    def _outline(self, x: float, y: float, out: list[str]) -> None:
        width, height = self.size
        style = f'fill="{self.color}" stroke="#444"'
        if self.shape == "none":
            return
        if self.shape in ("ellipse", "oval"):
            out.append(
                f'<ellipse cx="{x + width / 2:.1f}" cy="{y + height / 2:.1f}" '
                f'rx="{width / 2:.1f}" ry="{height / 2:.1f}" {style}/>'
            )
            return
        corner = {"cylinder": 8, "hexagon": 12}.get(self.shape, 2)
        out.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'rx="{corner}" {style}/>'
        )


def draw(roots: Sequence[Box], title: str | None = None) -> SVG:
    """Draw trees side by side.

    Parameters
    ----------
    roots : list of Box
        Their roots.
    title : str, optional
        Written above them.
    """
    out: list[str] = []
    x: float = GAP
    top = GAP + (LINE if title else 0)
    bottom = float(top)
    if title:
        out.append(f'<text x="{GAP}" y="{LINE}" font-weight="bold">{escape(title)}</text>')
    for root in roots:
        bottom = max(bottom, root.draw(x, top, out))
        x += root.extent() + GAP
    body = "\n".join(out)
    return SVG(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{x:.0f}" height="{bottom + GAP:.0f}" '
        f'font-family="Arial, sans-serif" font-size="12">\n{body}\n</svg>\n'
    )
