# SPDX-License-Identifier: BSD-3-Clause
"""Calls that copy between the host's pages of separate memory and the device's themselves."""

from __future__ import annotations

import numpy as np
import pytest

from accl import ACCLReduceFunctions
from tests.accl.package.test_rounds import COLLECTIVES, ROOT, call, numbers, parts_of, wanted

# In a post, beyond it, beyond rx buffers, and in several pieces of 64 KiB.
COUNTS = (100, 1500, 20_000, 70_000)
OTHER = np.float32(-12345)


def on_device(buffer: np.ndarray) -> np.ndarray:
    """Give the device's elements of a buffer, whose host's pages stay as they are."""
    kept = np.array(buffer)
    buffer[:] = OTHER
    buffer.sync_from_device()
    found = np.array(buffer)
    buffer[:] = kept
    return found


def allocate(device, size: int, value: np.ndarray | float):
    """Allocate a buffer with this value at the host and another one on the device."""
    buffer = device.allocate((size,))
    buffer[:] = OTHER
    buffer.sync_to_device()
    buffer[:] = value
    return buffer


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("name", COLLECTIVES[1:])
def test_host_and_device_have_the_same_afterwards(make, everywhere, name, ranks):
    devices = make(ranks)
    root = ROOT % ranks

    def body(device, rank):
        reads, writes = parts_of(name, ranks)
        for count in COUNTS:
            given = numbers(rank, reads * count)
            source = allocate(device, reads * count + 3, 0)
            source[:-3] = given
            result = allocate(device, writes * count, 0)
            how = {"root": root} if name in ("scatter", "gather", "reduce") else {}
            getattr(device, name)(source[:-3], result, count, **how)
            reads_it = name != "scatter" or rank == root
            np.testing.assert_array_equal(source[:-3], given)
            want = given if reads_it else np.full_like(given, OTHER)
            np.testing.assert_array_equal(on_device(source)[:-3], want)
            assert np.all(on_device(source)[-3:] == OTHER)
            want = wanted(name, rank, count, ranks) if ranks > 1 else given
            if want is None:
                assert np.all(result == 0) and np.all(on_device(result) == OTHER)
            else:
                np.testing.assert_array_equal(result, want)
                np.testing.assert_array_equal(on_device(result), want)

    everywhere(devices, body)


