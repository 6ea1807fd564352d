# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of NumPy arrays whose elements go in rounds."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import uuid

import numpy as np
import pytest

from accl import ACCLError, ACCLReduceFunctions

ROUND = (128 << 10) // 4  # float32 of a round, where all ranks get the same
WINDOW = 4 * ROUND
ROOT = 1
COLLECTIVES = (
    "bcast",
    "scatter",
    "gather",
    "allgather",
    "alltoall",
    "reduce",
    "allreduce",
    "reduce_scatter",
)


@pytest.fixture(autouse=True)
def only_rounds(monkeypatch):
    monkeypatch.setenv("ACCL_PROCESS_MEMORY", "never")


@functools.cache
def all_numbers(rank: int) -> np.ndarray:
    return np.random.default_rng(rank).integers(-99, 99, 1 << 21).astype("f4")


def numbers(rank: int, size: int) -> np.ndarray:
    return all_numbers(rank)[:size].copy()


def parts_of(name: str, ranks: int) -> tuple[int, int]:
    """Say how many times the count an operation reads and writes at most."""
    reads = ranks if name in ("scatter", "alltoall", "reduce_scatter") else 1
    writes = ranks if name in ("gather", "allgather", "alltoall") else 1
    return reads, writes


def call(device, name, source, result, count, comm=0):
    root = {"root": ROOT} if name in ("scatter", "gather", "reduce") else {}
    getattr(device, name)(source, result, count, comm_id=comm, **root)


def wanted(name: str, rank: int, count: int, ranks: int) -> np.ndarray | None:
    reads, _ = parts_of(name, ranks)
    given = [numbers(r, reads * count).reshape(reads, count) for r in range(ranks)]
    if rank != ROOT and name in ("gather", "reduce"):
        return None
    if name == "scatter":
        return given[ROOT][rank]
    if name in ("gather", "allgather"):
        return np.concatenate([g[0] for g in given])
    if name == "alltoall":
        return np.concatenate([g[rank] for g in given])
    total = np.sum(given, axis=0)
    return total[rank] if name == "reduce_scatter" else total[0]


def run(device, name: str, rank: int, count: int, ranks: int, allocate) -> None:
    if name == "bcast":
        vector = allocate(count)
        vector[:] = numbers(ROOT, count) if rank == ROOT else 0
        device.bcast(vector, count, ROOT)
        np.testing.assert_array_equal(vector, numbers(ROOT, count))
        return

    reads, writes = parts_of(name, ranks)
    source, result = allocate(reads * count), allocate(writes * count)
    source[:], result[:] = numbers(rank, reads * count), 0
    call(device, name, source, result, count)
    want = wanted(name, rank, count, ranks)
    if want is not None:
        np.testing.assert_array_equal(result, want)
    np.testing.assert_array_equal(source, numbers(rank, reads * count))


# With three ranks, rounds are half as long where each rank gets other elements.
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", COLLECTIVES)
def test_sizes_around_a_round_and_the_window(make, everywhere, name, ranks):
    devices = make(ranks)
    half = ROUND // 2
    counts = [half - 1, half, half + 1, ROUND - 1, ROUND, ROUND + 1, 2 * WINDOW + 77]

    def body(device, rank):
        for count in counts:
            run(device, name, rank, count, ranks, lambda n: np.empty(n, "f4"))

    everywhere(devices, body)


@pytest.mark.parametrize("buffers", [{0}, {1}, {0, 2}])
@pytest.mark.parametrize("name", COLLECTIVES)
def test_arrays_of_some_ranks_with_buffers_of_others(make, everywhere, name, buffers):
    devices = make(3)

    def body(device, rank):
        def allocate(n):
            return device.allocate((n,)) if rank in buffers else np.empty(n, "f4")

        for count in (1 << 13, ROUND + 1, WINDOW + 5):
            run(device, name, rank, count, 3, allocate)

    everywhere(devices, body)


@pytest.mark.parametrize("one_is_a_buffer", ["source", "result"])
@pytest.mark.parametrize("name", COLLECTIVES[1:])
def test_an_array_and_a_buffer_in_one_call(make, everywhere, name, one_is_a_buffer):
    devices = make(2)
    reads, writes = parts_of(name, 2)
    count = WINDOW + 5

    def body(device, rank):
        source, result = np.empty(reads * count, "f4"), np.zeros(writes * count, "f4")
        if one_is_a_buffer == "source":
            source = device.allocate((reads * count,))
        else:
            result = device.allocate((writes * count,))
        source[:] = numbers(rank, reads * count)
        call(device, name, source, result, count)
        want = wanted(name, rank, count, 2)
        if want is not None:
            np.testing.assert_array_equal(result, want)

    everywhere(devices, body)


