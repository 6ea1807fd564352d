# SPDX-License-Identifier: BSD-3-Clause
"""Calls with a count for each rank, and sendrecv."""

from __future__ import annotations

import numpy as np
import pytest

from accl import ACCLError

COUNTS = {"even": [3, 3, 3], "uneven": [1, 0, 7], "large": [9000, 5, 4096], "none": [0, 0, 0]}
GAP = 2


def data(rank, count, dtype):
    return (np.arange(count) * 3 + rank * 100).astype(dtype)


def places(counts, displaced):
    """Give where parts begin: one after the other, or backwards with gaps."""
    if not displaced:
        return None, [sum(counts[:rank]) for rank in range(len(counts))], sum(counts)
    starts = [sum(counts[rank + 1 :]) + GAP * (len(counts) - rank) for rank in range(len(counts))]
    return starts, starts, sum(counts) + GAP * (len(counts) + 1)


@pytest.fixture(params=[False, True], ids=["buffers", "arrays"])
def empty(request):
    """Make arrays, with device memory or without."""
    return lambda device, n, dtype: (
        np.full(n, 77, dtype) if request.param else fill(device.allocate((n,), dtype=dtype))
    )


def fill(buffer):
    buffer[:] = 77
    buffer.sync_to_device()
    return buffer


@pytest.mark.parametrize("displaced", [False, True], ids=["", "displaced"])
@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS.keys())
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_parts_of_different_sizes(make, everywhere, empty, counts, dtype, displaced):
    displs, starts, size = places(counts, displaced)
    gathered = np.full(size, 77, dtype)
    for rank, (start, count) in enumerate(zip(starts, counts, strict=True)):
        gathered[start : start + count] = data(rank, count, dtype)

    def body(device, rank):
        own, whole = empty(device, counts[rank], dtype), empty(device, size, dtype)
        own[:] = data(rank, counts[rank], dtype)
        device.allgatherv(own, whole, counts, displs)
        assert np.array_equal(whole, gathered)

        for root in range(3):
            at_root = rank == root
            whole[:] = 77
            device.gatherv(own, *((whole, counts, displs) if at_root else (None,)), root=root)
            assert np.array_equal(whole, gathered if at_root else np.full(size, 77, dtype))

            mine = empty(device, counts[rank], dtype)
            arguments = (counts, displs) if at_root else ()
            whole[:] = gathered
            device.scatterv(whole if at_root else None, mine, *arguments, root=root)
            assert np.array_equal(mine, own)

    everywhere(make(3), body)


def test_parts_in_place_and_other_messages(make, everywhere):
    counts = [4, 2, 9]

    def body(device, rank):
        # A message of the user's that is not received yet is not taken for a part.
        device.send(device.allocate((1,)), 1, (rank + 1) % 3, 5)
        whole = device.allocate((15,))
        start = sum(counts[:rank])
        own = whole[start : start + counts[rank]]
        own[:] = rank
        device.allgatherv(own, whole, np.array(counts))
        assert np.array_equal(whole, np.repeat([0, 1, 2], counts))
        device.recv(device.allocate((1,)), 1, (rank - 1) % 3, 5)

    everywhere(make(3), body)


@pytest.mark.parametrize("count", [0, 10, 100_000])
def test_sendrecv_in_a_ring(make, everywhere, count):
    def body(device, rank):
        source, result = device.allocate((count,)), device.allocate((count,))
        source[:] = rank
        for step in (1, 2):
            device.sendrecv(source, (rank + step) % 3, result, (rank - step) % 3, 7, 7)
            assert np.all(result == (rank - step) % 3)

    everywhere(make(3), body)


def test_sendrecv_of_compressed_data(make, everywhere):
    def body(device, rank):
        source, result = device.allocate((100,)), device.allocate((100,))
        source[:] = 1 / 3
        device.sendrecv(source, 1 - rank, result, 1 - rank, compress_dtype=np.float16)
        assert np.all(result == np.float16(1 / 3))

    everywhere(make(2), body)


def test_twins_are_freed(make, everywhere):
    def body(device, rank):
        comm = device.split_communicator([0, 1])
        buffer = device.allocate((2,))
        device.allgatherv(device.allocate((1,)), buffer, [1, 1], comm_id=comm)
        device.free_communicator(comm)
        assert [made.freed for made in device.communicators] == [False, True, True]
        with pytest.raises(ValueError, match="communicator 1 was freed"):
            device.gatherv(buffer, None, root=1, comm_id=comm)

    everywhere(make(2), body)