@pytest.mark.parametrize("count", COUNTS)
def test_a_broadcast(make, everywhere, count):
    devices = make(3)

    def body(device, rank):
        vector = allocate(device, count, numbers(rank, count))
        device.bcast(vector, root=ROOT)
        np.testing.assert_array_equal(vector, numbers(ROOT, count))
        np.testing.assert_array_equal(on_device(vector), numbers(ROOT, count))
        # A part: the whole buffer is copied, as the original does.
        vector = allocate(device, count, numbers(rank, count))
        device.bcast(vector, count // 2, ROOT)
        want = np.full(count, OTHER)
        want[: count // 2] = numbers(ROOT, count // 2)
        if rank == ROOT:
            want = numbers(ROOT, count)
        np.testing.assert_array_equal(vector, want)

    everywhere(devices, body)


@pytest.mark.parametrize("count", [*COUNTS, 400_000])
def test_messages(make, everywhere, count):
    devices = make(2)

    def body(device, rank):
        given = allocate(device, count, numbers(rank, count))
        taken = allocate(device, count + 1, 0)[:-1]
        if rank == 0:
            device.send(given, count, 1)
            device.recv(taken, count, 1)
        else:
            device.recv(taken, count, 0)
            device.send(given, count, 0)
        for buffer, want in ((given, numbers(rank, count)), (taken, numbers(1 - rank, count))):
            np.testing.assert_array_equal(buffer, want)
            np.testing.assert_array_equal(on_device(buffer), want)

    everywhere(devices, body)


@pytest.mark.parametrize("count", COUNTS)
def test_only_what_is_asked_for_is_copied(make, everywhere, count):
    devices = make(2)
    total = numbers(0, count) + numbers(1, count)

    def body(device, rank):
        source, result = allocate(device, count, numbers(rank, count)), allocate(device, count, 5)
        device.allreduce(source, result, to_fpga=True)
        assert np.all(result == 5)
        np.testing.assert_array_equal(on_device(result), total)

        source[:] = 1
        device.allreduce(source, result, from_fpga=True)
        np.testing.assert_array_equal(result, total)
        np.testing.assert_array_equal(on_device(source), numbers(rank, count))
        assert np.all(source == 1)

        device.allreduce(source, source, from_fpga=True, to_fpga=True)
        assert np.all(source == 1)
        np.testing.assert_array_equal(on_device(source), total)

    everywhere(devices, body)


def test_in_place_and_overlapping(make, everywhere):
    devices = make(3)
    count = 70_000

    def body(device, rank):
        vector = allocate(device, count, numbers(rank, count))
        device.allreduce(vector, vector)
        want = wanted("allreduce", rank, count, 3)
        np.testing.assert_array_equal(vector, want)
        np.testing.assert_array_equal(on_device(vector), want)

        shifted = allocate(device, count + 1, 0)
        shifted[:-1] = numbers(rank, count)
        device.allreduce(shifted[:-1], shifted[1:])
        np.testing.assert_array_equal(shifted[1:], want)
        assert shifted[0] == numbers(rank, 1)[0]
        np.testing.assert_array_equal(on_device(shifted), shifted)

        whole = allocate(device, 3 * count, 0)
        part = whole[rank * count : (rank + 1) * count]
        part[:] = numbers(rank, count)
        device.allgather(part, whole)
        np.testing.assert_array_equal(whole, wanted("allgather", rank, count, 3))
        np.testing.assert_array_equal(on_device(whole), whole)

        whole = allocate(device, 3 * count, numbers(rank, 3 * count))
        device.alltoall(whole, whole)
        np.testing.assert_array_equal(whole, wanted("alltoall", rank, count, 3))
        np.testing.assert_array_equal(on_device(whole), whole)

        whole = allocate(device, 3 * count, numbers(rank, 3 * count))
        part = whole[rank * count : (rank + 1) * count]
        device.reduce_scatter(whole, part)
        np.testing.assert_array_equal(part, wanted("reduce_scatter", rank, count, 3))
        np.testing.assert_array_equal(on_device(part), part)

    everywhere(devices, body)


@pytest.mark.parametrize("memory", ["never", "auto"])
@pytest.mark.parametrize("name", COLLECTIVES[1:])
def test_beside_arrays(make, everywhere, monkeypatch, memory, name):
    monkeypatch.setenv("ACCL_PROCESS_MEMORY", memory)
    devices = make(2)
    reads, writes = parts_of(name, 2)
    count = 40_000

    def body(device, rank):
        # An array here and a buffer there, in one call and of different ranks.
        for arrays in ({0, 1}, {2, 3}, {0, 3}, {0}, {3}):
            places = (rank * 2, rank * 2 + 1)
            source, result = (
                np.zeros(size, "f4") if place in arrays else allocate(device, size, 0)
                for place, size in zip(places, (reads * count, writes * count), strict=True)
            )
            source[:] = numbers(rank, reads * count)
            call(device, name, source, result, count)
            want = wanted(name, rank, count, 2)
            if want is not None:
                np.testing.assert_array_equal(result, want)
                if places[1] not in arrays:
                    np.testing.assert_array_equal(on_device(result), want)
            if places[0] not in arrays and (name != "scatter" or rank == ROOT):
                np.testing.assert_array_equal(on_device(source), source)

    everywhere(devices, body)


@pytest.mark.parametrize("memory", ["never", "auto"])
def test_a_broadcast_of_an_array_to_buffers(make, everywhere, monkeypatch, memory):
    monkeypatch.setenv("ACCL_PROCESS_MEMORY", memory)
    # More than rx buffers hold, so that it goes in rounds or is read.
    devices = make(2, bufsize=1024)
    count = 70_000

    def body(device, rank):
        vector = np.array(numbers(ROOT, count)) if rank == ROOT else allocate(device, count, 0)
        device.bcast(vector, root=ROOT)
        np.testing.assert_array_equal(vector, numbers(ROOT, count))
        if rank != ROOT:
            np.testing.assert_array_equal(on_device(vector), numbers(ROOT, count))

    everywhere(devices, body)


def test_sums_of_rounding_numbers_are_those_of_unified_memory(make, everywhere):
    count = 70_000
    sums = {}
    for unified in (True, False):
        devices = make(3, bufsize=4096, unified=unified)

        def body(device, rank, unified=unified):
            source = device.allocate((count,))
            source[:] = np.random.default_rng(rank).random(count, "f4")
            for function in ACCLReduceFunctions:
                for wire in (None, np.dtype("f2")):
                    for name in ("allreduce", "reduce", "reduce_scatter"):
                        result = device.allocate((count,))
                        result[:] = 0
                        part = count // 3 if name == "reduce_scatter" else count
                        getattr(device, name)(
                            source, result, part, func=function, compress_dtype=wire
                        )
                        got = result.tobytes()
                        assert sums.setdefault((rank, function, wire, name), got) == got

        everywhere(devices, body)


def test_a_result_of_another_type(make, everywhere):
    devices = make(2)
    count = 40_000

    def body(device, rank):
        source = device.allocate((count,))
        source[:] = numbers(rank, count)
        halves = device.allocate((2 * count,), dtype="f2")
        device.allgather(source, halves)
        want = np.concatenate([numbers(r, count) for r in range(2)]).astype("f2")
        np.testing.assert_array_equal(halves, want)
        halves.sync_from_device()
        np.testing.assert_array_equal(halves, want)

    everywhere(devices, body)
