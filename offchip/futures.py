# SPDX-License-Identifier: BSD-3-Clause
"""The internals of a future that `concurrent.futures.wait()` and `as_completed()` use.

A request gets them when it is first passed to one of these functions; others pay nothing.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from offchip import watcher

if TYPE_CHECKING:
    from offchip.request import Request

__all__ = ["Face", "face_of"]

# The functions hold the lock for microseconds. Ctrl-C in the middle of that leaves it held for
# good, and the thread that serves all requests must not wait for it.
ABANDONED_S = 1.0

_faces: WeakKeyDictionary[Request, Face] = WeakKeyDictionary()
_lock = threading.Lock()


class Face:
    """The lock, the state and the waiters of one request.

    The state changes once, under the lock, and notifies the waiters that are registered by then;
    the functions hold the lock while they count unfinished requests.
    """

    def __init__(self) -> None:
        self.condition = threading.Condition()
        self.state = "RUNNING"
        self.waiters: list[Any] = []

    def finish(self, request: Request) -> None:
        """Record that the request has finished."""
        cancelled = request.cancelled()
        failed = not cancelled and request.exception() is not None
        held = self.condition.acquire(timeout=ABANDONED_S)
        try:
            self.state = "CANCELLED_AND_NOTIFIED" if cancelled else "FINISHED"
            for waiter in self.waiters:
                if cancelled:
                    waiter.add_cancelled(request)
                else:
                    (waiter.add_exception if failed else waiter.add_result)(request)
            if held:
                self.condition.notify_all()
        finally:
            if held:
                self.condition.release()


def face_of(request: Request) -> Face:
    """Return the face of a request; the first call starts watching the request."""
    with _lock:
        face = _faces.get(request)
        if face is not None:
            return face
        face = _faces[request] = Face()
    watcher.watch(request, face.finish)
    return face
