# SPDX-License-Identifier: BSD-3-Clause
"""Runs the ranks of a job as threads of one process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

__all__ = ["in_threads"]


def in_threads(ranks: int, body: Callable[[int], Any], limit: float = 60) -> list[Any]:
    """Call ``body(rank)`` in a thread per rank, and return the results by rank.

    Raises
    ------
    AssertionError
        A rank does not end within `limit` seconds.
    BaseException
        The first exception of a rank.
    """
    results: list[Any] = [None] * ranks
    failures: list[BaseException] = []

    def run(rank: int) -> None:
        try:
            results[rank] = body(rank)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(limit)
        assert not thread.is_alive(), "a rank does not end"

    if failures:
        raise failures[0]
    return results
