# SPDX-License-Identifier: BSD-3-Clause
"""How far a build has come, for the person who waits for it.

Installers keep what a build prints to themselves. OFFCHIP_PROGRESS names a file, usually the
terminal's, that gets a line for each stage all the same.
"""

from __future__ import annotations

import contextlib
import os
import threading

__all__ = ["Progress"]

# Where lines cannot be overwritten, there is one for each tenth of a stage.
PARTS = 10


class Progress:
    """Counts the steps of one stage; used as a context manager, from any thread.

    Parameters
    ----------
    title : str
        What is done, such as ``compiling C``.
    total : int
        Number of steps. Nothing is shown for fewer than two.
    """

    def __init__(self, title: str, total: int) -> None:
        self.title = title
        self.total = total
        self.done = 0
        self._lock = threading.Lock()
        # A bare descriptor: nothing is buffered, so that nothing can fail later.
        self._file = -1

    def __enter__(self) -> Progress:
        """Open the file; without it, or if it cannot be written to, nothing is shown."""
        name = os.environ.get("OFFCHIP_PROGRESS", "")
        if name and self.total > 1:
            try:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
                self._file = os.open(name, flags, 0o666)
            except OSError:
                self._file = -1
        self._show()
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        if self._file >= 0:
            if os.isatty(self._file) and self.done < self.total:
                self._write("\n")
            os.close(self._file)
            self._file = -1

    def step(self) -> None:
        """Count one step."""
        with self._lock:
            self.done += 1
            self._show()

    def _show(self) -> None:
        if self._file < 0:
            return
        text = f"  {self.title}: {self.done} of {self.total}"
        if os.isatty(self._file):
            end = "\n" if self.done == self.total else ""
            self._write(f"\r{text}{end}")
        elif self.done * PARTS // self.total != (self.done - 1) * PARTS // self.total:
            self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        # A terminal that has gone away, or a full disk, must not end the build.
        with contextlib.suppress(OSError):
            os.write(self._file, text.encode())
