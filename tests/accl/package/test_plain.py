# SPDX-License-Identifier: BSD-3-Clause
"""Arrays without device memory: NumPy's own, and those of other libraries."""

from __future__ import annotations

import asyncio
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import accl as package
from accl import ACCLError, ACCLReduceFunctions, ACCLStreamFlags
from tests.support.tensors import Interface, OldTensor, Tensor


@pytest.fixture(params=[False, True], ids=["separate", "unified"])
def pair(make, request):
    return make(2, unified=request.param)


class Negated(Tensor):
    """Gives the numbers of which it is the negation."""

    def is_neg(self):
        return True


class Elsewhere(Tensor):
    """Is in the memory of a graphics card."""

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **how):
        raise BufferError("it is not in this machine's memory")


def counted(rank, size, dtype="f4"):
    return (np.arange(size) * (rank + 1)).astype(dtype)


COLLECTIVES = {
    "bcast": lambda d, s, r, rank: d.bcast(s if rank == 1 else r[:8], 8, 1),
    "scatter": lambda d, s, r, rank: d.scatter(s, r[:4], root=1),
    "gather": lambda d, s, r, rank: d.gather(s, r if rank else None, root=1),
    "allgather": lambda d, s, r, rank: d.allgather(s, r),
    "reduce": lambda d, s, r, rank: d.reduce(s, r if rank else None, root=1),
    "allreduce": lambda d, s, r, rank: d.allreduce(s, r),
    "reduce_scatter": lambda d, s, r, rank: d.reduce_scatter(s, r[:4]),
    "alltoall": lambda d, s, r, rank: d.alltoall(s, r[:8]),
    "copy": lambda d, s, r, rank: d.copy(s, r, 5),
    "combine": lambda d, s, r, rank: d.combine(5, ACCLReduceFunctions.MAX, s, s, r),
}


FOREIGN = """
with accl(1, 0, library={library!r}, unified=False, job=job) as device:
    for value in (-1, 0x02020202):
        result = np.zeros(5, "i4")
        device.copy(np.full(5, value, "i4"), result)
        assert (result == value).all(), result
print(json.dumps(True))
"""


def test_arrays_reach_memory_of_devices_that_have_their_own(run_ranks, soft, tmp_path):
    # The same library under another name than offchip's, so that it counts as a vendor's.
    ours = Path(package.library_info()["path"]).read_bytes()
    other = tmp_path / "libaccl.so"
    other.write_bytes(ours.replace(b"offchip ", b"foreign "))
    assert run_ranks(1, FOREIGN.format(library=str(other))) == [True]


@pytest.mark.parametrize("name", COLLECTIVES)
def test_calls_do_the_same_as_with_buffers(pair, everywhere, name):
    def body(device, rank):
        seen = []
        for allocate in (device.allocate, np.zeros):
            source, result = allocate((8,), dtype="f4"), allocate((20,), dtype="f4")
            source[:] = counted(rank, 8)
            result[:] = -1
            if allocate is not np.zeros:
                result.sync_to_device()
            COLLECTIVES[name](device, source, result, rank)
            seen.append(np.array(result))
            assert np.array_equal(source, counted(rank, 8))
        assert np.array_equal(*seen)
        return np.any(seen[0] != -1)

    assert any(everywhere(pair, body))


@pytest.mark.parametrize("order", ["rows", "columns", "steps", "backwards", "transposed"])
def test_views_need_not_be_contiguous(pair, everywhere, order):
    views = {
        "rows": lambda a: a[1:3],
        "columns": lambda a: a[:, 2:5],
        "steps": lambda a: a[::2, ::3],
        "backwards": lambda a: a[::-1, ::-1],
        "transposed": lambda a: a.T,
    }

    def body(device, rank):
        whole, target = counted(rank, 48).reshape(4, 12), np.full((4, 12), -1, dtype="f4")
        source, result = views[order](whole), views[order](target)
        device.allreduce(source, result)
        assert np.array_equal(result, views[order](counted(0, 48).reshape(4, 12) * 3))
        assert (target == -1).sum() >= target.size - result.size
        # A part of the result, in its order.
        target[:] = -1
        device.allreduce(source, result, 3)
        flat = result.reshape(-1)
        assert np.array_equal(flat[:3], source.reshape(-1)[:3] / (rank + 1) * 3)
        assert np.all(flat[3:] == -1)

    everywhere(pair, body)


