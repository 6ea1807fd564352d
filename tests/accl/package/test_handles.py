# SPDX-License-Identifier: BSD-3-Clause
"""Asynchronous calls: handles, chains, failures, and what they keep."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
import weakref

import numpy as np
import pytest

from accl import (
    ACCLClosedError,
    ACCLPeerError,
    ACCLReceiveTimeoutError,
    ACCLUnfinishedError,
    accl,
)


def pair(device):
    a, r = device.allocate((16,)), device.allocate((16,))
    a[:], r[:] = np.arange(16), 0
    return a, r


def test_async_by_keyword_expansion(one):
    a, r = pair(one)
    how = {"async": True, "to_fpga": True}
    for handle in (one.copy(a, r, **how), one.nop(**{"async": True}), one.allreduce(a, r, **how)):
        assert handle.wait() is True
        assert handle.test() and handle.done() and handle.result() is None
        assert handle.duration >= 0
    assert one.nop(**{"async": False}) is None


class Watched(np.ndarray):
    """An array that a weak reference can tell the end of."""


def test_a_handle_lets_go_of_its_operands_when_the_call_has_ended(one):
    a, r = np.ones(16, "f4").view(Watched), np.zeros(16, "f4").view(Watched)
    gone = [weakref.ref(a), weakref.ref(r)]
    handle = one.copy(a, r, run_async=True)
    assert handle.wait() and (r == 1).all()
    del a, r
    assert [ref() for ref in gone] == [None, None]
    assert handle.done()


def test_wait_has_a_limit(make):
    first, second = make(2)
    r = first.allocate((16,))
    handle = first.recv(r, 16, 1, to_fpga=True, run_async=True)
    assert handle.wait(0) is False
    assert handle.wait(0.05) is False
    assert not handle.test()
    with pytest.raises(ACCLUnfinishedError, match="recv: did not finish within 0.01 s"):
        handle.result(0.01)
    b, _ = pair(second)
    second.send(b, 16, 0)
    assert handle.wait(10)
    r.sync_from_device()
    assert np.array_equal(r, b)


def test_wait_raises_the_error_of_the_call(one):
    one.set_timeout(50)
    handle = one.recv(one.allocate((4,)), 4, 0, to_fpga=True, run_async=True)
    for _ in range(2):
        with pytest.raises(ACCLReceiveTimeoutError):
            handle.wait()
    assert handle.retcode == 2048
    assert isinstance(handle.exception(), ACCLReceiveTimeoutError)
    follower = one.nop(run_async=True, waitfor=[handle])
    with pytest.raises(ACCLReceiveTimeoutError, match="a call that this one waits for failed"):
        follower.wait()
    with pytest.raises(ACCLReceiveTimeoutError):
        one.nop(waitfor=[handle])
    one.nop()


def test_chain_runs_without_the_host(make, everywhere):
    devices = make(2)

    def body(device, rank):
        a, r = pair(device)
        # Once: a call without from_fpga would copy the host's view again, when it is made.
        a.sync_to_device()
        on_device = {"from_fpga": True, "to_fpga": True, "run_async": True}
        handles = []
        for _ in range(20):
            handles.append(device.allreduce(a, r, waitfor=handles[-1:], **on_device))
            handles.append(device.copy(r, a, waitfor=handles, **on_device))
        device.nop(waitfor=[None, handles[-1]])
        assert all(handle.done() for handle in handles)
        a.sync_from_device()
        return np.array(a)

    results = everywhere(devices, body)
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], np.arange(16) * 2.0**20)


def test_chain_of_the_readme_of_2021(make, everywhere):
    devices = make(2)

    def body(device, rank):
        a, r, many = *pair(device), device.allocate((32,))
        how = {"from_fpga": False, "to_fpga": True}
        handle = device.allreduce(a, r, count=16, **how, **{"async": True})
        device.allgather(r, many, count=16, from_fpga=True, waitfor=[handle], **{"async": False})
        return np.array(many)

    for result in everywhere(devices, body):
        assert np.array_equal(result, np.tile(np.arange(16) * 2, 2))


def test_a_chain_crosses_devices(make):
    first, second = make(2)
    late = second.recv(second.allocate((16,)), 16, 0, to_fpga=True, run_async=True)
    follower = first.nop(run_async=True, waitfor=late)
    assert follower.wait(0.05) is False
    # They are executed in order, so the next one is held up as well.
    behind = first.nop(run_async=True)
    assert not behind.done()
    second.deinit()
    with pytest.raises((ACCLPeerError, ACCLClosedError)):
        late.wait()
    with pytest.raises((ACCLPeerError, ACCLClosedError)):
        follower.wait()
    assert behind.wait(10)


def test_several_are_outstanding_and_end_in_order(one):
    a, _ = pair(one)
    results = [one.allocate((16,)) for _ in range(30)]
    handles = [one.copy(a, r, to_fpga=True, run_async=True) for r in results]
    handles[-1].wait()
    assert all(handle.done() for handle in handles)


def test_dropped_handle_keeps_its_buffers(make):
    first, second = make(2)
    address = []

    def start():
        r = first.allocate((16,))
        address.append(r.physical_address)
        first.recv(r, 16, 1, to_fpga=True, run_async=True)

    start()
    gc.collect()
    taken = [first.allocate((16,)).physical_address for _ in range(3)]
    assert address[0] not in taken
    b, _ = pair(second)
    second.send(b, 16, 0)
    first.nop()
    first.nop(run_async=True).wait()
    gc.collect()
    again = [first.allocate((16,)) for _ in range(3)]
    assert address[0] in [buffer.physical_address for buffer in again]


def test_callbacks_and_await(one):
    a, r = pair(one)
    called = threading.Event()
    handle = one.copy(a, r, to_fpga=True, run_async=True)
    handle.add_done_callback(lambda h: called.set())
    assert called.wait(5)

    async def program():
        await one.copy(a, r, to_fpga=True, run_async=True)
        await asyncio.gather(*(one.nop(run_async=True) for _ in range(5)))
        one.set_timeout(20)
        with pytest.raises(ACCLReceiveTimeoutError):
            await one.recv(r, 4, 0, to_fpga=True, run_async=True)

    asyncio.run(program())


def test_deinit_ends_what_is_outstanding(make):
    device, _ = make(2)
    handles = [
        device.recv(device.allocate((4,)), 4, 1, to_fpga=True, run_async=True) for _ in range(3)
    ]
    device.deinit()
    for handle in handles:
        assert handle.done()
        with pytest.raises((ACCLPeerError, ACCLClosedError)):
            handle.wait()


@pytest.mark.parametrize("plain", [False, True], ids=["buffer", "array"])
def test_a_dropped_accl_is_closed_though_a_call_runs(job, plain):
    device = accl(2, 0, job=job)
    result = np.zeros(4, dtype=np.float32) if plain else device.allocate((4,))
    device.recv(result, src=1, to_fpga=not plain, run_async=True)
    del device
    gc.collect()
    # Its name is free again: nothing of it is left.
    with accl(2, 0, job=job) as again:
        assert again.config_rdy


def test_a_handle_keeps_the_device_of_a_dropped_accl_open(job):
    first, second = (accl(2, rank, job=job) for rank in range(2))
    result = first.allocate((4,))
    result[:] = 0
    handle = first.recv(result, src=1, to_fpga=True, run_async=True)
    del first
    gc.collect()
    a, _ = pair(second)
    second.send(a[:4], dst=0)
    assert handle.wait(10)
    result.sync_from_device()
    assert np.array_equal(result, np.arange(4))
    second.deinit()
    del handle


def test_what_a_dropped_handle_uses_stays_until_the_call_has_ended(make):
    first, second = make(2)
    handle = first.recv(first.allocate((4096,)), src=1, to_fpga=True, run_async=True)
    used = first.memory_info()["allocated"]
    del handle
    gc.collect()
    assert first.memory_info()["allocated"] == used
    second.send(second.allocate((4096,)), dst=0)
    first.nop()
    first.nop(run_async=True).wait()
    assert first.memory_info()["allocated"] < used


@contextlib.contextmanager
def held_back(make):
    """Give two ranks and a receive of the first, which waits for its barrier in another thread."""
    first, second = make(2, unified=True)

    def wait():
        with contextlib.suppress(ACCLClosedError):
            first.barrier()

    thread = threading.Thread(target=wait)
    thread.start()
    while "BARRIER" not in first._control.dump("waits").upper():
        assert thread.is_alive()
    handle = first.recv(got := np.zeros(4), src=1, run_async=True)
    yield first, second, handle, got
    first.deinit()
    thread.join()


def test_call_held_back_by_another_threads_goes_on_after_it(make):
    with held_back(make) as (_, second, handle, got):
        assert not handle.done()
        second.barrier()
        second.send(np.arange(4.0), dst=0)
        assert handle.wait(20)
        assert list(got) == [0, 1, 2, 3]


def test_call_held_back_by_another_threads_ends_when_closed(make):
    with held_back(make) as (first, _, handle, _):
        first.deinit()
        with pytest.raises(ACCLClosedError, match="recv: .*was closed"):
            handle.result(20)


def test_ended_call_in_a_cycle_is_collected(one):
    handle = one.nop(run_async=True)
    handle.wait()
    one.nop(run_async=True).wait()  # the device drops the one before
    # Made after the handle, so that the collector reaches what the handle has before.
    cell = [handle]
    cell.append(cell)
    del handle, cell
    gc.collect()
