# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C during a call of dpu raises KeyboardInterrupt once, whatever the call is doing then."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

from dpu import DpuError, DpuSet
from tests.dpu.package.programs import COUNTER, build, command
from tests.support.full import share
from tests.support.interrupts import interrupt_at_random

SIGNALS = share(25, 1000)

pytestmark = [
    pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning"),
    pytest.mark.timeout(600 if SIGNALS > 100 else 120),
]

# The program spins until a signal ends it, or is done at once.
OPERATIONS: dict[str, tuple[int, Callable[[DpuSet], object]]] = {
    "spinning exec": (2, lambda dpus: dpus.exec()),
    "exec": (0, lambda dpus: dpus.exec()),
    "sync": (2, lambda dpus: (dpus.exec(async_mode=True), dpus.sync())),
    "copy": (2, lambda dpus: (dpus.exec(async_mode=True), dpus.words.uint32())),
}


def end(dpus: DpuSet) -> None:
    """Withdraw the launch that is under way."""
    dpus.interrupt()
    with contextlib.suppress(DpuError):
        dpus.sync()


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_interrupt_arrives_once(make_set: Callable[..., DpuSet], name: str) -> None:
    number, operation = OPERATIONS[name]
    dpus = make_set(nr_dpus=3, binary=build(COUNTER))
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
