# SPDX-License-Identifier: BSD-3-Clause
"""Signals that end a debugger, and with it the host program that it started.

A debugger that a signal ends at once would leave its host running. So SIGTERM and SIGHUP (of a
terminal that is closed) become SystemExit, and what closes the host on the way out does so.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Ending"]

# As shells tell of a program that a signal has ended.
_STATUS = 128


class Ending:
    """Turns signals into SystemExit, in the main thread.

    Parameters
    ----------
    signals : signal.Signals
        Which ones; those that are ignored stay so, as ``nohup`` wants it.
    """

    def __init__(self, *signals: signal.Signals) -> None:
        self._number = 0
        self._is_held = False
        for number in signals:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        # Once only: a second one must not cut short what ends the host.
        if self._number:
            return
        self._number = number
        if not self._is_held:
            raise SystemExit(_STATUS + number)

    def run(self, work: Callable[[], int], close: Callable[[], None]) -> int:
        """Return what `work` returns; whatever ends it, `close` is done in full.

        A terminal that is closed is the end of the input too: its signal may come while it closes.
        """
        try:
            try:
                return work()
            finally:
                close()
        except SystemExit:
            # The only one: there is no further signal.
            close()
            raise

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let signals wait: a host is being started that nobody could close yet."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            if self._number:
                raise SystemExit(_STATUS + self._number)
