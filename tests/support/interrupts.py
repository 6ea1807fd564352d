# SPDX-License-Identifier: BSD-3-Clause
"""Signals at random times during calls of the main thread, and what arrives of them."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable

from tests.support.full import share

__all__ = ["LIMIT_S", "SIGNALS", "interrupt_at_random"]

# Of each call that is tried.
SIGNALS = share(5, 1000)

# Of a test with so many.
LIMIT_S = share(120, 600)

# A signal that has not arrived when so many more calls have begun is lost. It is not after a time:
# on a busy machine it may take seconds. A call that waits for one is ended by the test's own limit.
CALLS_WITHOUT = 10


def interrupt_at_random(
    call: Callable[[], object],
    signals: int,
    *,
    seed: int = 1,
    most_s: float = 0.03,
    crowded: bool = True,
) -> tuple[int, int]:
    """Make calls, and send SIGINT that often; count those that arrived, and those that did not.

    Each is sent when the one before has arrived or has been waited for in vain. If it is
    crowded, another thread holds Python's lock, so that a look at signals waits for it, and calls
    end meanwhile.
    """
    ends = threading.Event()
    caught = lost = begun = 0

    def hold_the_lock_of_python() -> None:
        while not ends.is_set():
            sum(range(200))

    def send() -> None:
        nonlocal lost
        rng, last = random.Random(seed), 0
        for _ in range(signals):
            # Not before the main thread is where it catches them.
            while begun == last:
                time.sleep(0.0005)
            time.sleep(rng.random() * most_s)
            before, last = caught, begun
            os.kill(os.getpid(), signal.SIGINT)
            sent = begun
            while caught == before and begun < sent + CALLS_WITHOUT:
                time.sleep(0.0005)
            lost += caught == before
        ends.set()

    bodies = [send, hold_the_lock_of_python] if crowded else [send]
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    while caught + lost < signals:
        try:
            while caught + lost < signals:
                begun += 1
                call()
        except KeyboardInterrupt:
            caught += 1
    for thread in threads:
        thread.join()
    return caught, lost
