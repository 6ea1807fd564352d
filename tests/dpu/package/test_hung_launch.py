# SPDX-License-Identifier: BSD-3-Clause
"""Calls that work while a launch does not end, and the ends of waits for it."""

from __future__ import annotations

import contextlib
import math
import re
import threading
import time
from collections.abc import Callable, Iterator

import pytest

import dpu
from dpu import DpuError, DpuSet, DpuTimeoutError
from dpu._launch import DpuRequest
from dpu.arrays import broadcast, gather, scatter
from dpu.debug import Debugger
from tests.dpu.package.programs import COUNTER, build, command
from tests.support.waits import check_table_of_waits

pytestmark = pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning")

# Each must wait for the launch. The names are those of the C API in the message.
LATE: dict[str, tuple[str, Callable[[DpuSet], object]]] = {
    "exec": ("dpu_launch", lambda dpus: dpus.exec()),
    "sync": ("dpu_sync", lambda dpus: dpus.sync()),
    "copy of a buffer": ("dpu_broadcast_to", lambda dpus: dpus.copy("words", bytes(8))),
    "copy of a list": ("dpu_push_xfer", lambda dpus: dpus.copy("words", [bytes(8)] * 3)),
    "copy from": ("dpu_push_xfer", lambda dpus: dpus.copy([bytearray(4)] * 3, "counter")),
    "reading a variable": ("dpu_push_xfer", lambda dpus: dpus.counter),
    "writing a variable": ("dpu_broadcast_to", lambda dpus: setattr(dpus, "cmd", command(0))),
    "load": ("dpu_load_from_memory", lambda dpus: dpus.load(build(COUNTER))),
    "call": ("dpu_callback", lambda dpus: dpus.call(lambda *_: None, None)),
    "report": ("dpusoft_get_report", lambda dpus: dpus.report),
    "log": ("dpu_log_read", lambda dpus: dpus.log()),
    "checkpoint": ("dpu_checkpoint_save", lambda dpus: dpus.dpus()[0].checkpoint()),
    "free": ("dpu_free", lambda dpus: dpus.free()),
}

AT_ONCE: dict[str, Callable[[DpuSet], object]] = {
    "exec, asynchronously": lambda dpus: dpus.exec(async_mode=True),
    "exec_async": lambda dpus: dpus.exec_async(),
    "copy, asynchronously": lambda dpus: dpus.copy("words", bytes(8), async_mode=True),
    "call, asynchronously": lambda dpus: dpus.call(lambda *_: None, None, async_mode=True),
    "polling": lambda dpus: not dpu.DpuSet(nr_dpus=1).closed and repr(dpus),
    "another allocation": lambda dpus: DpuSet(nr_dpus=1).free(),
    "parts": lambda dpus: (dpus.dpus(), dpus.ranks(), dpus.program, dpus.symbols, dpus.c_set),
}


# Each is queued, and waits if there is no room.
QUEUED: dict[str, tuple[str, Callable[[DpuSet], object]]] = {
    "exec, asynchronously": ("dpu_launch", AT_ONCE["exec, asynchronously"]),
    "exec_async": ("dpu_launch", AT_ONCE["exec_async"]),
    "exec": ("dpu_launch", lambda dpus: dpus.exec()),
    "copy, asynchronously": ("dpu_broadcast_to", AT_ONCE["copy, asynchronously"]),
    "copy of a list": (
        "dpu_push_xfer",
        lambda dpus: dpus.copy("words", [bytes(8)] * 3, async_mode=True),
    ),
    "call, asynchronously": ("dpu_callback", AT_ONCE["call, asynchronously"]),
    "call": ("dpu_callback", lambda dpus: dpus.call(lambda *_: None, None)),
}


@pytest.fixture
def hung(make_set: Callable[..., DpuSet], request: pytest.FixtureRequest) -> Iterator[DpuSet]:
    """DPUs with a launch that does not end by itself, and the profile that a test asks for."""
    dpus = make_set(nr_dpus=3, binary=build(COUNTER), profile=getattr(request, "param", None))
    dpus.cmd = command(2)
    dpus.exec(async_mode=True)
    yield dpus
    if not dpus.closed:
        dpus.wait_limit = None
        dpus.interrupt()
        with contextlib.suppress(DpuError):
            dpus.sync()


@pytest.mark.parametrize("call", AT_ONCE.values(), ids=AT_ONCE)
def test_what_does_not_depend_on_a_launch_does_not_wait_for_it(
    hung: DpuSet, call: Callable[[DpuSet], object]
) -> None:
    started = time.monotonic()
    call(hung)
    assert time.monotonic() - started < 1


@pytest.mark.parametrize(("function", "call"), LATE.values(), ids=LATE)
def test_what_must_wait_says_for_what(
    hung: DpuSet, function: str, call: Callable[[DpuSet], object]
) -> None:
    hung.wait_limit = 0.05
    waited_for = r"waited 0\.05 s in vain: rank \d+ has a launch of 3 DPUs, submitted \d+\.\d s ago"
    with pytest.raises(DpuTimeoutError, match=waited_for) as caught:
        call(hung)
    assert caught.value.function == function
    assert not hung.closed


