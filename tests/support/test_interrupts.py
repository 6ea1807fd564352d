# SPDX-License-Identifier: BSD-3-Clause
"""Interrupts that arrive and interrupts that are lost are told apart."""

from __future__ import annotations

import signal
import time

from tests.support.interrupts import interrupt_at_random


def call() -> None:
    time.sleep(0.001)


def test_interrupts_that_arrive_are_counted() -> None:
    assert interrupt_at_random(call, 3) == (3, 0)


def test_interrupts_that_nobody_raises_are_lost() -> None:
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        assert interrupt_at_random(call, 3) == (0, 3)
    finally:
        signal.signal(signal.SIGINT, before)
