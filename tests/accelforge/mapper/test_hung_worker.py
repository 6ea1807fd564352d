# SPDX-License-Identifier: BSD-3-Clause
"""Ends of calls whose work never ends: in a worker of an executor, or in a model of the user's."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import pytest

import accelforge as af
from accelforge.mapper.FFM import make_pmappings, map_workload_to_arch
from accelforge.problem import Model
from tests.accelforge.mapper.small import chain_of
from tests.support.waits import check_table_of_waits


def interrupt() -> None:
    """Press Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


class Hung(Executor):
    """It begins the first of its calls and never ends it."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, *_args: Any, **_kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if not self.futures:
            future.set_running_or_notify_cancel()
        self.futures.append(future)
        return future


@pytest.fixture
def hung(monkeypatch: pytest.MonkeyPatch) -> Hung:
    monkeypatch.setattr("accelforge.mapper.FFM.searches._GRACE_S", 0.05)
    return Hung()


MAPPERS: dict[str, Callable[[af.Spec, Executor], object]] = {
    "Spec.map_workload_to_arch": lambda spec, executor: spec.map_workload_to_arch(
        print_progress=False, executor=executor
    ),
    "map_workload_to_arch": lambda spec, executor: map_workload_to_arch(
        spec, print_progress=False, executor=executor
    ),
    "make_pmappings": lambda spec, executor: make_pmappings(
        spec, print_progress=False, executor=executor
    ),
}


@pytest.mark.parametrize("call", MAPPERS.values(), ids=MAPPERS)
def test_a_worker_that_hangs_ends_a_search_soon_after_its_time_limit(
    hung: Hung, call: Callable[[af.Spec, Executor], object]
) -> None:
    spec = chain_of(3)
    spec.mapper.time_limit = 0.1
    with pytest.raises(TimeoutError, match=r"searches of Einsums.*1 are with workers .* hang"):
        call(spec, hung)
    assert all(future.cancelled() for future in hung.futures[1:])


def test_a_worker_that_hangs_ends_a_sweep_at_its_limit(hung: Hung) -> None:
    message = r"2 of 2 calls of a sweep, did not end within 0\.05 s: 1 are with workers"
    with pytest.raises(TimeoutError, match=message):
        af.sweep(len, [[1], [2]], executor=hung, timeout=0.05)
    with pytest.raises(TimeoutError, match=message):
        af.sweep(len, {"a": [1], "b": [2]}, executor=Hung(), timeout=0.05)
    assert hung.futures[1].cancelled()


def test_ctrl_c_ends_a_wait_for_a_worker(hung: Hung) -> None:
    timer = threading.Timer(0.05, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            chain_of(3).map_workload_to_arch(print_progress=False, executor=hung)
    finally:
        timer.join()


def test_ctrl_c_ends_an_evaluation_in_a_model_of_the_users() -> None:
    class Slow:
        def __radd__(self, _other: object) -> object:
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                threading.Event().wait(0.01)
            return 1

    timer = threading.Timer(0.05, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            af.sweep(lambda item: 1 + item, [Slow()])
    finally:
        timer.join()


def test_the_table_of_waits_has_every_public_call() -> None:
    check_table_of_waits(
        af, af.__all__, make_pmappings, map_workload_to_arch, af.mapper.FFM.join_pmappings, Model
    )
