# SPDX-License-Identifier: BSD-3-Clause
"""What `concurrent.futures.wait()` and `as_completed()` look at in a future, for requests.

A request gets it when it is first handed to one of them, so that others cost nothing.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from offchip import watcher

if TYPE_CHECKING:
    from offchip.request import Request

__all__ = ["Face", "face_of"]

_faces: WeakKeyDictionary[Request, Face] = WeakKeyDictionary()
_lock = threading.Lock()


class Face:
    """The lock, the state and the waiters of one request.

    The state changes under the lock, once, and tells those who wait by then: the functions hold
    the lock while they count what is unfinished.
    """

    def __init__(self) -> None:
        self.condition = threading.Condition()
        self.state = "RUNNING"
        self.waiters: list[Any] = []

    def finish(self, request: Request) -> None:
        """Take up that the request has ended."""
        failed = request.exception() is not None
        with self.condition:
            self.state = "FINISHED"
            for waiter in self.waiters:
                (waiter.add_exception if failed else waiter.add_result)(request)
            self.condition.notify_all()


def face_of(request: Request) -> Face:
    """Return the face of a request, and begin to watch the request if it is the first time."""
    with _lock:
        face = _faces.get(request)
        if face is not None:
            return face
        face = _faces[request] = Face()
    watcher.watch(request, face.finish)
    return face