@pytest.mark.parametrize("hung", ["nrJobsPerRank=1"], indirect=True)
@pytest.mark.parametrize(("function", "call"), QUEUED.values(), ids=QUEUED)
def test_what_finds_a_queue_full_says_so(
    hung: DpuSet, function: str, call: Callable[[DpuSet], object]
) -> None:
    hung.wait_limit = 0.05
    waited_for = (
        r"waited 0\.05 s for room in a queue \(nrJobsPerRank\) in vain: "
        r"rank \d+ has a launch of 3 DPUs"
    )
    with pytest.raises(DpuTimeoutError, match=waited_for) as caught:
        call(hung)
    assert caught.value.function == function
    assert "behind" not in str(caught.value)


@pytest.mark.parametrize("hung", ["nrJobsPerRank=1"], indirect=True)
def test_a_limit_of_exec_counts_the_wait_for_room(hung: DpuSet) -> None:
    with pytest.raises(DpuTimeoutError, match=r"waited 0\.05 s for room"):
        hung.exec(timeout=0.05)
    # Room comes before the time is over; what is left of it is for the launch.
    timer = threading.Timer(0.1, hung.interrupt)
    timer.start()
    started = time.monotonic()
    with pytest.raises(DpuError):
        hung.exec(timeout=20)
    timer.join()
    assert time.monotonic() - started < 20


def test_exec_with_a_limit_ends_its_launch(make_set: Callable[..., DpuSet]) -> None:
    dpus = make_set(nr_dpus=3, binary=build(COUNTER))
    dpus.cmd = command(2)
    with pytest.raises(DpuTimeoutError, match=r"dpu_launch waited 0\.05 s") as caught:
        dpus.exec(timeout=0.05)
    assert "running: 0 at pc" in "".join(caught.value.__notes__)
    dpus.load(build(COUNTER))
    dpus.exec(timeout=math.inf)
    assert dpus.counter.uint32() == [1, 1, 1]


def test_sync_with_a_limit_leaves_the_launch(hung: DpuSet) -> None:
    with pytest.raises(DpuTimeoutError, match="dpu_sync waited 0 s"):
        hung.sync(timeout=0)
    request = DpuRequest(hung)
    assert not request.done()
    with pytest.raises(DpuTimeoutError, match="rank .* has a launch of 3 DPUs"):
        request.result(0.01)


def test_what_is_behind_is_counted(hung: DpuSet) -> None:
    hung.copy("words", bytes(8), async_mode=True)
    hung.exec(async_mode=True)
    with pytest.raises(DpuTimeoutError, match="s ago; 2 more behind it"):
        hung.sync(timeout=0.01)


def test_a_callback_that_does_not_return_is_named(make_set: Callable[..., DpuSet]) -> None:
    dpus = make_set(nr_dpus=1, binary=build(COUNTER))
    latch = threading.Event()
    dpus.call(lambda *_: latch.wait(60), None, async_mode=True)
    try:
        with pytest.raises(DpuTimeoutError, match="has a callback of 1 DPU, submitted"):
            dpus.sync(timeout=0.05)
        with pytest.raises(DpuTimeoutError, match="has a callback") as caught:
            dpus.exec(timeout=0.05)
        assert "the launch ends when it begins" in "".join(caught.value.__notes__)
    finally:
        latch.set()


def test_freeing_names_calls_of_other_threads(hung: DpuSet) -> None:
    begun = threading.Event()

    def wait_long() -> None:
        begun.set()
        with pytest.raises(DpuError):
            hung.sync(timeout=60)

    thread = threading.Thread(target=wait_long)
    thread.start()
    assert begun.wait(10)
    hung.wait_limit = 0.05
    with pytest.raises(DpuTimeoutError, match="dpu_free waited"):
        hung.free()
    hung.interrupt()
    thread.join(10)
    assert not thread.is_alive()
    hung.wait_limit = None
    hung.free()


def test_freeing_waits_for_a_call_whose_work_is_done(make_set: Callable[..., DpuSet]) -> None:
    class Kept(bytearray):
        def __del__(self) -> None:
            begun.set()
            end.wait(60)

    begun, end = threading.Event(), threading.Event()
    dpus = make_set(nr_dpus=1, binary=build(COUNTER))
    dpus.copy("words", Kept(8), async_mode=True)
    thread = threading.Thread(target=dpus.sync)
    thread.start()
    try:
        assert begun.wait(10)
        dpus.wait_limit = 0.05
        with pytest.raises(DpuTimeoutError, match=r"dpu_free waited 0\.05 s in vain: 1 calls of"):
            dpus.free()
        assert not dpus.closed
    finally:
        end.set()
        thread.join(10)
    dpus.free()
    assert dpus.closed


@pytest.mark.parametrize("wrong", ["1", [1], math.nan])
def test_what_is_no_limit_is_refused(hung: DpuSet, wrong: object) -> None:
    with pytest.raises((TypeError, ValueError), match="timeout must be a number of seconds"):
        hung.wait_limit = wrong  # type: ignore[assignment]
    with pytest.raises((TypeError, ValueError), match="timeout must be a number of seconds"):
        hung.sync(timeout=wrong)  # type: ignore[arg-type]
    assert hung.wait_limit is None


@pytest.mark.full
def test_a_long_silent_wait_is_told_once(hung: DpuSet, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(DpuTimeoutError):
        hung.sync(timeout=31)
    with pytest.raises(DpuTimeoutError):
        hung.sync(timeout=31)
    [record] = caplog.records
    assert re.search(r"dpu_sync has waited 30 s: rank .* has a launch", record.message)


def test_the_table_of_waits_has_every_public_call() -> None:
    check_table_of_waits(dpu, dpu.__all__, DpuRequest, Debugger, scatter, gather, broadcast)
