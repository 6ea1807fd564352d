# SPDX-License-Identifier: BSD-3-Clause
"""Requests: waiting, peeking, asking again, dropping."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import veo


@pytest.mark.parametrize(
    ("kernel", "type_", "value"),
    [
        ("int", "int", -1),
        ("long", "long", -(2**63)),
        ("ulong", "unsigned long", 2**64 - 1),
        ("char", "char", -128),
        ("double", "double", -2.5),
        ("float", "float", -2.5),
        ("pointer", "void *", 2**63),
    ],
)
def test_peek_gives_any_result(typed, ctx, kernel, type_, value):
    request = typed(f"echo_{kernel}", type_, type_)(ctx, value)
    ctx.context_sync()
    assert request.peek_result() == value


def test_peek_of_an_unfinished_request_is_a_name_error(typed, ctx, latch):
    request = typed("wait_for", "int", "int *")(ctx, latch.address)
    with pytest.raises(NameError, match="peek_result command unfinished") as caught:
        request.peek_result()
    assert isinstance(caught.value, RuntimeError)
    assert not request.done()
    latch()
    assert request.wait_result() == 1


def test_result_can_be_asked_for_again(typed, ctx):
    request = typed("echo_int", "int", "int")(ctx, 7)
    assert [request.wait_result(), request.wait_result(), request.peek_result()] == [7, 7, 7]
    assert request.result() == 7
    assert request.exception() is None
    assert request.done()


def test_timeout(typed, ctx, latch):
    request = typed("wait_for", "int", "int *")(ctx, latch.address)
    started = time.monotonic()
    with pytest.raises(TimeoutError, match=r"did not finish within 0\.05 s") as caught:
        request.wait_result(timeout=0.05)
    assert 0.04 < time.monotonic() - started < 5
    assert isinstance(caught.value, veo.VeoTimeoutError)
    assert request.wait(0) is False
    with pytest.raises(veo.VeoTimeoutError):
        request.result(0)
    for wrong in ("1", b"1", [1]):
        with pytest.raises(TypeError):
            request.wait_result(wrong)
    latch()
    assert request.wait_result(30) == 1


def test_callbacks_and_await(typed, ctx, latch):
    seen = threading.Event()
    request = typed("wait_for", "int", "int *")(ctx, latch.address)
    request.add_done_callback(lambda done: done is request and seen.set())
    assert not seen.is_set()
    latch()
    assert seen.wait(20)

    async def both():
        double = typed("echo_double", "double", "double")
        return await asyncio.gather(*(_wait(double(ctx, x)) for x in (1.5, -2.5)))

    assert asyncio.run(both()) == [1.5, -2.5]


async def _wait(request):
    return await request


def test_requests_cannot_be_made_by_hand(ctx):
    for cls in (veo.VeoRequest, veo.VeoMemRequest):
        with pytest.raises(TypeError):
            cls()


def test_attributes_and_repr(typed, ctx, latch):
    wait = typed("wait_for", "int", "int *")
    first, second = wait(ctx, latch.address), wait(ctx, latch.address)
    assert first.ctx is ctx
    assert second.req > first.req >= 0
    assert repr(first) == f"<VeoRequest object req {first.req} in context {ctx!r}, unfinished>"
    latch()
    first.wait_result()
    assert repr(first).endswith("done>")
    assert weakref.ref(first)() is first


def test_several_threads_may_wait_for_one_request(typed, ctx, latch):
    request = typed("wait_for", "int", "int *")(ctx, latch.address)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(request.wait_result(30))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    latch()
    for thread in threads:
        thread.join(30)
    assert results == [1] * 4


def test_waiting_lets_other_threads_run(typed, ctx, latch):
    # The thread that opens the latch could not, were the interpreter held by the waiter.
    request = typed("wait_for", "int", "int *")(ctx, latch.address)
    threading.Timer(0.05, latch).start()
    assert request.wait_result(30) == 1


def test_results_after_the_context_was_closed(typed, proc):
    ctx = proc.open_context()
    requests = [typed("echo_double", "double", "double")(ctx, -x / 2) for x in range(50)]
    ctx.close()
    assert ctx.closed
    assert [request.wait_result() for request in requests] == [-x / 2 for x in range(50)]


def test_results_after_the_process_was_closed(typed, proc, ctx):
    requests = [typed("echo_int", "int", "int")(ctx, x) for x in range(50)]
    memory = bytearray(4)
    requests.append(typed("echo_int", "int", "int")(ctx, 50))
    read = ctx.async_read_mem(memory, proc.alloc_mem(4), 4)
    proc.close()
    assert [request.wait_result() for request in requests] == list(range(51))
    assert read.wait_result() == 0


def test_closing_with_a_limit_gives_up_what_is_not_done(typed, proc, latch):
    ctx = proc.open_context()
    done = typed("echo_int", "int", "int")(ctx, 1)
    assert done.wait(20)
    stuck = typed("wait_for", "int", "int *")(ctx, latch.address)
    memory = bytearray(8)
    stuck_read = ctx.async_read_mem(memory, latch.address, 4)
    started = time.monotonic()
    proc.close(timeout=0.2)
    assert time.monotonic() - started < 5
    assert done.wait_result() == 1
    for request in (stuck, stuck_read):
        with pytest.raises(veo.VeoClosedError, match="closed before request"):
            request.wait_result()
    memory.extend(b"1")


# --- dropped requests -------------------------------------------------------------------------


def exported(memory: bytearray) -> bool:
    try:
        memory.append(0)
        memory.pop()
    except BufferError:
        return True
    return False


def test_dropped_transfer_lets_go_of_its_memory(proc, ctx):
    address = proc.alloc_mem(1 << 16)
    memory = bytearray(1 << 16)
    for _ in range(20):
        ctx.async_read_mem(memory, address, 1 << 16)
        ctx.async_write_mem(address, memory, 1 << 16)
    ctx.context_sync()
    assert not exported(memory)


def test_dropped_request_keeps_out_memory_until_it_is_done(typed, ctx, latch):
    size = 1 << 16
    memory = bytearray(size)
    stack = veo.OnStack(memory, inout=veo.INTENT_OUT)
    typed("wait_and_fill", "void", "int *", "char *", "size_t")(ctx, latch.address, stack, size)
    del stack
    gc.collect()
    assert exported(memory)
    latch()
    ctx.context_sync()
    assert not exported(memory)
    assert memory == b"Z" * size


def test_memory_of_a_finished_request_is_free_while_the_request_lives(typed, ctx):
    memory = bytearray(10)
    request = typed("fill", "void", "char *", "size_t", "int")(
        ctx, veo.OnStack(memory, inout=veo.INTENT_OUT), 10, 1
    )
    request.wait_result()
    assert not exported(memory)
    assert request.done()


def test_closing_frees_what_dropped_requests_kept(typed, proc, ctx):
    memories = [bytearray(100) for _ in range(50)]
    for memory in memories:
        ctx.async_read_mem(memory, proc.alloc_mem(100), 100)
    proc.close()
    assert not any(map(exported, memories))


def test_context_that_goes_with_its_requests_frees_their_memory(typed, proc, ctx):
    memory = bytearray(1000)
    second = veo.VeoCtxt(proc)
    second.async_read_mem(memory, proc.alloc_mem(1000), 1000)
    del second
    gc.collect()
    assert not exported(memory)


def test_many_dropped_calls_leave_nothing(typed, ctx):
    function = typed("count_up", "int")
    for _ in range(20_000):
        function(ctx)
    assert function(ctx).wait_result() == 20_001


def test_arguments_live_as_long_as_the_call(typed, ctx, latch):
    class Array:
        def __init__(self, address):
            self._ve_array = address

    argument = Array(latch.address)
    alive = weakref.ref(argument)
    request = typed("wait_for", "int", "int *")(ctx, argument)
    del argument
    gc.collect()
    assert alive() is not None
    latch()
    assert request.wait_result() == 1
    gc.collect()
    assert alive() is None


def test_an_argument_that_holds_its_request_goes_with_a_later_call(typed, ctx):
    class Holder:
        def __init__(self, memory):
            self.memory = memory

        @property
        def _ve_array(self):
            return self.memory

    function = typed("echo_pointer", "void *", "void *")
    holder = Holder(16)
    holder.request = function(ctx, holder)
    gone = weakref.ref(holder)
    ctx.context_sync()
    del holder
    function(ctx, 8).wait_result()
    gc.collect()
    assert gone() is None


def test_no_reference_is_lost_or_kept(typed, ctx, proc):
    function = typed("add_two", "void", "double *", "long")
    values = np.zeros(10)
    address = proc.alloc_mem(80)
    before = [sys.getrefcount(thing) for thing in (values, function, ctx, proc)]
    for _ in range(100):
        function(ctx, veo.OnStack(values, inout=veo.INTENT_INOUT), 10).wait_result()
        ctx.async_write_mem(address, values, 80).wait_result()
        proc.read_mem(values, address, 80)
        with pytest.raises(ValueError, match="args conversion"):
            function(ctx, veo.OnStack(values), "x")
    gc.collect()
    assert [sys.getrefcount(thing) for thing in (values, function, ctx, proc)] == before


def test_requests_are_waited_for_as_futures(typed, proc):
    first, second = proc.open_context(), proc.open_context()
    count = typed("count_up", "int")
    requests = [count(ctx) for ctx in (first, second) for _ in range(10)]
    done, pending = concurrent.futures.wait(requests, timeout=60)
    assert pending == set()
    assert {request.result() for request in done} <= set(range(1, 21))
    more = [count(first) for _ in range(10)]
    assert len(list(concurrent.futures.as_completed(more, timeout=60))) == 10
    assert not more[0].cancel()
