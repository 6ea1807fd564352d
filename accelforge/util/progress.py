# SPDX-License-Identifier: BSD-3-Clause
"""A progress bar on stderr, where a person can see it."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self, TextIO

__all__ = ["Progress", "say"]

_WIDTH = 24
_SECONDS_BETWEEN = 0.1


class Progress:
    """A progress bar: one line of a terminal or of a notebook.

    It is silent where stderr is neither, or is closed.

    Parameters
    ----------
    total : float
        How much work there is.
    label : str or None
        What is done; None shows nothing.
    position : int
        Lines above it that other bars have; it changes nothing.
    note : str
        What stands behind the bar.
    """

    def __init__(
        self, total: float, label: str | None, position: int = 0, *, note: str = ""
    ) -> None:
        self.total = total
        self.label = label
        self.note = note
        self.done: float = 0
        self._stream = None if label is None else _stream()
        if self._stream is None:
            return
        self._started = time.monotonic()
        self._length = 0
        self._show()

    @property
    def shown(self) -> bool:
        """True if there is a bar."""
        return self._stream is not None

    def update(self, steps: float = 1) -> None:
        """Say that work is done."""
        self.reach(self.done + steps)

    def reach(self, done: float, note: str | None = None) -> None:
        """Say how much work is done in all.

        Parameters
        ----------
        done : float
            Of `total`.
        note : str, optional
            Stands behind the bar from now on.
        """
        self.done = done
        if note is not None:
            self.note = note
        if self._stream is not None and time.monotonic() - self._last >= _SECONDS_BETWEEN:
            self._show()

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._stream is not None:
            self._show()
            self._stream.write("\n")
            self._stream.flush()
            self._stream = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _show(self) -> None:
        assert self._stream is not None
        self._last = time.monotonic()
        share = min(self.done / self.total, 1.0) if self.total else 1.0
        bar = ("#" * round(share * _WIDTH)).ljust(_WIDTH)
        seconds = self._last - self._started
        behind = f" {self.note}" if self.note else ""
        text = f"{self.label}: {share:4.0%} |{bar}| [{seconds:.1f} s]{behind}"
        # A shorter text than before leaves nothing of that.
        self._stream.write(f"\r{text.ljust(self._length)}")
        self._stream.flush()
        self._length = len(text)


def say(text: str) -> None:
    """Write a line to where a progress bar would be."""
    stream = _stream()
    if stream is not None:
        stream.write(f"{text}\n")
        stream.flush()


def _stream() -> TextIO | None:
    """Return stderr, if a person sees what is written over there."""
    stream = sys.stderr
    if stream is None or stream.closed:
        return None
    seen = stream.isatty() or type(stream).__module__.startswith("ipykernel")
    return stream if seen else None
