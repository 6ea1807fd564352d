# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C during a call of dpu raises KeyboardInterrupt once, whatever the call is doing then."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import pytest

from dpu import DpuError, DpuSet
from tests.dpu.package.programs import COUNTER, build, command
from tests.support.interrupts import LIMIT_S, SIGNALS, interrupt_at_random

pytestmark = [
    pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning"),
    pytest.mark.timeout(LIMIT_S),
]

# The program spins until a signal ends it, or is done at once.
OPERATIONS: dict[str, tuple[int, Callable[[DpuSet], object]]] = {
    "spinning exec": (2, lambda dpus: dpus.exec()),
    "exec": (0, lambda dpus: dpus.exec()),
    "sync": (2, lambda dpus: (dpus.exec(async_mode=True), dpus.sync())),
    "copy": (2, lambda dpus: (dpus.exec(async_mode=True), dpus.words.uint32())),
    "copy to": (2, lambda dpus: (dpus.exec(async_mode=True), dpus.copy("words", bytes(8)))),
    "load": (2, lambda dpus: (dpus.exec(async_mode=True), dpus.load(build(COUNTER)))),
    "call": (0, lambda dpus: dpus.call(lambda *_: time.sleep(0.005), None)),
    "call behind a launch": (2, lambda dpus: (dpus.exec(async_mode=True), call_nothing(dpus))),
    "report": (2, lambda dpus: (dpus.exec(async_mode=True), dpus.report)),
    "checkpoint": (2, lambda dpus: (dpus.exec(async_mode=True), dpus.dpus()[0].checkpoint())),
    "request": (2, lambda dpus: dpus.exec_async().result()),
    "free": (2, lambda dpus: free_another()),
    "exec with a full queue": (2, lambda dpus: fill(dpus, lambda: dpus.exec_async())),
    "copy with a full queue": (
        2,
        lambda dpus: fill(dpus, lambda: dpus.copy("words", bytes(8), async_mode=True)),
    ),
}


def fill(dpus: DpuSet, call: Callable[[], object]) -> None:
    """Call until the queue has no room and the call waits."""
    while True:
        call()


def call_nothing(dpus: DpuSet) -> None:
    dpus.call(lambda *_: None, None)


def free_another() -> None:
    """Free DPUs whose launch does not end, until a signal comes."""
    other = DpuSet(nr_dpus=1, binary=build(COUNTER))
    try:
        other.cmd = command(2)
        other.exec(async_mode=True)
        other.free()
    finally:
        if not other.closed:
            other.interrupt()
            other.free()


def end(dpus: DpuSet) -> None:
    """Withdraw the launch that is under way."""
    dpus.interrupt()
    with contextlib.suppress(DpuError):
        dpus.sync()


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_interrupt_arrives_once(make_set: Callable[..., DpuSet], name: str) -> None:
    number, operation = OPERATIONS[name]
    profile = "nrJobsPerRank=2" if "full queue" in name else None
    dpus = make_set(nr_dpus=3, binary=build(COUNTER), profile=profile)
    dpus.cmd = command(number)

    def call() -> None:
        try:
            operation(dpus)
        except KeyboardInterrupt:
            # No other signal is sent before this one has arrived.
            end(dpus)
            dpus.load(build(COUNTER))
            dpus.cmd = command(number)
            raise

    assert interrupt_at_random(call, SIGNALS) == (SIGNALS, 0)
    end(dpus)
    dpus.load(build(COUNTER))
    dpus.exec()
    assert dpus.counter.uint32() == [1, 1, 1]
