# SPDX-License-Identifier: BSD-3-Clause
"""Runs a module of a package in a process of its own, and reads the JSON that it prints."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from typing import Any, Self

__all__ = ["Child"]


class Child:
    """A process that runs a module with ``--json``; to be used in `with`.

    It has a session of its own, so that what it has started ends with it.

    Parameters
    ----------
    module : str
        What ``python -m`` runs.
    timeout : float
        Seconds after which it is killed.
    words : str
        Further arguments of the module.
    """

    def __init__(self, module: str, timeout: float, *words: str) -> None:
        self.module = module
        self.words = words
        self.timeout = timeout
        #: After the block: the exit status, which is negative for a signal, and the last line of
        #: standard error.
        self.status = 0
        self.last_line = ""
        self._late = threading.Event()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            self._errors = stack.enter_context(tempfile.TemporaryFile("w+"))
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", self.module, "--json", *self.words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                start_new_session=True,
            )
            assert self._process.stdout is not None
            self._lines = stack.enter_context(self._process.stdout)
            self._open = stack.pop_all()
        self._timer = threading.Timer(self.timeout, self._end)
        self._timer.daemon = True
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()
        self._kill()
        with self._open:
            self.status = self._process.wait()
            self._errors.seek(0)
            lines = [line.strip() for line in self._errors if line.strip()]
            self.last_line = lines[-1] if lines else ""

    def objects(self) -> Iterator[dict[str, Any]]:
        """Yield the JSON objects that it prints, one per line, until it has ended.

        Whatever else it prints is left out.
        """
        for line in self._lines:
            with contextlib.suppress(ValueError):
                value = json.loads(line)
                if isinstance(value, dict):
                    yield value
        # Not waited for yet: until then its number, and its group's, belong to nobody else.
        os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)

    def explain(self, after: str = "") -> str | None:
        """Say, after the block, why it did not end well; None if its status is 0.

        Parameters
        ----------
        after : str, optional
            What it had done, such as `` after 'copies'``.
        """
        if self._late.is_set():
            return f"not done within {self.timeout:g} s{after}"
        if self.status == 0:
            return None
        how = f"ended by {_signal_name(-self.status)}"
        if self.status > 0:
            how = f"ended with status {self.status}"
        return f"{how}{after}" + (f": {self.last_line}" if self.last_line else "")

    def _end(self) -> None:
        self._late.set()
        self._kill()

    def _kill(self) -> None:
        """Kill the session; nothing happens if it has ended."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
