# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for several requests: `wait` and `as_completed`, as `concurrent.futures` has them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from offchip.request import Request

__all__ = ["ALL_COMPLETED", "FIRST_COMPLETED", "FIRST_EXCEPTION", "Waited", "as_completed", "wait"]

ALL_COMPLETED, FIRST_COMPLETED, FIRST_EXCEPTION = (
    "ALL_COMPLETED",
    "FIRST_COMPLETED",
    "FIRST_EXCEPTION",
)


class Waited(NamedTuple):
    """The requests that have finished, and those that have not."""

    done: set[Any]
    not_done: set[Any]


def wait(
    requests: Iterable[Any], timeout: float | None = None, return_when: str = ALL_COMPLETED
) -> Waited:
    """Wait for requests, also of several processes and packages, and for futures.

    Parameters
    ----------
    requests : iterable of Request or Future
        What to wait for.
    timeout : float, optional
        Timeout in seconds; None waits without limit.
    return_when : str
        `ALL_COMPLETED`, `FIRST_COMPLETED` or `FIRST_EXCEPTION`.

    Returns
    -------
    Waited
        The sets `done` and `not_done`. Errors are not raised: the requests have them.
    """
    given = set(requests)
    if return_when == ALL_COMPLETED and all(isinstance(one, Request) for one in given):
        # One after the other: no thread has to watch them.
        deadline = None if timeout is None else time.monotonic() + timeout
        for request in given:
            left = None if deadline is None else max(deadline - time.monotonic(), 0)
            if not request.wait(left):
                break
        done = {request for request in given if request.done()}
        return Waited(done, given - done)

    from concurrent import futures

    return Waited(*futures.wait(given, timeout, return_when))


def as_completed(requests: Iterable[Any], timeout: float | None = None) -> Iterator[Any]:
    """Yield requests when they finish.

    Parameters
    ----------
    requests : iterable of Request or Future
        What to wait for.
    timeout : float, optional
        Timeout in seconds of all together; None waits without limit.

    Raises
    ------
    TimeoutError
        Not all have finished by then.
    """
    from concurrent import futures

    yield from futures.as_completed(set(requests), timeout)
