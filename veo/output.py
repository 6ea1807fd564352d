# SPDX-License-Identifier: BSD-3-Clause
"""Output of kernels, given to Python: to a stream, a function, or a descriptor."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import select
import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Output", "Target", "Writer"]

_FIRST_FREE = 16  # descriptors below may be the worker's own
_CHUNK = 1 << 16
_JOIN_S = 5.0


class Writer(Protocol):
    """Object with a method `write()`, such as an open text file, `io.StringIO`, `sys.stdout`."""

    def write(self, text: str, /) -> object:
        """Write text."""


Target = Writer | Callable[[str], object] | int | None


class _Pipe:
    """The end of one pipe that is read, and who gets its text."""

    def __init__(self, target: Any, name: str) -> None:
        self._write = _function(target, name)
        self._flush = getattr(target, "flush", None)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.open, self.ended = True, False
        self.end, self.worker_end = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.end, False)

    def pump(self) -> None:
        """Write what is in the pipe, which stays open: another thread may be waiting for it."""
        while self.open and not self.ended:
            try:
                data = os.read(self.end, _CHUNK)
            except BlockingIOError:
                return
            self._tell(self._decoder.decode(data, final=not data))
            self.ended = not data

    def _tell(self, text: str) -> None:
        if not text or self._write is None:
            return
        try:
            self._write(text)
            if self._flush is not None:
                self._flush()
        except Exception as error:
            # The kernel goes on; what it prints after that is lost.
            self._write = None
            error.add_note("(while writing what a VE process printed; the rest is discarded)")
            sys.excepthook(type(error), error, error.__traceback__)

    def close(self) -> None:
        if self.open:
            self.open = False
            os.close(self.end)


class Output:
    """Reads what one VE process prints, and writes it to Python's streams.

    Parameters
    ----------
    stdout, stderr : Target or True
        Who gets the text of each: what has `write()`, a function that takes text, the number of
        a descriptor, True for `sys.stdout` and `sys.stderr` of the moment. None leaves it where
        it is.

    Attributes
    ----------
    descriptors : list of int
        What becomes the process' standard output and error, -1 for the host's.
    """

    def __init__(self, stdout: Target, stderr: Target) -> None:
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._thread: threading.Thread | None = None
        self._pipes: list[_Pipe] = []
        self._wake = -1
        self.descriptors: list[int] = []
        try:
            for target, name in ((stdout, "stdout"), (stderr, "stderr")):
                self.descriptors.append(self._open(target, name))
        except BaseException:
            self._release()
            raise

    def _open(self, target: Target, name: str) -> int:
        if target is None:
            return -1
        if isinstance(target, int) and not isinstance(target, bool):
            return fcntl.fcntl(target, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
        pipe = _Pipe(target, name)
        self._pipes.append(pipe)
        try:
            return fcntl.fcntl(pipe.worker_end, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
        finally:
            os.close(pipe.worker_end)

    def started(self) -> None:
        """Begin to read: the process has the descriptors."""
        for descriptor in self.descriptors:
            if descriptor >= 0:
                os.close(descriptor)
        self.descriptors = []
        if self._pipes:
            read, self._wake = os.pipe2(os.O_CLOEXEC)
            self._thread = threading.Thread(
                target=self._read, args=(read,), name="veo-output", daemon=True
            )
            self._thread.start()

    def _release(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for descriptor in self.descriptors:
            if descriptor >= 0:
                os.close(descriptor)
        self.descriptors = []

    def _read(self, wake: int) -> None:
        try:
            while ends := [pipe.end for pipe in self._pipes if pipe.open and not pipe.ended]:
                ready, _, _ = select.select([*ends, wake], [], [])
                self.drain()
                if wake in ready:
                    return
        finally:
            os.close(wake)
            with self._lock:
                self._release()

    def drain(self) -> None:
        """Write what has been printed by now."""
        # A child of fork() would take it from its parent.
        if os.getpid() == self._pid:
            with self._lock:
                for pipe in self._pipes:
                    pipe.pump()

    def finish(self) -> None:
        """Write the rest and stop reading: the process has ended."""
        if os.getpid() != self._pid:
            return
        self.drain()
        self.leave()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_JOIN_S)
        with self._lock:
            self._release()

    def leave(self) -> None:
        """Let the thread write the rest and stop reading: the process has ended.

        It does not wait, so that the last reference may go at any moment and in any thread.
        """
        wake, self._wake = self._wake, -1
        if wake >= 0:
            with contextlib.suppress(OSError):
                os.close(wake)


def _function(target: Any, name: str) -> Callable[[str], object] | None:
    if target is True:
        return lambda text: getattr(sys, name).write(text)
    write = getattr(target, "write", target)
    if not callable(write):
        raise TypeError(
            f"{name} must be a stream, a function, a descriptor, True or None, not "
            f"{type(target).__name__}"
        )
    return write  # type: ignore[no-any-return]
