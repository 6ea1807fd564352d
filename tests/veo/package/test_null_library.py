# SPDX-License-Identifier: BSD-3-Clause
"""Answers that a library may give, on one that has nothing of the soft twin and answers at will."""

from __future__ import annotations

import gc
import logging
import threading

import pytest

import veo


@pytest.fixture
def proc(null, make_proc):
    return make_proc(library=null.path)


@pytest.fixture
def kernels():
    return "/any"


def test_it_is_a_library_like_a_vendors(proc):
    assert not proc.library.is_soft
    assert proc.pid is None
    assert proc.heap_used is None


def test_call_that_is_refused_raises(typed, ctx, null):
    memory = bytearray(4)
    refuse = typed("refuse", "int", "char *")
    with pytest.raises(RuntimeError, match="the call of refuse was rejected") as caught:
        refuse(ctx, veo.OnStack(memory, inout=veo.INTENT_OUT))
    assert caught.value.function == "veo_call_async"
    del caught
    gc.collect()
    memory.append(1)


def test_transfer_that_is_refused_raises_and_lets_go(proc, ctx, null):
    address = proc.alloc_mem(4)
    memory = bytearray(4)
    null.kill(proc)
    with pytest.raises(RuntimeError, match="async_read_mem of 4 bytes"):
        ctx.async_read_mem(memory, address, 4)
    with pytest.raises(RuntimeError, match="async_write_mem of 4 bytes"):
        ctx.async_write_mem(address, memory, 4)
    gc.collect()
    memory.append(1)


@pytest.mark.parametrize(
    ("kernel", "error", "waited", "peeked", "code"),
    [
        ("crash", ArithmeticError, "wait_result command exception on VE",
         "peek_result command exception", 11),
        ("error", RuntimeError, "wait_result command handling error",
         "peek_result command error on VE", 2),
        ("vherror", RuntimeError, "wait_result command exception on VH",
         "peek_result command exception on VH", -1),
    ],
)  # fmt: skip
def test_states_become_exceptions(typed, ctx, kernel, error, waited, peeked, code):
    for _ in range(2):
        request = typed(kernel, "int")(ctx)
        with pytest.raises(error, match=waited) as caught:
            request.wait_result()
        assert caught.value.code == code
        with pytest.raises(error, match=peeked):
            request.peek_result()
        assert isinstance(request.exception(), error)


def test_waiting_without_the_twins_functions(typed, ctx, null):
    request = typed("hold", "int")(ctx)
    with pytest.raises(NameError):
        request.peek_result()
    with pytest.raises(TimeoutError):
        request.wait_result(0.02)
    threading.Timer(0.05, null.release).start()
    assert request.wait_result(30) == 0


def test_queued_calls_of_a_vendors_library_cannot_be_cancelled(typed, ctx, null):
    hold = typed("hold", "int")
    requests = [hold(ctx) for _ in range(3)]
    assert [request.cancel() for request in requests] == [False] * 3
    null.release()
    assert not any(request.cancelled() for request in requests)


def test_synchronous_functions_wait_for_the_main_context(typed, ctx, proc, null):
    request = typed("hold", "int")(ctx)
    threading.Timer(0.05, null.release).start()
    proc.free_mem(proc.alloc_mem(4))
    assert request.done()


def test_context_sync_keeps_the_results(typed, ctx, null):
    hold, echo = typed("hold", "int"), typed("echo", "int", "int")
    requests = [hold(ctx), echo(ctx, 5)]
    threading.Timer(0.05, null.release).start()
    ctx.context_sync()
    assert [request.peek_result() for request in requests] == [0, 5]


def test_dropped_requests_are_reaped_by_later_calls(typed, ctx, null):
    memory = bytearray(4)
    hold, fill, echo = typed("hold", "int"), typed("fill", "void", "char *"), typed("echo", "int")
    hold(ctx)
    fill(ctx, veo.OnStack(memory, inout=veo.INTENT_OUT))
    gc.collect()
    with pytest.raises(BufferError):
        memory.append(1)
    null.release()
    for _ in range(3):
        echo(ctx).wait_result()
    assert memory == b"ZZZZ"
    memory.append(1)


def test_dropped_requests_are_remembered_in_any_number(typed, ctx, null):
    memories = [bytearray(2) for _ in range(100)]
    hold, fill = typed("hold", "int"), typed("fill", "void", "char *")
    # Some are reaped in between, so that the ring of dropped requests wraps round.
    for memory in memories[:10]:
        fill(ctx, veo.OnStack(memory, inout=veo.INTENT_OUT))
    hold(ctx)
    for memory in memories[10:]:
        fill(ctx, veo.OnStack(memory, inout=veo.INTENT_OUT))
    gc.collect()
    null.release()
    ctx.context_sync()
    assert memories == [b"ZZ"] * 100
    for memory in memories:
        memory.append(1)


