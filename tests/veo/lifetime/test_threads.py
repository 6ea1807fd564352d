# SPDX-License-Identifier: BSD-3-Clause
"""Several threads on one object, and closing under their feet."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

import veo

KERNELS = """
#include <unistd.h>
long add(long a, long b) { return a + b; }
int wait_for(volatile int *flag) { while (*flag == 0) usleep(100); return *flag; }
void fill(char *memory, long size, int byte) { for (long i = 0; i < size; i++) memory[i] = byte; }
"""


@pytest.fixture
def proc():
    with veo.VeoProc(0, library="soft") as made:
        yield made


@pytest.fixture
def lib(proc, compile_c):
    lib = proc.load_library(compile_c(KERNELS, "libthreads.so", flags=["-g"]))
    lib.add.args_type("long", "long")
    lib.add.ret_type("long")
    lib.wait_for.args_type("int *")
    lib.fill.args_type("char *", "long", "int")
    lib.fill.ret_type("void")
    return lib


def run_together(*works: Callable[[], object]) -> list[BaseException]:
    """Run functions in threads of their own from one moment on; what they raised."""
    barrier = threading.Barrier(len(works))
    errors: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        barrier.wait()
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return errors


def test_one_function_in_one_context(proc, lib):
    ctx = proc.open_context()

    def work(base):
        for i in range(500):
            assert lib.add(ctx, base, i).wait_result() == base + i

    assert run_together(*(lambda b=b: work(b) for b in range(0, 4000, 1000))) == []


def test_one_function_with_stack_memory(proc, lib):
    ctx = proc.open_context()

    def work(byte):
        for size in (1, 100, 5000):
            for _ in range(30):
                memory = bytearray(size)
                lib.fill(ctx, veo.OnStack(memory, inout=veo.INTENT_OUT), size, byte).wait_result()
                assert memory == bytes([byte]) * size

    assert run_together(*(lambda b=b: work(b) for b in range(1, 5))) == []


def test_memory_from_many_threads(proc):
    def work(byte):
        for size in (1, 4096, 100_000):
            address = proc.alloc_mem(size)
            data = bytes([byte]) * size
            proc.write_mem(address, data, size)
            back = bytearray(size)
            proc.read_mem(back, address, size)
            assert back == data
            proc.free_mem(address)

    assert run_together(*(lambda b=b: [work(b) for _ in range(20)] for b in range(1, 5))) == []


def test_contexts_from_many_threads(proc, lib):
    def work():
        for _ in range(5):
            with veo.VeoCtxt(proc) as ctx:
                assert lib.add(ctx, 1, 2).wait_result() == 3

    proc.open_context()
    assert run_together(*[work] * 4) == []


@pytest.mark.parametrize("round_", range(5))
def test_closing_the_process_under_calls(lib, proc, round_):
    contexts = [proc.open_context() for _ in range(3)]
    address = proc.alloc_mem(8)

    def call(ctx):
        while True:
            lib.add(ctx, 1, 2).wait_result()
            proc.read_mem(bytearray(8), address, 8)
            ctx.async_read_mem(bytearray(8), address, 8)

    errors = run_together(
        *(lambda c=ctx: call(c) for ctx in contexts), lambda: [proc.close() for _ in range(2)]
    )
    assert [type(error) for error in errors] == [veo.VeoClosedError] * 3


@pytest.mark.parametrize("round_", range(5))
def test_closing_a_context_under_calls(lib, proc, round_):
    proc.open_context()
    ctx = proc.open_context()

    def call():
        while True:
            lib.add(ctx, 1, 2).wait_result()

    errors = run_together(call, call, ctx.close, ctx.close)
    assert [type(error) for error in errors] == [veo.VeoClosedError] * 2


def test_closing_waits_for_what_is_queued(lib, proc):
    ctx = proc.open_context()
    requests = [lib.add(ctx, i, 1) for i in range(2000)]
    assert run_together(proc.close, lambda: requests[-1].wait_result()) == []
    assert [request.wait_result() for request in requests] == list(range(1, 2001))


def test_making_and_closing_processes_from_many_threads():
    def work():
        for _ in range(3):
            with veo.VeoProc(0, library="soft") as proc:
                proc.free_mem(proc.alloc_mem(100))

    assert run_together(*[work] * 4) == []
