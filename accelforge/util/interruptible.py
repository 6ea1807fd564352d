# SPDX-License-Identifier: BSD-3-Clause
"""Functions of C that Ctrl-C ends, though they are deaf to signals."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["interruptible"]

Result = TypeVar("Result")


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
        # The threading module has a callback for the end of the object; an exception there is lost.
        restore = _postpone_ctrl_c()
        del thread
        restore()


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
