# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import concurrent.futures
import math
import threading
import time
from decimal import Decimal
from fractions import Fraction

import pytest

from offchip.errors import RequestTimeoutError
from offchip.request import PythonRequest, Request


class Manual(PythonRequest):
    """Ends when it is told to."""

    def __init__(self):
        self.ended = threading.Event()
        self.value = None
        self.error = None
        self.polls = 0
        self.longest = 0.0

    def end(self, value=None, error=None):
        self.value, self.error = value, error
        self.ended.set()

    def poll(self):
        self.polls += 1
        return self.ended.is_set()

    def wait_slice(self, seconds):
        self.longest = max(self.longest, seconds)
        return self.ended.wait(seconds)

    def outcome(self):
        if self.error is not None:
            raise self.error
        return self.value


class Polled(Manual):
    """Has no way of waiting but the default."""

    wait_slice = PythonRequest.wait_slice


@pytest.mark.parametrize("cls", [Manual, Polled])
def test_result_of_another_thread_is_waited_for(cls):
    request = cls()
    timer = threading.Timer(0.05, request.end, ["value"])
    timer.start()
    assert not request.done()
    assert request.result() == "value"
    assert request.done()
    assert request.exception() is None
    timer.join()


def test_error_is_raised_every_time():
    request = Manual()
    request.end(error=ArithmeticError("bad"))
    for _ in range(2):
        with pytest.raises(ArithmeticError, match="bad"):
            request.result()
    assert isinstance(request.exception(), ArithmeticError)


def test_ended_request_is_not_polled_again():
    request = Manual()
    request.end(1)
    assert request.wait()
    polls = request.polls
    assert request.done()
    assert request.result() == 1
    assert request.polls == polls


@pytest.mark.parametrize("timeout", [0, 0.0, -1, 0.02])
def test_limit_is_reached(timeout):
    request = Manual()
    assert request.wait(timeout) is False
    for call in (request.result, request.exception):
        with pytest.raises(RequestTimeoutError, match="did not finish within"):
            call(timeout)
    request.end(5)
    assert request.wait(timeout) is True
    assert request.result(timeout) == 5


@pytest.mark.parametrize(
    ("timeout", "text"),
    [(1 / 300, "0.00333333 s"), (Fraction(1, 3), "0.333333 s"), (Decimal("0.010"), "0.01 s")],
)
def test_limit_is_said_with_few_digits(timeout, text):
    with pytest.raises(RequestTimeoutError, match=f"did not finish within {text}; it continues"):
        Manual().result(timeout)


def test_limit_is_kept():
    request = Manual()
    start = time.monotonic()
    assert not request.wait(0.25)
    assert 0.25 <= time.monotonic() - start < 5
    assert request.longest <= 0.1


@pytest.mark.parametrize("timeout", [math.inf, 1e300, 9e9])
def test_limits_beyond_the_clock_are_no_limits(timeout):
    request = Manual()
    timer = threading.Timer(0.02, request.end, [1])
    timer.start()
    assert request.result(timeout) == 1
    timer.join()


@pytest.mark.parametrize("timeout", ["1", b"1", [1], object()])
def test_limit_of_a_wrong_type_is_refused(timeout):
    with pytest.raises(TypeError, match=f"number of seconds or None, not {type(timeout).__name__}"):
        Manual().wait(timeout)


def test_limit_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        Manual().result(math.nan)


def test_timeout_error_is_the_subclass_s_choice():
    class Mine(Manual):
        def _timeout_error(self, timeout):
            return LookupError(timeout)

    with pytest.raises(LookupError) as caught:
        Mine().result(0.01)
    assert caught.value.args == (0.01,)


def test_error_while_polling_is_raised():
    class Broken(Manual):
        def poll(self):
            raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        Broken().done()


@pytest.mark.parametrize("call", ["done", "wait", "result"])
@pytest.mark.parametrize("cls", [Request, PythonRequest])
def test_base_classes_say_what_is_missing(cls, call):
    with pytest.raises(NotImplementedError, match="does not define"):
        getattr(cls(), call)()


def test_several_threads_wait_for_one_request():
    request = Manual()
    results = []
    threads = [threading.Thread(target=lambda: results.append(request.result())) for _ in range(8)]
    for thread in threads:
        thread.start()
    request.end(3)
    for thread in threads:
        thread.join()
    assert results == [3] * 8