@pytest.mark.parametrize("place", ["device", "host"])
@pytest.mark.parametrize("masked", ["sbuf", "rbuf"])
def test_masked_arrays_are_refused_with_what_to_do(make, place, masked):
    device = make(1)[0]
    operands = {
        what: device.allocate((4,)) if place == "device" else np.zeros(4, "f4")
        for what in ("sbuf", "rbuf")
    }
    for values in operands.values():
        values[:] = [1, 2, 3, 4]
    array = np.ma.masked_greater(operands[masked], 2, copy=False)
    with pytest.raises(TypeError, match=rf"allreduce: {masked} is a masked .*filled.*\.data"):
        device.allreduce(**{**operands, masked: array}, count=4)
    operands["rbuf"][:] = 0
    device.allreduce(**{**operands, masked: array.data}, count=4)
    assert list(operands["rbuf"]) == [1, 2, 3, 4]
    if masked == "sbuf":
        device.allreduce(array.filled(9), operands["rbuf"], 4)
        assert list(operands["rbuf"]) == [1, 2, 9, 9]


def test_operands_may_be_read_only_and_the_same(pair, everywhere):
    def body(device, rank):
        source = counted(rank, 8)
        source.flags.writeable = False
        result = np.zeros(8, dtype="f4")
        device.allreduce(source, result)
        assert np.array_equal(result, counted(2, 8))
        device.allreduce(result, result)
        assert np.array_equal(result, counted(5, 8))
        device.allreduce(np.broadcast_to(np.float32(3), (8,)), result)
        assert np.all(result == 6)
        device.allreduce(result[:0], result)
        assert np.all(result == 6)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        everywhere(pair, body)


def test_buffers_and_arrays_mix(pair, everywhere):
    def body(device, rank):
        source, result = device.allocate((8,)), device.allocate((8,))
        source[:] = counted(rank, 8)
        source.sync_to_device()
        plain = np.zeros(8, dtype="f4")
        device.allreduce(source, plain, from_fpga=True)
        device.allreduce(plain, result, to_fpga=True)
        result.sync_from_device()
        assert np.array_equal(result, counted(5, 8))
        # The result of a calculation is an array like any other.
        device.allreduce(result + 1, plain)
        assert np.array_equal(plain, 2 * counted(5, 8) + 2)

    everywhere(pair, body)


@pytest.mark.parametrize("kind", [Tensor, OldTensor, Interface, memoryview])
def test_arrays_of_other_libraries(pair, everywhere, kind):
    def body(device, rank):
        source, result = counted(rank, 8), np.zeros(8, dtype="f4")
        device.allreduce(kind(source), kind(result))
        assert np.array_equal(result, counted(2, 8))
        device.send(kind(source), 8, 1 - rank)
        device.recv(kind(result), 8, 1 - rank)
        assert np.array_equal(result, counted(1 - rank, 8))
        device.streams.loopback()
        device.copy_to_stream(kind(source))
        device.copy_from_stream(kind(result))
        assert np.array_equal(result, source)
        device.allgatherv(kind(source[1 : rank + 2]), kind(result), [1, 2])
        assert result[:3].tolist() == [1, 2, 4]

    if kind is Tensor and np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip("this NumPy cannot say in DLPack that an array may be written to")
    everywhere(pair, body)


def test_dlpack_elsewhere_or_read_only_is_refused(one):
    plain, frozen = np.zeros(8, dtype="f4"), np.zeros(8, dtype="f4")
    frozen.flags.writeable = False
    with pytest.raises(BufferError, match=r"sbuf, of type Elsewhere, cannot be used as an array"):
        one.allreduce(Elsewhere(plain), plain)
    with pytest.raises(BufferError, match=r"sbuf is a view .* x\.resolve_neg\(\)"):
        one.allreduce(Negated(plain), plain)
    # NumPy may refuse to hand it out at all in the first DLPack.
    with pytest.raises(BufferError, match=r"rbuf.*read-?only"):
        one.allreduce(plain, OldTensor(frozen))
    with pytest.raises(ValueError, match="rbuf is read-only"):
        one.allreduce(plain, frozen)


def test_streams_take_plain_arrays(one):
    source, result = counted(0, 8), np.zeros((2, 4), dtype="f4")
    one.copy_to_stream(source)
    one.copy_from_stream(result.T)
    assert np.array_equal(result.T.reshape(-1), source)
    one.streams.queue()
    one.send(source, 8, 0, 5, stream_flags=ACCLStreamFlags.RES_STREAM)
    assert one.streams.pull(timeout=5) == (5, source.tobytes())
    one.streams.push(source.tobytes())
    # Only the type of an array counts that a stream stands for.
    one.send(np.zeros(8, "f4"), 8, 0, 5, stream_flags=ACCLStreamFlags.OP0_STREAM)
    one.recv(result, 8, 0, 5)
    assert np.array_equal(result.reshape(-1), source)


