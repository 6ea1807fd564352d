# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for several requests."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import Future

import pytest

import veo


@pytest.fixture
def divide(typed):
    return typed("divide", "int", "int", "int")


@pytest.fixture
def waiting(typed, divide):
    return typed("wait_for", "int", "int *")


def test_all(ctx, divide):
    requests = [divide(ctx, i, 1) for i in range(5)]
    done, not_done = veo.wait(iter(requests), 10)
    assert (done, not_done) == (set(requests), set())
    assert [request.result() for request in requests] == [0, 1, 2, 3, 4]
    assert veo.wait([]) == (set(), set())


def test_timeout_leaves_what_runs(ctx, proc, waiting, latch, divide):
    second = proc.open_context()
    running, other = waiting(ctx, latch.address), divide(second, 6, 2)
    assert other.result(10) == 3
    assert veo.wait([running, other], 0.05) == ({other}, {running})
    with pytest.raises(TimeoutError):
        list(veo.as_completed([running], 0.05))
    latch()
    assert veo.wait([running, other], 10).not_done == set()


@pytest.mark.parametrize("when", ["FIRST_COMPLETED", "FIRST_EXCEPTION"])
def test_first(ctx, waiting, latch, when):
    running = waiting(ctx, latch.address)
    future: Future[int] = Future()
    future.set_exception(ValueError())
    done, not_done = veo.wait([running, future], 10, getattr(veo, when))
    assert (done, not_done) == ({future}, {running})
    latch()
    assert running.wait(10)


def test_in_the_order_of_their_ends(ctx, proc, waiting, latch, divide):
    second = proc.open_context()
    running, first = waiting(ctx, latch.address), divide(second, 1, 2)
    seen = []
    for request in veo.as_completed([running, first], 10):
        seen.append(request)
        if len(seen) == 1:
            latch()
    assert seen == [first, running]


def test_errors_stay_in_their_requests(ctx, typed):
    failed = typed("segfault", "int")(ctx)
    assert veo.wait([failed], 10).done == {failed}
    assert isinstance(failed.exception(), veo.VeoError)


def test_is_imported_when_it_is_used():
    code = """
import sys, veo
assert "veo.completion" not in sys.modules and "veo.output" not in sys.modules
assert "concurrent.futures" not in sys.modules
veo.wait([])
assert "concurrent.futures" not in sys.modules
"""
    subprocess.run([sys.executable, "-P", "-c", code], check=True)
