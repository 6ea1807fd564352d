# SPDX-License-Identifier: BSD-3-Clause
"""Limits of the mapper, and Ctrl-C."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
import weakref

import pytest

import accelforge as af
from accelforge.mapper.FFM.limits import Limits
from accelforge.util.interruptible import interruptible


def test_without_limits_there_is_no_end() -> None:
    limits = Limits.of(af.Spec().mapper)
    assert (limits.deadline, limits.remaining(), limits.memory) == (math.inf,) * 3
    assert not limits.stopped


def test_limits_of_a_specification() -> None:
    spec = af.Spec()
    spec.mapper.time_limit = 1000
    spec.mapper.memory_limit = 4e9
    spec.mapper.memory_limit_per_process = 1e9
    limits = Limits.of(spec.mapper)
    assert 0 < limits.remaining() <= 1000
    assert limits.memory == 1e9
    assert str(limits) == "time limit of 1000 s or its memory limit of 1e+09 bytes"


@pytest.mark.parametrize("name", ["time_limit", "memory_limit", "memory_limit_per_process"])
@pytest.mark.parametrize("limit", [-1, math.nan])
def test_limits_that_are_none_are_refused(name: str, limit: float) -> None:
    spec = af.Spec()
    setattr(spec.mapper, name, limit)
    with pytest.raises(ValueError, match=f"^mapper.{name} is a number that is not negative"):
        Limits.of(spec.mapper)


def test_no_time_is_left_after_the_deadline() -> None:
    assert Limits(0).remaining() == 0


def test_a_result_and_an_error_pass_through() -> None:
    limits = Limits()
    assert interruptible(limits.stop, lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        interruptible(limits.stop, lambda: 1 // 0)
    assert not limits.stopped, "the next call would stop at once"


def test_ctrl_c_stops_the_function() -> None:
    limits = Limits()
    done = threading.Event()

    def deaf() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        until = time.monotonic() + 60
        while not limits.stopped and time.monotonic() < until:
            pass
        done.set()

    with pytest.raises(KeyboardInterrupt):
        interruptible(limits.stop, deaf)
    assert limits.stopped
    assert done.is_set(), "the thread goes on"


def test_ctrl_c_is_not_lost_when_the_thread_object_ends() -> None:
    # As the callback of the threading module, in which an exception is only printed.
    ends: list[weakref.ref[threading.Thread]] = []

    def watch() -> None:
        thread = threading.current_thread()
        ends.append(weakref.ref(thread, lambda _: signal.raise_signal(signal.SIGINT)))

    with pytest.raises(KeyboardInterrupt):
        interruptible(Limits().stop, watch)
    assert ends[0]() is None


def test_other_threads_call_the_function_themselves() -> None:
    seen: list[threading.Thread] = []
    limits = Limits()
    thread = threading.Thread(
        target=lambda: interruptible(limits.stop, lambda: seen.append(threading.current_thread()))
    )
    thread.start()
    thread.join()
    assert seen == [thread]
