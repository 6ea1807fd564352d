# SPDX-License-Identifier: BSD-3-Clause
"""The thread of a process that waits for requests, for callbacks and awaits.

It starts when first needed, keeps the requests alive, and ends when none is left. A forked child
has none, and forgets the requests of its parent.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from offchip.request import Request

__all__ = ["await_request", "watch"]

# A single request is waited for in the library, in slices of this length, so that a second one
# is noticed; several are polled, at intervals that double from the first value to the second.
SLICE_S = 10e-3
SHORTEST_PAUSE_S = 50e-6
LONGEST_PAUSE_S = 2e-3
# With nothing left to watch the thread stays for a moment, as requests often come in sequence.
LINGER_S = 0.1

Callback = Callable[[Any], object]


class _Watcher:
    """The watched requests, and the thread that watches them."""

    def __init__(self) -> None:
        # Entered itself, never through the condition: that is code of Python, in which Ctrl-C may
        # arrive between taking the lock and the block that gives it back.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        # By identity: a subclass may define equality, or none at all.
        self._pending: dict[int, tuple[Request, list[Callback]]] = {}
        self._thread: threading.Thread | None = None
        self._stopping = False

    def watch(self, request: Request, fn: Callback) -> None:
        if request.done():
            _call(fn, request)
            return
        with self._lock:
            # At interpreter exit callbacks can no longer run.
            if not self._stopping:
                self._pending.setdefault(id(request), (request, []))[1].append(fn)
                if self._thread is None:
                    self._start()
                self._changed.notify()

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="offchip-watcher", daemon=True)
        self._thread = thread
        try:
            thread.start()
        except BaseException:
            self._thread = None
            raise

    def stop(self) -> None:
        """Stop the thread at interpreter exit; pending requests are forgotten."""
        with self._lock:
            self._stopping = True
            self._pending.clear()
            self._changed.notify()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=1.0)

    def _run(self) -> None:
        pause = SHORTEST_PAUSE_S
        while True:
            with self._lock:
                if not self._pending and not self._stopping:
                    self._changed.wait(LINGER_S)
                if not self._pending or self._stopping:
                    self._thread = None
                    return
                requests = [request for request, _ in self._pending.values()]
            if len(requests) == 1:
                ended = [requests[0]] if _ended_in_slice(requests[0]) else []
            else:
                ended = [request for request in requests if _ended(request)]
            # This frame must not keep a request alive until the next iteration.
            del requests
            if ended:
                pause = SHORTEST_PAUSE_S
                while ended:
                    self._finish(ended.pop(0))
                continue
            with self._lock:
                if len(self._pending) > 1:
                    self._changed.wait(pause)
                    pause = min(2 * pause, LONGEST_PAUSE_S)

    def _finish(self, request: Request) -> None:
        with self._lock:
            callbacks = self._pending.pop(id(request), (request, []))[1]
        for fn in callbacks:
            try:
                _call(fn, request)
            except BaseException:
                # SystemExit in a callback must not end the thread that others rely on.
                _log("exception calling callback for %r", request)


def _ended(request: Request) -> bool:
    # A request that can no longer be polled counts as finished; result() raises the reason.
    try:
        return request.done()
    except Exception:
        _log("offchip cannot poll %r", request)
        return True


def _ended_in_slice(request: Request) -> bool:
    try:
        return request._watch_slice(SLICE_S)
    except Exception:
        _log("offchip cannot wait for %r", request)
        return True


def _call(fn: Callback, request: Request) -> None:
    try:
        fn(request)
    except Exception:
        _log("exception calling callback for %r", request)


def _log(text: str, request: Request) -> None:
    import logging

    logging.getLogger("offchip").exception(text, request)


_watcher = _Watcher()
# The parent's requests: kept forever, as a child must not run their destructors.
_inherited: list[_Watcher] = []


def _forget() -> None:
    """Start again in a forked child."""
    global _watcher
    _inherited.append(_watcher)
    _watcher = _Watcher()


def _stop() -> None:
    _watcher.stop()


os.register_at_fork(after_in_child=_forget)
atexit.register(_stop)


def watch(request: Request, fn: Callback) -> None:
    """Call `fn` with `request` when it finishes, immediately if it has already finished.

    Parameters
    ----------
    request : Request
        Is kept alive until then.
    fn : callable
        Called in the watcher thread, or in this one.
    """
    _watcher.watch(request, fn)


def await_request(request: Request) -> Generator[Any, None, Any]:
    """Return the iterator of ``await request``, for any asyncio event loop.

    Cancelling the task that awaits does not end the operation.
    """
    if not request.done():
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def wake() -> None:
            if not future.done():
                future.set_result(None)

        def ended(_: Request) -> None:
            # The loop was closed in the meantime: there is nothing to wake.
            if not loop.is_closed():
                try:
                    loop.call_soon_threadsafe(wake)
                except RuntimeError:
                    if not loop.is_closed():
                        raise

        _watcher.watch(request, ended)
        yield from future
    return request.result()
