# SPDX-License-Identifier: BSD-3-Clause
"""Limits of the mapper: of time, of memory, and Ctrl-C."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Limits", "interruptible"]

Result = TypeVar("Result")


class Limits:
    """Limits of the mapper's time and memory.

    Parameters
    ----------
    seconds : float
        From now on; infinity for no limit.
    memory : float
        Bytes.
    interrupted : bool
        Whether they are for what Ctrl-C left.
    """

    def __init__(
        self, seconds: float = math.inf, memory: float = math.inf, *, interrupted: bool = False
    ) -> None:
        self.interrupted = interrupted
        self.seconds = seconds
        self.memory = memory
        self.deadline = time.monotonic() + seconds
        self.stop: NDArray[np.uint8] = np.zeros(1, np.uint8)

    @classmethod
    def of(cls, mapper: Any) -> Limits:
        """Return those of the settings of the mapper."""
        names = ("time_limit", "memory_limit", "memory_limit_per_process")
        seconds, *memory = (float(getattr(mapper, name)) for name in names)
        for name, limit in zip(names, (seconds, *memory), strict=True):
            if not limit >= 0:
                raise ValueError(
                    f"mapper.{name} is a number that is not negative, inf for no limit, "
                    f"not {limit:g}"
                )
        return cls(seconds, min(memory))

    def remaining(self) -> float:
        """Return the seconds that are left."""
        return max(self.deadline - time.monotonic(), 0.0)

    @property
    def stopped(self) -> bool:
        """True if everything must stop."""
        return bool(self.stop[0])

    def __str__(self) -> str:
        parts = []
        if self.seconds < math.inf:
            parts.append(f"time limit of {self.seconds:g} s")
        if self.memory < math.inf:
            parts.append(f"memory limit of {self.memory:g} bytes")
        return " or its ".join(parts)


def interruptible(stop: NDArray[np.uint8], function: Callable[[], Result]) -> Result:
    """Call a function that is deaf to signals, so that Ctrl-C ends it.

    Parameters
    ----------
    stop : ndarray
        One byte, which the function looks at; it returns soon after that is not zero.
    function : callable
        It is called in a thread if this is the main thread, which signals come to.
    """
    if threading.current_thread() is not threading.main_thread():
        return function()
    future: Future[Result] = Future()
    thread = threading.Thread(target=_run, args=(future, function), name="accelforge-mapper")
    restore = _postpone_ctrl_c()
    try:
        thread.start()
    except BaseException:
        restore()
        raise
    try:
        restore()
        return future.result()
    except BaseException:
        if not future.done():
            stop[0] = 1
        raise
    finally:
        thread.join()


def _postpone_ctrl_c() -> Callable[[], None]:
    """Let Ctrl-C wait until the function that is returned is called."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is None:
        return lambda: None
    seen: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: seen.append(number))

    def restore() -> None:
        signal.signal(signal.SIGINT, handler)
        if seen:
            signal.raise_signal(signal.SIGINT)

    return restore


def _run(future: Future[Result], function: Callable[[], Result]) -> None:
    try:
        future.set_result(function())
    except BaseException as error:
        future.set_exception(error)