def test_in_place_and_overlapping(make, everywhere):
    devices = make(3)
    count = 2 * WINDOW + 5

    def body(device, rank):
        vector = numbers(rank, count)
        device.allreduce(vector, vector)
        np.testing.assert_array_equal(vector, wanted("allreduce", rank, count, 3))

        shifted = np.append(numbers(rank, count), np.float32(0))
        device.allreduce(shifted[:-1], shifted[1:])
        np.testing.assert_array_equal(shifted[1:], wanted("allreduce", rank, count, 3))

        whole = np.zeros(3 * count, "f4")
        part = whole[rank * count : (rank + 1) * count]
        part[:] = numbers(rank, count)
        device.allgather(part, whole)
        np.testing.assert_array_equal(whole, wanted("allgather", rank, count, 3))

        whole = numbers(rank, 3 * count)
        device.alltoall(whole, whole)
        np.testing.assert_array_equal(whole, wanted("alltoall", rank, count, 3))

        whole = numbers(rank, 3 * count)
        part = whole[rank * count : (rank + 1) * count]
        device.reduce_scatter(whole, part)
        np.testing.assert_array_equal(part, wanted("reduce_scatter", rank, count, 3))

    everywhere(devices, body)


def test_sums_of_rounding_numbers_are_those_of_buffers(make, everywhere):
    devices = make(3, bufsize=4096)
    count = WINDOW + 5

    def body(device, rank):
        source = np.random.default_rng(rank).random(count, "f4")
        for function in ACCLReduceFunctions:
            for wire in (None, np.dtype("f2")):
                buffer, sums = device.allocate((count,)), device.allocate((count,))
                buffer[:] = source
                device.allreduce(buffer, sums, count, function, compress_dtype=wire)
                result = np.zeros(count, "f4")
                device.allreduce(source, result, count, function, compress_dtype=wire)
                assert result.tobytes() == sums.tobytes(), (function, wire)

    everywhere(devices, body)


def test_more_ranks_than_compute_everything(make, everywhere):
    devices = make(6)

    def body(device, rank):
        for name in ("reduce", "allreduce", "reduce_scatter", "allgather"):
            run(device, name, rank, ROUND + 1, 6, lambda n: np.empty(n, "f4"))

    everywhere(devices, body)


def test_parts_of_arrays_and_what_has_to_be_copied(make, everywhere):
    devices = make(2)
    count = WINDOW + 5

    def body(device, rank):
        whole = np.zeros((count, 2), "f4")
        whole[:, 0] = numbers(rank, count)
        result = np.zeros(count + 2, "f4")
        device.allreduce(whole[:, 0], result[1:], count)
        np.testing.assert_array_equal(result[1:-1], wanted("allreduce", rank, count, 2))
        assert result[0] == result[-1] == 0

        # Not at a multiple of its elements' size.
        odd = np.zeros(4 * count + 1, "u1")[1:].view("f4")
        odd[:] = numbers(rank, count)
        device.allreduce(odd, odd)
        np.testing.assert_array_equal(odd, result[1:-1])

        fixed = np.zeros(count, "f4")
        fixed.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            device.allreduce(odd, fixed)

    everywhere(devices, body)


@pytest.mark.parametrize("setting", ["auto", "never"])
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", COLLECTIVES[:5])
def test_long_arrays_are_read_where_they_are(make, everywhere, monkeypatch, name, ranks, setting):
    monkeypatch.setenv("ACCL_PROCESS_MEMORY", setting)
    devices = make(ranks)
    count = (2 << 20) // 4 + 1

    def body(device, rank):
        device.barrier()  # All have tried whether they can.
        run(device, name, rank, count, ranks, lambda n: np.empty(n, "f4"))

        # Elements of another type than the reader's.
        half, whole = np.full(count, rank, "f2"), np.empty(ranks * count, "f4")
        device.allgather(half, whole, count, compress_dtype=np.dtype("f2"))
        assert np.all(whole.reshape(ranks, count) == np.arange(ranks)[:, None])

    everywhere(devices, body)


