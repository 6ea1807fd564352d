# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C during a wait for several requests leaves the thread that watches them at work."""

from __future__ import annotations

import threading
import time
from concurrent import futures

from offchip.futures import face_of
from offchip.request import PythonRequest
from tests.support.full import share
from tests.support.interrupts import interrupt_at_random


class Manual(PythonRequest):
    """A request that the test ends."""

    def __init__(self):
        self.ended = threading.Event()

    def end(self):
        self.ended.set()

    def poll(self):
        return self.ended.is_set()

    def wait_slice(self, seconds):
        return self.ended.wait(seconds)

    def outcome(self):
        return None


def test_ctrl_c_anywhere_in_waits_for_several_leaves_the_watcher_at_work():
    def call():
        first, second = Manual(), Manual()
        timer = threading.Timer(0.001, lambda: (first.end(), second.end()))
        timer.start()
        try:
            assert len(list(futures.as_completed([first, second]))) == 2
        finally:
            timer.join()

    assert interrupt_at_random(call, share(40, 1000), most_s=0.004) == (share(40, 1000), 0)
    call()


def test_a_lock_that_an_interrupted_wait_left_held_stops_nobody(monkeypatch):
    monkeypatch.setattr("offchip.futures.ABANDONED_S", 0.05)
    left, other = Manual(), Manual()
    face_of(left).condition.acquire()
    left.end()
    other.end()
    assert futures.wait([other], timeout=30).done == {other}
    deadline = time.monotonic() + 30
    while face_of(left).state != "FINISHED" and time.monotonic() < deadline:
        threading.Event().wait(0.001)
    assert face_of(left).state == "FINISHED"