@pytest.mark.parametrize(
    ("counts", "displs", "text"),
    [
        ([1], None, "counts must be 2 numbers"),
        (None, None, "counts must be 2 numbers"),
        ([1, -1], None, "not negative"),
        ([1, 1], [0], "displs must be 2 numbers"),
        ([1, 4], None, "has 4 elements, but 5 are required"),
        ([1, 1], [0, 4], "has 4 elements, but 5 are required"),
        ([2, 2], [0, 1], "parts in rbuf overlap"),
        ([2, 1], None, r"sbuf has 1 elements, and counts\[0\] is 2"),
    ],
)
def test_wrong_counts_are_refused(make, counts, displs, text):
    device = make(2)[0]
    own, whole = device.allocate((1,)), device.allocate((4,))
    with pytest.raises(ValueError, match=text):
        device.gatherv(own, whole, counts, displs)
    with pytest.raises(ValueError, match=text):
        device.allgatherv(own, whole, counts, displs)


def test_wrong_arguments_are_refused(make):
    device = make(2)[0]
    one = device.allocate((4,))
    with pytest.raises(ValueError, match="must not overlap"):
        device.sendrecv(one[:2], 1, one[1:3], 1)
    with pytest.raises(ValueError, match="root is 2"):
        device.gatherv(one, one, [1, 1], root=2)
    with pytest.raises(ValueError, match="rbuf is missing"):
        device.gatherv(one, None, [1, 1])
    with pytest.raises(ValueError, match="no communicator 9"):
        device.scatterv(one, one, [1, 1], comm_id=9)
    with pytest.raises(ValueError, match="has gaps"):
        device.scatterv(np.zeros(8)[::2], one, [1, 1])
    with pytest.raises(ValueError, match="overlaps the part of another rank"):
        device.allgatherv(one[2:4], one, [2, 2])


def test_rank_with_another_count_is_told(make, everywhere):
    def body(device, rank):
        own = device.allocate((2 + rank,))
        if rank:
            device.gatherv(own, None)
        else:
            with pytest.raises(ACCLError, match="DMA_SIZE_ERROR"):
                device.gatherv(own, device.allocate((4,)), [2, 2])

    everywhere(make(2), body)


def test_parts_go_past_rx_buffers_that_others_fill(make, everywhere, empty):
    ranks, count = 5, 200

    def body(device, rank):
        own = empty(device, count, "float32")
        own[:] = rank
        whole = empty(device, ranks * count, "float32")
        for root in range(ranks):
            device.gatherv(own, whole, [count] * ranks, root=root)
            if rank == root:
                assert np.array_equal(whole, np.repeat(np.arange(ranks), count))
        device.allgatherv(own, whole, [count] * ranks)
        assert np.array_equal(whole, np.repeat(np.arange(ranks), count))

    everywhere(make(ranks, nbufs=1, bufsize=1024), body)


@pytest.mark.parametrize("process_memory", ["auto", "never"])
@pytest.mark.parametrize("waited_for", [True, False], ids=["waited for", "moved later"])
def test_a_message_goes_past_rx_buffers_that_another_rank_fills(
    make, monkeypatch, empty, waited_for, process_memory
):
    monkeypatch.setenv("ACCL_PROCESS_MEMORY", process_memory)
    receiver, late, early = devices = make(3, nbufs=2, bufsize=1024)
    sent = []
    for device, value in ((early, 1), (early, 2), (late, 3)):
        sent.append(empty(device, 200, "float32"))
        sent[-1][:] = value
        device.set_timeout(10_000)
    got = empty(receiver, 200, "float32")
    receiver.set_timeout(10_000)

    def receive(source, value):
        receiver.recv(got, None, devices.index(source))
        assert np.all(got == value)

    early.send(sent[0], None, 0)
    early.send(sent[1], None, 0)
    handle = late.send(sent[2], None, 0, run_async=True)
    assert not handle.wait(0.05)
    if waited_for:
        receive(late, 3)
        receive(early, 1)
    else:
        receive(early, 1)
        assert handle.wait(10)
        receive(late, 3)
    handle.wait()
    receive(early, 2)
