# SPDX-License-Identifier: BSD-3-Clause
"""Taking back calls that have not begun."""

from __future__ import annotations

import asyncio
import threading
import weakref
from concurrent import futures
from concurrent.futures import CancelledError

import numpy as np
import pytest

import veo


@pytest.fixture
def count(typed):
    return typed("count_up", "int")


@pytest.fixture
def fill(typed):
    return typed("fill", "void", "char *", "size_t", "int")


@pytest.fixture
def busy(ctx, typed, latch, count, fill):
    """A context that executes a call until the latch opens, with another call queued after it."""
    typed("wait_for", "int", "int *")(ctx, latch.address)
    count(ctx)
    return ctx


def test_a_cancelled_call_is_not_executed(busy, count, latch):
    cancelled, last = count(busy), count(busy)
    assert cancelled.running()
    assert cancelled.cancel()
    assert cancelled.cancel()
    assert cancelled.cancelled()
    assert (cancelled.done(), cancelled.running()) == (True, False)
    assert "cancelled" in repr(cancelled)
    latch()
    assert last.result(10) == 2
    for method in (cancelled.result, cancelled.exception, cancelled.wait_result):
        with pytest.raises(CancelledError, match="was cancelled before it began"):
            method()


def test_what_has_begun_is_not_cancelled(ctx, proc, typed, latch):
    running = typed("wait_for", "int", "int *")(ctx, latch.address)
    assert not running.cancel()
    assert not running.cancelled()
    latch()
    assert running.result(10) == 1
    assert not running.cancel()
    transfer = ctx.async_write_mem(proc.alloc_mem(8), bytes(8), 8)
    assert not transfer.cancel()
    assert transfer.result(10) == 0


def test_stack_arguments_are_released_and_stay(busy, fill, latch):
    values = np.arange(4, dtype=np.uint8)
    request = fill(busy, veo.OnStack(values, inout=veo.INTENT_INOUT), 4, 7)
    assert request.cancel()
    alive = weakref.ref(values)
    kept = values.copy()
    latch()
    busy.context_sync()
    assert (values == kept).all()
    del values
    assert alive() is None


def test_who_waits_is_told(busy, count):
    request = count(busy)
    waits, seen = threading.Event(), []

    def wait():
        waits.set()
        with pytest.raises(CancelledError):
            request.result(30)
        seen.append(True)

    thread = threading.Thread(target=wait)
    thread.start()
    assert waits.wait(10)
    assert request.cancel()
    thread.join(30)
    assert seen == [True]


def test_waiting_as_for_futures(busy, count):
    cancelled, queued = count(busy), count(busy)
    called = threading.Event()
    cancelled.add_done_callback(lambda request: request.cancelled() and called.set())
    completed = veo.as_completed([cancelled, queued], 30)
    assert cancelled.cancel()
    assert next(completed) is cancelled
    assert veo.wait([cancelled], 10) == ({cancelled}, set())
    done, _ = futures.wait([cancelled, queued], 30, futures.FIRST_COMPLETED)
    assert done == {cancelled}
    assert called.wait(10)


def test_awaiting(busy, count):
    request = count(busy)

    async def cancel():
        asyncio.get_running_loop().call_soon(request.cancel)
        with pytest.raises(CancelledError):
            await request

    asyncio.run(cancel())


def test_closing_after_cancelling(make_proc, kernels):
    proc = make_proc()
    function = proc.load_library(kernels).nothing
    ctx = proc.open_context()
    requests = [function(ctx) for _ in range(1000)]
    cancelled = [request.cancel() for request in requests]
    proc.close()
    for request, was_cancelled in zip(requests, cancelled, strict=True):
        assert request.cancel() == request.cancelled() == was_cancelled
        if not was_cancelled:
            assert request.result() is None