def test_nobody_reads_an_array_after_its_rank_gave_up(make, everywhere, monkeypatch):
    monkeypatch.setenv("ACCL_PROCESS_MEMORY", "auto")
    devices = make(2)
    everywhere(devices, lambda device, rank: device.barrier())
    devices[0].set_timeout(100)
    given, got = np.ones(2 << 20, "f4"), np.zeros(2 << 20, "f4")
    with pytest.raises(ACCLError, match="did not come"):
        devices[0].bcast(given, given.size, 0)
    with pytest.raises(ACCLError, match="gave up"):
        devices[1].bcast(got, got.size, 0)
    assert not got.any()


def test_two_communicators_in_turns(make, everywhere):
    devices = make(3)
    count = WINDOW + 5

    def body(device, rank):
        pair = device.split_communicator([0, 2]) if rank != 1 else None
        for _ in range(3):
            run(device, "allgather", rank, count, 3, lambda n: np.empty(n, "f4"))
            if pair is not None:
                ours = np.full(count, rank, "f4")
                device.allreduce(ours, ours, comm_id=pair)
                assert np.all(ours == 2)

        if pair is not None:
            device.free_communicator(pair)
        run(device, "bcast", rank, count, 3, lambda n: np.empty(n, "f4"))

    everywhere(devices, body)


def test_root_waits_for_nobody_if_rx_buffers_hold_the_data(make):
    devices = make(2, bufsize=64 << 10)
    count = 32 << 10
    for turn in range(3):
        devices[0].bcast(np.full(count, turn, "f4"), count, 0)
        devices[0].scatter(np.full(2 * count, turn, "f4"), np.empty(count, "f4"), count, 0)
    for turn in range(3):
        got = np.empty(count, "f4")
        devices[1].bcast(got, count, 0)
        assert np.all(got == turn)
        devices[1].scatter(None, got, count, 0)
        assert np.all(got == turn)


def test_a_rank_that_does_not_come_leaves_the_array_alone(make, everywhere):
    devices = make(2)
    devices[0].set_timeout(100)
    given = np.ones(2 * WINDOW, "f4")
    with pytest.raises(ACCLError, match="did not come"):
        devices[0].allreduce(given, given)
    assert np.all(given == 1)

    late = np.full(2 * WINDOW, 2, "f4")
    with pytest.raises(ACCLError, match="gave up"):
        devices[1].allreduce(late, late)
    assert np.all(given == 1)


# More ranks may have too few cores for rounds.
RANKS, LOST = 2, 1
PROGRAM = f"""
import json, os, signal, sys, threading
import numpy as np
from accl import ACCLPeerError, accl

me, job = int(sys.argv[1]), sys.argv[2]
device = accl({RANKS}, me, job=job)
device.set_timeout(60_000)
device.barrier()
source, result = np.full(24 << 20 >> 2, me + 1, "f4"), np.zeros(24 << 20 >> 2, "f4")

def die():
    while not result[0]:
        pass
    os.kill(os.getpid(), signal.SIGKILL)

if me == {LOST}:
    threading.Thread(target=die).start()
told = None
try:
    device.{{operation}}
except ACCLPeerError as error:
    told = str(error)
if me == {LOST}:
    threading.Event().wait()
whole = bool(np.all(result == {{expected}}))
survivors = device.split_communicator([r for r in range({RANKS}) if r != {LOST}])
source[:] = 5
device.allreduce(source, result, comm_id=survivors)
print(json.dumps([told, whole, bool(np.all(result == 5))]))
"""


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("allreduce(source, result)", "3"),
        (
            "allgather(source[: source.size // 2], result)",
            "np.repeat([1, 2], source.size // 2)",
        ),
    ],
)
def test_a_rank_that_dies_between_rounds(operation, expected):
    program = PROGRAM.replace("{operation}", operation).replace("{expected}", expected)
    told = None
    # The rounds may be over when the thread that ends the process is run; then the result is whole.
    while told is None:
        job = uuid.uuid4().hex
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", program, str(rank), job], stdout=subprocess.PIPE, text=True
            )
            for rank in range(RANKS)
        ]
        printed = [process.communicate(timeout=100)[0] for process in processes]
        assert [process.returncode for process in processes] == [0, -9]
        told, whole, right = json.loads(printed[1 - LOST])
        assert told is not None or whole
    assert f"rank {LOST}" in told
    assert right
