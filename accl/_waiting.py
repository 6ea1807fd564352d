# SPDX-License-Identifier: BSD-3-Clause
"""Divides long waits into short ones, so that signals are handled between them."""

from __future__ import annotations

import time
from collections.abc import Iterator

__all__ = ["slices"]

SLICE_NS = 50_000_000


def slices(limit_ns: int) -> Iterator[int]:
    """Yield the lengths of waits, in nanoseconds, until a timeout.

    Parameters
    ----------
    limit_ns : int
        The timeout; negative for none.
    """
    if limit_ns < 0:
        while True:
            yield SLICE_NS

    deadline = time.monotonic_ns() + limit_ns
    left = limit_ns
    while True:
        yield min(left, SLICE_NS)
        left = deadline - time.monotonic_ns()
        if left <= 0:
            return