# No line of Python runs while C waits, so that only the loop around it can see the signal.
SIGNAL_PROGRAM = """
import ctypes, os, signal, sys, threading, time
from offchip.request import PythonRequest

library = ctypes.CDLL(sys.argv[1])
library.wait_slice.argtypes = [ctypes.c_double]

class Stuck(PythonRequest):
    poll = staticmethod(library.nothing)
    wait_slice = staticmethod(library.wait_slice)

def kick():
    while not library.waiting():
        time.sleep(1e-3)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=kick).start()
start = time.monotonic()
try:
    Stuck().result(30)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start < 5)
"""
SLEEPER = """
#include <errno.h>
#include <time.h>
static volatile int started;
int nothing(void) { return 0; }
int waiting(void) { return started; }
int wait_slice(double seconds)
{
    struct timespec left = {.tv_nsec = (long)(seconds * 1e9)};
    started = 1;
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
    return 0;
}
"""


def test_signal_ends_a_wait_that_blocks_in_c(compile_c, run_python):
    done = run_python(SIGNAL_PROGRAM, str(compile_c(SLEEPER)))
    assert done.stdout == "interrupted True\n", done.stderr


def test_import_is_cheap(run_python):
    done = run_python(
        "import sys, offchip.request, offchip.buffer, offchip.loader\n"
        "heavy = {'asyncio', 'concurrent.futures', 'subprocess', 'logging', 'numpy', 'json'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert done.stdout == "[]\n", done.stderr


# --- as a future ------------------------------------------------------------------------------


def test_nothing_can_be_cancelled():
    request = Manual()
    assert (request.cancel(), request.cancelled(), request.running()) == (False, False, True)
    request.end(1)
    assert (request.cancel(), request.cancelled(), request.running()) == (False, False, False)


def finish_all(requests, values):
    for request, value in zip(requests, values, strict=True):
        request.end(value)


def test_wait_of_concurrent_futures_ends_with_the_last():
    requests = [Manual() for _ in range(5)]
    requests[0].end(0)
    thread = threading.Thread(target=finish_all, args=(requests[1:], range(1, 5)))
    thread.start()
    done, pending = concurrent.futures.wait(requests, timeout=30)
    thread.join()
    assert pending == set()
    assert sorted(request.result() for request in done) == [0, 1, 2, 3, 4]
    assert concurrent.futures.wait(requests, timeout=0).done == set(requests)


def test_wait_of_concurrent_futures_ends_with_the_first():
    first, second = Manual(), Manual()
    assert concurrent.futures.wait([first, second], timeout=0.01).done == set()
    thread = threading.Thread(target=second.end, args=(2,))
    thread.start()
    done, pending = concurrent.futures.wait(
        [first, second], timeout=30, return_when=concurrent.futures.FIRST_COMPLETED
    )
    thread.join()
    assert (done, pending) == ({second}, {first})
    first.end(1)


def test_wait_of_concurrent_futures_ends_with_the_first_error():
    first, second, third = Manual(), Manual(), Manual()
    first.end(1)
    thread = threading.Thread(target=second.end, args=(None, ValueError("no")))
    thread.start()
    done, pending = concurrent.futures.wait(
        [first, second, third], timeout=30, return_when=concurrent.futures.FIRST_EXCEPTION
    )
    thread.join()
    assert (done, pending) == ({first, second}, {third})
    third.end(3)


def test_as_completed_gives_each_once():
    requests = [Manual() for _ in range(20)]
    pool = concurrent.futures.ThreadPoolExecutor(1)
    finishing = pool.submit(finish_all, requests[::-1], range(20))
    seen = [request.result() for request in concurrent.futures.as_completed(requests, timeout=30)]
    finishing.result()
    pool.shutdown()
    assert sorted(seen) == list(range(20))


def test_as_completed_keeps_its_limit():
    request = Manual()
    with pytest.raises(TimeoutError):
        list(concurrent.futures.as_completed([request], timeout=0.01))
    request.end(1)


def test_requests_and_futures_mix():
    future = concurrent.futures.Future()
    request = Manual()
    thread = threading.Thread(target=lambda: (request.end(1), future.set_result(2)))
    thread.start()
    done = concurrent.futures.wait([future, request], timeout=30).done
    thread.join()
    assert {item.result() for item in done} == {1, 2}
