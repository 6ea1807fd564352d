# SPDX-License-Identifier: BSD-3-Clause
"""The picture of docs/performance.md: how fast each package is beside what does the same."""

from __future__ import annotations

import math
from html import escape
from typing import NamedTuple

__all__ = ["PEERS", "Peer", "draw"]


class Peer(NamedTuple):
    """A row of a table on the page.

    Parameters
    ----------
    what, peer : str
        What was measured, and beside what.
    low, high : str
        As the page has them.
    is_time : bool
        They are shares of the peer's time: 0.5 is twice as fast.
    """

    what: str
    peer: str
    low: str
    high: str
    is_time: bool = False

    def speeds(self) -> tuple[float, float]:
        """Return the speed as a multiple of the peer's, from the least to the most."""
        numbers = float(self.low), float(self.high)
        return (1 / numbers[1], 1 / numbers[0]) if self.is_time else numbers


PEERS = (
    Peer("veo: write or read, 4 KiB to 64 MiB", "memcpy", "0.87", "1.6"),
    Peer("dpu: copies of one DPU", "memcpy", "0.88", "1.7"),
    Peer("accl: 2 ranks on a host", "the quicker of MPICH and Open MPI", "0.46", "0.46", True),
    Peer("accl: 4 ranks on 2 cores", "the quicker of MPICH and Open MPI", "0.42", "0.42", True),
    Peer("accl: packets through MPICH", "mpi4py", "0.55", "0.56", True),
    Peer("accl: two hosts, two ranks each", "MPICH", "0.76", "0.76", True),
    Peer("accelforge: evaluation of a mapping", "AccelForge", "43", "459"),
    Peer("accelforge: search", "AccelForge", "100", "450"),
)
COLOURS = {"veo": "#2a7f62", "dpu": "#2e6da4", "accl": "#e0a030", "accelforge": "#6c4aa0"}
WIDTH, LEFT, RIGHT, ROW, TOP = 830, 240, 520, 26, 44
LEAST, MOST = 0.5, 1000.0


def _x(speed: float) -> float:
    share = math.log(speed / LEAST) / math.log(MOST / LEAST)
    return LEFT + share * (RIGHT - LEFT)


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def draw() -> str:
    """Return the picture as SVG."""
    bottom = TOP + ROW * len(PEERS)
    parts = [_text(10, 18, "How many times as fast as what does the same")]
    for tick in (0.5, 1, 2, 10, 100, 1000):
        stroke = "#444" if tick == 1 else "#ddd"
        x = _x(tick)
        parts.append(
            f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" stroke="{stroke}"/>'
        )
        parts.append(_text(x, bottom + 16, f"{tick:g}", "middle"))
    for index, row in enumerate(PEERS):
        low, high = row.speeds()
        y = TOP + ROW * index + ROW / 2
        begin = min(_x(low), _x(high) - 6)
        parts.append(_text(LEFT - 10, y + 4, row.what, "end"))
        parts.append(
            f'<rect x="{begin:.1f}" y="{y - 6:.1f}" width="{_x(high) - begin:.1f}" height="12" '
            f'rx="3" fill="{COLOURS[row.what.partition(":")[0]]}"/>'
        )
        span = f"{low:.2g} to {high:.2g}" if low < 10 else f"{low:.0f} to {high:.0f}"
        shown = f"{high:.2g}" if f"{low:.2g}" == f"{high:.2g}" else span
        parts.append(_text(RIGHT + 12, y + 4, f"{shown} times {row.peer}"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{bottom + 26}" '
        f'viewBox="0 0 {WIDTH} {bottom + 26}" font-family="sans-serif" font-size="12">\n'
        f"<title>Speed beside peers</title>\n"
        f'<rect width="{WIDTH}" height="{bottom + 26}" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )
