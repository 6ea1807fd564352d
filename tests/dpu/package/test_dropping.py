# SPDX-License-Identifier: BSD-3-Clause
"""Sets that nobody has any more while something is queued on them."""

from __future__ import annotations

import gc
import io
import threading
import time
import weakref

import pytest

from dpu import DpuError, DpuSet
from tests.dpu.package.programs import COUNTER, build

pytestmark = pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning")

# Takes a moment.
LOOP = "main: move r0, 300000\n1: add r0, r0, -1\n jneq r0, 0, 1b\n jump r23\n"
LIMIT_S = 10


def make(count: int = 70) -> DpuSet:
    return DpuSet(count, library="soft", asm_source=io.StringIO(LOOP))


def all_ranks_are_free() -> bool:
    # Sets and their parts refer to each other.
    gc.collect()
    try:
        DpuSet(nr_ranks=40, library="soft").free()
    except DpuError:
        return False
    return True


def wait_until(condition: object) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_callbacks_of_a_dropped_set_are_called():
    for _ in range(5):
        seen: list[tuple[int, int]] = []
        dpus = make()
        dpus.exec(async_mode=True)
        for _ in range(2):
            dpus.call(lambda part, index, to: to.append((index, len(part))), seen, async_mode=True)
        dpus.call(lambda part, *_: part.exec(), None, async_mode=True)
        del dpus
        # The set and what it is to call are garbage to Python, which must not clear them.
        gc.collect()
        wait_until(lambda seen=seen: len(seen) == 4)
        assert sorted(seen) == [(0, 64), (0, 64), (1, 6), (1, 6)]
    wait_until(all_ranks_are_free)


def test_last_reference_may_go_in_a_callback():
    entered, leave = threading.Event(), threading.Event()

    def drop(part: DpuSet, index: int, holder: list[DpuSet]) -> None:
        entered.set()
        assert leave.wait(LIMIT_S)
        holder.clear()
        gc.collect()

    dpus = make(3)
    gone = weakref.ref(dpus)
    holder = [dpus, dpus.dpus()[0]]
    holder[1].call(drop, holder, async_mode=True)
    del dpus
    assert entered.wait(LIMIT_S)
    leave.set()
    wait_until(lambda: gone() is None)
    wait_until(all_ranks_are_free)


def test_another_set_may_be_dropped_in_a_callback():
    others = [make(3)]

    def drop(*_: object) -> None:
        others.clear()
        gc.collect()

    with make(3) as dpus:
        dpus.call(drop, None)
    wait_until(all_ranks_are_free)


class Owner:
    """Refers to itself, so that only the garbage collector ends it."""

    def __init__(self) -> None:
        self.me = self
        self.dpus = DpuSet(70, library="soft", binary=build(COUNTER))
        self.buffer = bytearray(65536)


def test_buffers_of_a_dropped_set_stay_until_they_are_copied():
    for _ in range(5):
        owner = Owner()
        owner.dpus.exec(async_mode=True)
        owner.dpus.copy("buffer", owner.buffer, async_mode=True)
        owner.dpus.copy([bytearray(65536) for _ in range(70)], "buffer", async_mode=True)
        del owner
        gc.collect()
    wait_until(all_ranks_are_free)


def test_buffers_are_free_again_when_an_asynchronous_copy_is_refused():
    with DpuSet(2, library="soft", binary=build(COUNTER)) as dpus:
        for target, buffers in [("buffer", bytearray(12)), ("buffer", [bytearray(12)] * 2)]:
            with pytest.raises(DpuError, match="invalid mram access"):
                dpus.copy(target, buffers, async_mode=True)
            one = buffers if isinstance(buffers, bytearray) else buffers[0]
            one.append(1)
