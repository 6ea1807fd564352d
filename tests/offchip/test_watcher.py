# SPDX-License-Identifier: BSD-3-Clause
"""Callbacks and awaits."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import weakref

import pytest

from offchip import watcher
from offchip.request import PythonRequest


class Manual(PythonRequest):
    def __init__(self):
        self.ended = threading.Event()
        self.value = None
        self.error = None

    def end(self, value=None, error=None):
        self.value, self.error = value, error
        self.ended.set()

    def poll(self):
        return self.ended.is_set()

    def wait_slice(self, seconds):
        return self.ended.wait(seconds)

    def outcome(self):
        if self.error is not None:
            raise self.error
        return self.value


class Calls:
    """A callback that notes its calls."""

    def __init__(self):
        self.requests = []
        self.threads = []
        self.seen = threading.Semaphore(0)

    def __call__(self, request):
        self.requests.append(request)
        self.threads.append(threading.current_thread().name)
        self.seen.release()

    def wait(self, count=1):
        for _ in range(count):
            assert self.seen.acquire(timeout=30)


def test_callback_of_an_ended_request_is_called_at_once():
    request, calls = Manual(), Calls()
    request.end()
    request.add_done_callback(calls)
    assert calls.requests == [request]
    assert calls.threads == [threading.current_thread().name]


def test_callback_is_called_by_the_watcher():
    request, calls = Manual(), Calls()
    request.add_done_callback(calls)
    assert calls.requests == []
    request.end()
    calls.wait()
    assert calls.requests == [request]
    assert calls.threads == ["offchip-watcher"]


def test_callbacks_of_a_request_come_in_order():
    request, last = Manual(), Calls()
    order = []
    for number in range(20):
        request.add_done_callback(lambda _, number=number: order.append(number))
    request.add_done_callback(last)
    request.end()
    last.wait()
    assert order == list(range(20))


@pytest.mark.parametrize("count", [1, 2, 200])
def test_every_request_of_many_is_seen(count):
    requests, calls = [Manual() for _ in range(count)], Calls()
    for request in requests:
        request.add_done_callback(calls)
    for request in reversed(requests):
        request.end()
    calls.wait(count)
    assert set(calls.requests) == set(requests)


def test_one_that_ends_is_seen_beside_one_that_does_not():
    stuck, other, calls = Manual(), Manual(), Calls()
    stuck.add_done_callback(calls)
    other.add_done_callback(calls)
    other.end()
    calls.wait()
    assert calls.requests == [other]
    stuck.end()
    calls.wait()


def test_error_in_a_callback_is_logged_and_the_next_is_called(caplog):
    request, calls = Manual(), Calls()
    request.add_done_callback(lambda _: 1 / 0)
    request.add_done_callback(calls)
    with caplog.at_level(logging.ERROR, "offchip"):
        request.end()
        calls.wait()
    assert "exception calling callback" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_exit_in_a_callback_does_not_end_the_watcher(caplog):
    first, second, calls = Manual(), Manual(), Calls()
    first.add_done_callback(lambda _: exit(3))
    second.add_done_callback(calls)
    first.end()
    second.end()
    calls.wait()
    assert "SystemExit" in caplog.text


def test_request_that_cannot_be_asked_any_more_counts_as_ended(caplog):
    class Broken(Manual):
        fails = False

        def poll(self):
            if self.fails:
                raise ConnectionError("gone")
            return False

        def wait_slice(self, seconds):
            return self.poll()

    request, calls = Broken(), Calls()
    request.add_done_callback(calls)
    request.fails = True
    calls.wait()
    assert "ConnectionError" in caplog.text
    with pytest.raises(ConnectionError):
        request.result()


def test_callback_must_be_callable():
    with pytest.raises(TypeError, match="callable is required, not int"):
        Manual().add_done_callback(3)


def test_request_lives_until_it_has_ended():
    request, calls = Manual(), Calls()
    ended, alive = request.ended, weakref.ref(request)
    request.add_done_callback(lambda _: calls(None))
    del request
    gc.collect()
    assert alive() is not None
    ended.set()
    calls.wait()
    if (thread := watcher._watcher._thread) is not None:
        thread.join(30)
    gc.collect()
    assert alive() is None


def test_await_returns_the_result():
    request = Manual()

    async def main():
        asyncio.get_running_loop().call_later(0.02, request.end, "value")
        return await request

    assert asyncio.run(main()) == "value"


def test_await_raises_the_error():
    request = Manual()

    async def main():
        asyncio.get_running_loop().call_later(0.02, request.end, None, ArithmeticError("bad"))
        await request

    with pytest.raises(ArithmeticError, match="bad"):
        asyncio.run(main())


def test_await_of_an_ended_request_does_not_yield():
    request = Manual()
    request.end(4)
    steps = request.__await__()
    with pytest.raises(StopIteration) as caught:
        next(steps)
    assert caught.value.value == 4


def test_gather_of_many():
    requests = [Manual() for _ in range(50)]

    async def one(request):
        return await request

    async def main():
        loop = asyncio.get_running_loop()
        for number, request in enumerate(requests):
            loop.call_later(1e-3 * (number % 7), request.end, number)
        return await asyncio.gather(*map(one, requests))

    assert asyncio.run(main()) == list(range(50))


def test_cancelling_the_task_leaves_the_request_alone():
    request = Manual()

    async def one():
        return await request

    async def main():
        task = asyncio.ensure_future(one())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not request.done()
        request.end(1)
        return await request

    assert asyncio.run(main()) == 1


def test_request_may_end_after_its_loop_was_closed():
    request, calls = Manual(), Calls()

    async def main():
        async def one():
            await request

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(one(), 0.02)

    asyncio.run(main())
    request.add_done_callback(calls)
    request.end()
    calls.wait()


FORK_PROGRAM = """
import os, sys, threading
from offchip.request import PythonRequest

class Manual(PythonRequest):
    def __init__(self):
        self.ended = threading.Event()
    def poll(self):
        return self.ended.is_set()
    def outcome(self):
        return None
    def __del__(self):
        if os.getpid() != owner:
            os.write(1, b"the child ran a destructor\\n")

owner = os.getpid()
inherited = Manual()
called = []
inherited.add_done_callback(called.append)
pid = os.fork()
if pid == 0:
    owner = os.getpid()
    mine, latch = Manual(), threading.Event()
    mine.add_done_callback(lambda _: latch.set())
    mine.ended.set()
    seen = latch.wait(30)
    os._exit(0 if seen and not called else 1)
assert os.waitpid(pid, 0)[1] == 0
inherited.ended.set()
while not called:
    pass
print("ok")
"""


def test_forked_child_has_a_watcher_of_its_own(run_python):
    done = run_python(FORK_PROGRAM)
    assert done.stdout == "ok\n", done.stdout + done.stderr


EXIT_PROGRAM = """
import threading
from offchip.request import PythonRequest

class Stuck(PythonRequest):
    def poll(self):
        return False

requests = [Stuck() for _ in range({count})]
for request in requests:
    request.add_done_callback(print)
"""


@pytest.mark.parametrize("count", [1, 5])
def test_interpreter_exits_quietly_with_requests_pending(run_python, count):
    done = run_python(EXIT_PROGRAM.format(count=count), limit=20)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
