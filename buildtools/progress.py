# SPDX-License-Identifier: BSD-3-Clause
"""Show how far a build has come to the person who waits for it.

Installers keep what a build prints to themselves. OFFCHIP_PROGRESS names a file, usually the
terminal's, that is written to all the same. A terminal gets one line that is updated in place,
anything else a line every ten seconds at most.
"""

from __future__ import annotations

import contextlib
import os
import time

__all__ = ["Progress"]

PAUSE_S = 10.0
WIDTH = 79
# Fewer steps are over before anybody waits.
SMALL = 5


class Progress:
    """Shows the steps of one stage; used as a context manager.

    Parameters
    ----------
    title : str
        What is done, such as ``building release``.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._shown = 0.0
        self._open_line = False
        # A bare descriptor: nothing is buffered, so that nothing can fail later.
        self._file = -1

    def __enter__(self) -> Progress:
        """Open the file; without it, or if it cannot be written to, nothing is shown."""
        name = os.environ.get("OFFCHIP_PROGRESS", "")
        if name:
            with contextlib.suppress(OSError):
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
                self._file = os.open(name, flags, 0o666)
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        if self._file >= 0:
            if self._open_line:
                self._write("\n")
            os.close(self._file)
            self._file = -1

    def show(self, done: int, total: int, part: str, left: str) -> None:
        """Show a step.

        Parameters
        ----------
        done, total : int
            Steps that are done, and those of the whole stage.
        part : str
            What is being made.
        left : str
            Seconds that are left, or anything else where that is not known.
        """
        if self._file < 0 or total < SMALL:
            return
        text = f"  {self.title}: {done} of {total}"
        with contextlib.suppress(ValueError):
            text += f", {round(float(left))} s left" if done < total else ""
        now = time.monotonic()
        if os.isatty(self._file):
            self._write(f"\r\033[K{f'{text}  {part}'[:WIDTH]}")
            self._open_line = True
        elif now - self._shown >= PAUSE_S or done == total:
            self._write(f"{text}\n")
            self._shown = now

    def _write(self, text: str) -> None:
        # A terminal that has gone away, or a full disk, must not end the build.
        with contextlib.suppress(OSError):
            os.write(self._file, text.encode())
