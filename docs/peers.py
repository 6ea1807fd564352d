# SPDX-License-Identifier: BSD-3-Clause
"""The picture of docs/performance.md: how fast each package is beside what does the same."""

from __future__ import annotations

from typing import NamedTuple

from offchip.speed_picture import Speed, draw_speeds

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


def draw() -> str:
    """Return the picture as SVG."""
    return draw_speeds([Speed(row.what, row.peer, *row.speeds()) for row in PEERS])
