# SPDX-License-Identifier: BSD-3-Clause
"""Measures what ranks of accl on this host take for transfers and additions."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

__all__ = ["RankFigures", "Timing", "calibrate_ranks", "time_calls"]

PROGRAM = Path(__file__).with_name("accl_ranks.py")
SIZES = tuple(4**k for k in range(4, 10))  # 256 bytes to 256 KiB
LIMIT = 100


class Timing(NamedTuple):
    """Time of calls, by their bytes.

    Parameters
    ----------
    sizes : tuple of int
        Bytes.
    seconds : tuple of float
        Of a call.
    """

    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    def rate(self, size: int) -> float:
        """Return bytes per second near a size, from its two neighbours."""
        last = len(self.sizes) - 1
        above = min(max(bisect_right(self.sizes, size), 1), last)
        (x, y), (u, v) = self.sizes[above - 1 : above + 1], self.seconds[above - 1 : above + 1]
        # A smaller size that took longer says nothing about a rate: take it for a constant.
        return 1 / max((v - u) / (y - x), 1e-15)


class RankFigures(NamedTuple):
    """Results of `calibrate_ranks`.

    Parameters
    ----------
    barrier : float
        Seconds of a barrier.
    transfer, addition : Timing
        Of a broadcast, and of an addition of two vectors in a rank's own memory.
    """

    barrier: float
    transfer: Timing
    addition: Timing


def time_calls(ranks: int, plan: Sequence[tuple[str, int]]) -> list[float]:
    """Start ranks, and return the seconds that calls of accl take.

    A value is the mean of 10 calls, on the slowest rank, in its fastest round; rounds go on for a
    tenth of a second, or up to a second where ranks wait for cores. Where there is a core for each
    rank, each has one of its own.

    Parameters
    ----------
    ranks : int
        How many.
    plan : sequence
        Calls with bytes: ``barrier``, ``bcast``, ``combine`` or ``allreduce``.

    Raises
    ------
    RuntimeError
        A rank failed, and the message is what it wrote; or they took too long.
    """
    job = f"accelforge-{uuid.uuid4().hex}"
    words = [sys.executable, "-P", str(PROGRAM), job, str(ranks)]
    started = [
        subprocess.Popen(
            [*words, str(rank), json.dumps(plan)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]
    try:
        printed = [process.communicate(timeout=LIMIT) for process in started]
    except subprocess.TimeoutExpired:
        raise RuntimeError(
            f"{ranks} ranks of accl did not time {len(plan)} calls in {LIMIT} s: other programs "
            f"have the cores of this machine. Try again when it is idle, or with fewer ranks"
        ) from None
    finally:
        for process in started:
            with process:  # closes its pipes too
                process.kill()
    for process, (_, errors) in zip(started, printed, strict=True):
        if process.returncode:
            raise RuntimeError(f"a rank of accl ended with status {process.returncode}: {errors}")
    found: list[float] = json.loads(printed[0][0])
    return found


def calibrate_ranks(ranks: int = 2) -> RankFigures:
    """Measure ranks of accl on this host, once for each process; it takes about two seconds.

    Where ranks wait for cores it takes some times as long.

    Barriers, broadcasts of 256 bytes to 256 KiB and additions of vectors as long are timed. Nothing
    is written to disk.

    Parameters
    ----------
    ranks : int
        How many.
    """
    return _measure(ranks)


@cache
def _measure(ranks: int) -> RankFigures:
    plan = [("barrier", 0), *((name, size) for name in ("bcast", "combine") for size in SIZES)]
    barrier, *seconds = time_calls(ranks, plan)
    middle = len(SIZES)
    return RankFigures(
        barrier, Timing(SIZES, tuple(seconds[:middle])), Timing(SIZES, tuple(seconds[middle:]))
    )