def test_memory_lives_until_the_process_is_gone(typed, ctx, proc, null):
    memory = bytearray(4)
    hold, fill = typed("hold", "int"), typed("fill", "void", "char *")
    kept = [hold(ctx), fill(ctx, veo.OnStack(memory, inout=veo.INTENT_OUT))]
    hold(ctx)
    proc.close(0)
    memory.append(1)
    for request in kept:
        with pytest.raises(veo.VeoClosedError, match="closed before request"):
            request.wait_result()
        with pytest.raises(veo.VeoClosedError):
            request.peek_result()


def test_dropping_a_context_waits_for_its_dropped_requests(proc, typed, null):
    memory = bytearray(4)
    ctx = veo.VeoCtxt(proc)
    hold, fill = typed("hold", "int"), typed("fill", "void", "char *")
    hold(ctx)
    fill(ctx, veo.OnStack(memory, inout=veo.INTENT_OUT))
    threading.Timer(0.05, null.release).start()
    del ctx
    gc.collect()
    assert memory == b"ZZZZ"
    memory.append(1)


def test_closing_waits_for_a_thread_that_waits(typed, ctx, proc, null):
    request = typed("hold", "int")(ctx)
    outcome = []

    def wait():
        try:
            outcome.append(request.wait_result(30))
        except RuntimeError as error:
            outcome.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    proc.close(0.05)
    thread.join(30)
    assert not thread.is_alive()
    assert [type(item) for item in outcome] == [veo.VeoClosedError]


def test_argument_lists_are_used_again(typed, ctx, null):
    before = null.live_args()
    function = typed("sum", "long", "long", "long")
    assert [function(ctx, x, 1).wait_result() for x in range(1000)] == list(range(1, 1001))
    assert null.live_args() == before + 1
    function.args_type("long")
    assert function(ctx, 3).wait_result() == 3
    assert null.live_args() == before + 1


def test_failed_conversion_keeps_the_argument_list(typed, ctx, null):
    function = typed("echo", "int", "int")
    before = null.live_args()
    for _ in range(10):
        with pytest.raises(ValueError, match="args conversion"):
            function(ctx, "x")
    assert null.live_args() <= before + 1
    assert function(ctx, 4).wait_result() == 4


def test_argument_lists_go_with_their_function(proc, ctx, null):
    gc.collect()
    before = null.live_args()
    lib = veo.VeoLibrary(proc, "/any", 77)
    lib.echo.args_type("int")
    lib.echo(ctx, 1).wait_result()
    args = veo.VeoArgs(null.path)
    assert null.live_args() == before + 2
    del lib, args
    gc.collect()
    assert null.live_args() == before


def test_process_that_cannot_be_made(null):
    with pytest.raises(RuntimeError, match=r"veo_proc_create\(8\) failed"):
        veo.VeoProc(8, library=null.path)
    with pytest.raises(RuntimeError, match="veo_proc_create_static"):
        veo.VeoProc(0, "relative", library=null.path)


def test_failures_of_a_dead_process(proc, null):
    address = proc.alloc_mem(4)
    null.kill(proc)
    with pytest.raises(RuntimeError, match="veo_alloc_mem failed") as caught:
        proc.alloc_mem(4)
    assert not isinstance(caught.value, MemoryError)
    for call in (
        lambda: proc.free_mem(address),
        lambda: proc.read_mem(bytearray(4), address, 4),
        lambda: proc.write_mem(address, bytes(4), 4),
        lambda: proc.load_library("/x"),
        proc.open_context,
    ):
        with pytest.raises(RuntimeError):
            call()


def test_libraries_do_not_mix(proc, make_proc, typed):
    soft = make_proc()
    assert soft.library is not proc.library
    assert soft.library.is_soft
    with pytest.raises(ValueError, match="different processes"):
        typed("echo", "int", "int")(soft.open_context(), 1)


def test_log_says_what_is_done(null, caplog):
    with caplog.at_level(logging.INFO, logger="veo"), veo.VeoProc(2, library=null.path) as proc:
        ctx = proc.open_context()
        address = proc.alloc_mem(16)
        proc.write_mem(address, bytes(16), 16)
        proc.read_mem(bytearray(16), address, 16)
        ctx.async_write_mem(address, bytes(8), 8).wait_result()
        ctx.async_read_mem(bytearray(8), address, 8)
        echo = proc.load_library("/any").echo
        echo.args_type()
        echo(ctx).wait_result()
        proc.free_mem(address)
    messages = [record.getMessage() for record in caplog.records if record.name == "veo"]
    for text in (
        "proc created nodeid=2",
        f"alloc_mem addr={int(address):#x} size=16",
        "write_mem nodeid=2 size=16",
        "read_mem nodeid=2 size=16",
        "async_write_mem nodeid=2 size=8 reqid=0",
        "async_read_mem nodeid=2 size=8 reqid=1",
        "call_async name=echo reqid=2",
        "wait_result nodeid=2 reqid=2",
        f"free_mem addr={int(address):#x}",
        "proc destroyed nodeid=2",
    ):
        assert text in messages
    with caplog.at_level(logging.WARNING, logger="veo"):
        caplog.clear()
        veo.VeoProc(0, library=null.path).close()
        assert caplog.records == []
