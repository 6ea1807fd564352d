# SPDX-License-Identifier: BSD-3-Clause
"""A line on the terminal while a command works for longer than two seconds."""

from __future__ import annotations

import sys
import threading
import time
from typing import Self, TextIO

__all__ = ["Waiting"]

QUIET_S = 2.0
PAUSE_S = 0.5
# Returns to the begin of the line, and erases it.
ERASE = "\r\x1b[K"


class Waiting:
    """Tells what is waited for, and for how long, on standard error; to be used in `with`.

    Nothing is written where that is no terminal.

    Parameters
    ----------
    label : str
        What is done, such as ``compiling the programs``.
    stream : TextIO, optional
        Where to write instead.
    """

    def __init__(self, label: str, stream: TextIO | None = None) -> None:
        self._label = label
        self._stream = sys.stderr if stream is None else stream
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._begin = self._quiet_since = time.monotonic()
        self._shown = False
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._stream is not None and not self._stream.closed and self._stream.isatty():
            self._thread = threading.Thread(target=self._run, name="offchip-waiting", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self.clear()

    def clear(self) -> None:
        """Erase the line before something else is printed; it comes back two seconds later."""
        with self._lock:
            self._quiet_since = time.monotonic()
            if self._shown:
                self._shown = False
                self._write(ERASE)

    def _run(self) -> None:
        while not self._over.wait(PAUSE_S):
            with self._lock:
                now = time.monotonic()
                if now - self._quiet_since >= QUIET_S:
                    self._shown = True
                    self._write(f"{ERASE}{self._label}: {now - self._begin:.0f} s")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self._over.set()  # the terminal is gone, and the command goes on