WAYS = {
    "wait": lambda handle: handle.wait(),
    "result": lambda handle: handle.result(),
    "exception": lambda handle: handle.exception(),
    "await": lambda handle: asyncio.run(awaited(handle)),
    "callback": lambda handle: called_back(handle),
    "test": lambda handle: poll(handle.test),
    "done": lambda handle: poll(handle.done),
    "short waits": lambda handle: poll(lambda: handle.wait(0.001)),
}


async def awaited(handle):
    await handle


def called_back(handle):
    event = threading.Event()
    handle.add_done_callback(lambda _: event.set())
    assert event.wait(10)


def poll(question):
    for _ in range(10_000):
        if question():
            return
        threading.Event().wait(0.001)
    raise AssertionError("it does not end")


@pytest.mark.parametrize("way", WAYS)
def test_handles_bring_the_result(pair, way):
    sender, receiver = pair
    result = np.full((8, 2), -1, dtype="f4")
    with warnings.catch_warnings():
        # There is nothing that stays on the device.
        warnings.simplefilter("error")
        handle = receiver.recv(result[:, 0], 8, 0, run_async=True)
    assert not handle.done()
    assert np.all(result == -1)
    sender.send(counted(4, 8), 8, 1)
    WAYS[way](handle)
    assert np.array_equal(result[:, 0], counted(4, 8))
    assert np.all(result[:, 1] == -1)
    # It is copied once.
    result[:] = 0
    handle.wait()
    assert np.all(result == 0)


def test_operands_are_read_when_the_call_is_made(pair, everywhere):
    def body(device, rank):
        source, middle, result = counted(rank, 8), np.full(8, 7, "f4"), np.zeros(8, "f4")
        first = device.allreduce(source, middle, run_async=True)
        # The chain orders the calls, and `middle` was read before.
        second = device.allreduce(middle, result, run_async=True, waitfor=[first])
        source[:] = -1
        second.wait()
        assert np.all(result == 14)
        first.wait()
        assert np.array_equal(middle, counted(2, 8))
        device.copy(middle, result, waitfor=[first])
        assert np.array_equal(result, middle)

    everywhere(pair, body)


def test_arrays_live_as_long_as_the_call(pair):
    sender, receiver = pair
    for _ in range(20):
        # Neither the handle nor the array has another owner.
        receiver.recv(np.zeros(4096, "f4"), 4096, 0, run_async=True)
        sender.send(np.ones(4096, "f4"), 4096, 1)
    result = np.zeros(4096, "f4")
    handle = receiver.recv(result, 4096, 0, run_async=True)
    sender.send(np.ones(4096, "f4"), 4096, 1, run_async=True).wait()
    handle.wait()
    assert np.all(result == 1)


def test_failed_call_leaves_the_result(one):
    one.set_timeout(30)
    result = np.full(8, 7, "f4")
    with pytest.raises(ACCLError):
        one.recv(result, 8, 0)
    handle = one.recv(result, 8, 0, run_async=True)
    assert handle.exception() is not None
    one.check_return_value_flag = False
    one.recv(result, 8, 0)
    assert one.get_retcode() != 0
    assert np.all(result == 7)


def test_blocks_are_used_again_and_freed(make):
    (device,) = make(1)
    before = device._device.memory_info()["allocated"]
    source = np.ones(1 << 20, "f4")
    for _ in range(50):
        device.copy(source, source)
    once = device._device.memory_info()["allocated"]
    # Two blocks, of which host and device have the same pages, and a little room.
    assert once - before <= 2.5 * source.nbytes
    for size in (1, 100, 1 << 12, 1 << 16, 1 << 18, 1 << 20) * 5:
        device.copy(source[:size], source[:size])
    assert device._device.memory_info()["allocated"] == once
    handle = device.recv(source, 8, 0, run_async=True)
    device.deinit()
    with pytest.raises(ACCLError):
        handle.wait()
    assert np.all(source == 1)


def test_full_device_gives_its_kept_blocks(make):
    (device,) = make(1, memory_bytes=30 << 20)
    source = np.ones(1 << 19, "f4")
    device.copy(source, source)
    free = device._device.memory_info()
    assert free["allocated"] >= 2 * source.nbytes
    # Cannot be had while the blocks of before are kept.
    longer = np.ones(5 << 20 >> 2, "f4")
    device.copy(longer, longer)
    with pytest.raises(MemoryError, match="device memory"):
        device.copy(np.ones(64 << 20 >> 2, "f4"), longer, 1)
    device.copy(source, source)
