# SPDX-License-Identifier: BSD-3-Clause
"""A picture of speeds beside those of others, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

__all__ = ["Speed", "draw_speeds", "format_speed"]


class Speed(NamedTuple):
    """A line of the picture.

    Parameters
    ----------
    what, beside : str
        What is how fast, and beside what; the package comes first, before a colon.
    low, high : float
        The speed as a multiple of the other's, from the least to the most.
    """

    what: str
    beside: str
    low: float
    high: float


COLOURS = {"veo": "#2a7f62", "dpu": "#2e6da4", "accl": "#e0a030", "accelforge": "#6c4aa0"}
WIDTH, LEFT, RIGHT, ROW, TOP = 900, 270, 540, 26, 44
LETTER = 7  # pixels, in the widest of the usual fonts
TICKS = (0.001, 0.01, 0.1, 0.5, 1, 2, 10, 100, 1000, 10_000)


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def draw_speeds(rows: Sequence[Speed]) -> str:
    """Return the picture as SVG, with a bar for each row from its least to its most."""
    least = min([0.5, *(row.low * 0.8 for row in rows)])
    most = max([10.0, *(row.high * 1.2 for row in rows)])

    def place(speed: float) -> float:
        return LEFT + math.log(speed / least) / math.log(most / least) * (RIGHT - LEFT)

    bottom = TOP + ROW * len(rows)
    width = WIDTH
    parts = [_text(10, 18, "How many times as fast as what does the same")]
    for tick in TICKS:
        if not least <= tick <= most:
            continue
        stroke = "#444" if tick == 1 else "#ddd"
        x = place(tick)
        parts.append(
            f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" stroke="{stroke}"/>'
        )
        parts.append(_text(x, bottom + 16, f"{tick:g}", "middle"))
    for index, row in enumerate(rows):
        y = TOP + ROW * index + ROW / 2
        begin = min(place(row.low), place(row.high) - 6)
        parts.append(_text(LEFT - 10, y + 4, row.what, "end"))
        parts.append(
            f'<rect x="{begin:.1f}" y="{y - 6:.1f}" width="{place(row.high) - begin:.1f}" '
            f'height="12" rx="3" fill="{COLOURS.get(row.what.partition(":")[0], "#777")}"/>'
        )
        text = f"{_span(row.low, row.high)} times {row.beside}"
        parts.append(_text(RIGHT + 12, y + 4, text))
        width = max(width, RIGHT + 12 + LETTER * len(text))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + 26}" '
        f'viewBox="0 0 {width} {bottom + 26}" font-family="sans-serif" font-size="12">\n'
        f"<title>Speed beside peers</title>\n"
        f'<rect width="{width}" height="{bottom + 26}" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def format_speed(speed: float) -> str:
    """Format a speed with two digits, or as a whole number."""
    return f"{speed:.2g}" if speed < 99.5 else f"{speed:.0f}"


def _span(low: float, high: float) -> str:
    one, other = format_speed(low), format_speed(high)
    return other if one == other else f"{one} to {other}"
