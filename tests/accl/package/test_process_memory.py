# SPDX-License-Identifier: BSD-3-Clause
"""NumPy arrays that ranks read in each other's processes, and what if the system forbids it."""

from __future__ import annotations

import subprocess
import sys
import uuid

import numpy as np
import pytest

from accl import ACCLError

# Messages of one and of several rx buffers, of which the system reads the last ones.
COUNTS = (1, 1 << 10, 5 << 10, (1 << 18) + 1)


def numbers(rank: int, count: int) -> np.ndarray:
    return (np.arange(count) % 1000 + rank).astype("f4")


@pytest.mark.parametrize("setting", ["auto", "never"])
def test_messages_of_arrays(make, everywhere, monkeypatch, setting):
    monkeypatch.setenv("ACCL_PROCESS_MEMORY", setting)
    devices = make(2, bufsize=8 << 10)

    def body(device, rank):
        device.barrier()
        for count in COUNTS:
            for peer in (1 - rank, rank):
                got = np.zeros(count + 1, "f4")
                sent = device.allocate((count,))
                sent[:] = numbers(rank, count)
                for given in (numbers(rank, count), sent):
                    handle = device.recv(got, count, peer, 5, run_async=True)
                    device.send(given, count, peer, 5)
                    handle.wait()
                    np.testing.assert_array_equal(got[:-1], numbers(peer, count))
                    assert got[-1] == 0

    everywhere(devices, body)


@pytest.mark.parametrize("wire", ["f4", "f2"])
def test_messages_of_arrays_are_rounded_on_the_way(make, everywhere, wire):
    devices = make(2, bufsize=8 << 10)
    count = 1 << 16
    given = np.linspace(0, 1, count, dtype="f4")

    def body(device, rank):
        device.barrier()
        got = np.zeros(count, "f4")
        handle = device.recv(got, count, 1 - rank, run_async=True, compress_dtype=np.dtype(wire))
        device.send(given, count, 1 - rank, compress_dtype=np.dtype(wire))
        handle.wait()
        np.testing.assert_array_equal(got, given.astype(wire).astype("f4"))

    everywhere(devices, body)


def test_an_array_that_was_sent_in_vain_is_left_alone(make, everywhere):
    devices = make(2, bufsize=4 << 10)
    everywhere(devices, lambda device, rank: device.barrier())
    devices[0].set_timeout(100)
    with pytest.raises(ACCLError, match="it was not received"):
        devices[0].send(np.ones(1 << 20, "f4"), 1 << 20, 1, 1)
    devices[1].set_timeout(100)
    got = np.zeros(1 << 20, "f4")
    with pytest.raises(ACCLError, match="no message"):
        devices[1].recv(got, got.size, 0, 1)
    assert not got.any()


PROGRAM = """
import os, sys
import numpy as np
sys.path.insert(0, sys.argv[3])
import seccomp
from accl import accl

rank, job, denied = int(sys.argv[1]), sys.argv[2], int(sys.argv[4])
device = accl(2, rank, job=job, bufsize=4096)
device.set_timeout(20_000)
count = 1 << 18
device.barrier()
for turn in range(4):
    if turn == 1 and rank == denied:
        seccomp.deny_process_vm()
    given, got = np.full(count, 10 * turn + rank, "f4"), np.zeros(count, "f4")
    # The second one is received first, so that the other is set aside meanwhile.
    device.barrier()
    if rank == 0:
        first = device.send(given, count, 1, 1, run_async=turn % 2)
        device.send(given + 100, count, 1, 2)
        device.recv(got, count, 1, 3)
        assert np.all(got == 10 * turn + 1), got
    else:
        if turn % 2:
            late = np.zeros(count, "f4")
            handle = device.recv(late, count, 0, 1, run_async=True)
            handle.wait()
        else:
            device.recv(got, count, 0, 1)
            assert np.all(got == 10 * turn), got
        device.recv(got, count, 0, 2)
        assert np.all(got == 10 * turn + 100), got
        device.send(given, count, 0, 3)
device.deinit()
print("done")
"""


@pytest.mark.parametrize("denied", [0, 1])
def test_messages_go_on_when_the_system_forbids_it_in_between(root, denied):
    words = [uuid.uuid4().hex, str(root / "tests" / "support"), str(denied)]
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(rank), *words], stdout=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    assert [rank.communicate(timeout=100)[0] for rank in ranks] == ["done\n", "done\n"]


COLLECTIVE = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[3])
import seccomp
from accl import accl

RANKS = 3
rank, job, name, denied = int(sys.argv[1]), sys.argv[2], sys.argv[4], int(sys.argv[5])  # RANKS: all
device = accl(RANKS, rank, job=job, bufsize=4096)
device.set_timeout(20_000)
count = 1 << 17
for turn in range(4):
    device.barrier()
    if turn == 1 and denied in (rank, RANKS):
        seccomp.deny_process_vm()
    given = (np.arange(RANKS * count) + 1000 * rank + turn).astype("f4")
    roots = [(np.arange(RANKS * count) + 1000 * r + turn).astype("f4") for r in range(RANKS)]
    got = np.zeros(RANKS * count, "f4")
    if name == "bcast":
        device.bcast(given, count, 1)
        got, want = given[:count], roots[1][:count]
    elif name == "scatter":
        device.scatter(given, got, count, 1)
        got, want = got[:count], roots[1][rank * count : (rank + 1) * count]
    elif name == "alltoall":
        device.alltoall(given, got, count)
        want = np.concatenate([r[rank * count : (rank + 1) * count] for r in roots])
    else:
        getattr(device, name)(given, got, count, **({"root": 1} if name == "gather" else {}))
        want = np.concatenate([r[:count] for r in roots])
    if name != "gather" or rank == 1:
        np.testing.assert_array_equal(got, want)
device.deinit()
print("done")
"""


@pytest.mark.parametrize(
    ("name", "denied"),
    [("bcast", 2), ("scatter", 3), ("gather", 1), ("allgather", 3), ("alltoall", 2)],
)
def test_collectives_go_on_when_the_system_forbids_it_in_between(root, name, denied):
    words = [uuid.uuid4().hex, str(root / "tests" / "support"), name, str(denied)]
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", COLLECTIVE, str(rank), *words], stdout=subprocess.PIPE, text=True
        )
        for rank in range(3)
    ]
    assert [rank.communicate(timeout=100)[0] for rank in ranks] == ["done\n"] * 3
