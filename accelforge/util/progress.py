# SPDX-License-Identifier: BSD-3-Clause
"""A progress bar on stderr."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self, TextIO

__all__ = ["Progress"]

_WIDTH = 24
_SECONDS_BETWEEN_LINES = 0.1


class Progress:
    """A progress bar: that of tqdm where it is installed, else one line of text.

    It is silent where stderr is closed.

    Parameters
    ----------
    total : int
        How many steps there are.
    label : str or None
        What is done; None shows nothing.
    position : int
        Line of the bar, if there are several.
    """

    def __init__(self, total: int, label: str | None, position: int = 0) -> None:
        self._bar: Any = None
        stream = sys.stderr
        if label is None or stream is None or stream.closed:
            return
        try:
            from tqdm import tqdm  # type: ignore[import-untyped, import-not-found, unused-ignore]
        except ImportError:
            self._bar = _Line(total, label, stream)
        else:
            self._bar = tqdm(total=total, desc=label, position=position, file=stream)

    def update(self, steps: int = 1) -> None:
        """Say that steps are done."""
        if self._bar is not None:
            self._bar.update(steps)

    def close(self) -> None:
        """Leave the bar as it is."""
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Line:
    """A bar of characters, which a terminal shows in one line, and a file line by line."""

    def __init__(self, total: int, label: str, stream: TextIO) -> None:
        self.total = total
        self.label = label
        self.stream = stream
        self.done = 0
        self.started = time.monotonic()
        self.shown = -1.0
        self.in_place = stream.isatty()
        self._show()

    def update(self, steps: int) -> None:
        self.done += steps
        if self.in_place and time.monotonic() - self.shown >= _SECONDS_BETWEEN_LINES:
            self._show()

    def close(self) -> None:
        self._show()
        if self.in_place:
            self.stream.write("\n")
            self.stream.flush()

    def _show(self) -> None:
        self.shown = time.monotonic()
        share = min(self.done / self.total, 1.0) if self.total else 1.0
        bar = ("#" * round(share * _WIDTH)).ljust(_WIDTH)
        seconds = self.shown - self.started
        text = f"{self.label}: {share:4.0%} |{bar}| {self.done}/{self.total} [{seconds:.1f} s]"
        self.stream.write(f"\r{text}" if self.in_place else f"{text}\n")
        self.stream.flush()
