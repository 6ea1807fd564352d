# SPDX-License-Identifier: BSD-3-Clause
"""Ends of calls while another rank is alive and makes no call."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import accl as package
from accl import ACCLReduceFunctions, accl
from accl._streams import Streams
from tests.support.waits import check_table_of_waits

pytestmark = [
    pytest.mark.usefixtures("soft"),
    pytest.mark.filterwarnings("ignore:ACCL. async run returns data:UserWarning"),
]

SMALL, LARGE = 4, 1 << 18
Call = Callable[[accl, Callable[[int], Any], int], object]

# Named as in the error: a message of rank 1, or that rank in a collective.
MESSAGE = r"message from rank 1 of communicator {comm}\b"
# Those with counts have a communicator of their own for their messages.
PART = r"message from rank 1 of communicator \d+\b"
RANK = r"rank 1 did not make communicator {comm}\b|on communicator {comm}\b.*: rank 1 did not come"
RECEIVER = r"to rank 1 of communicator {comm}\b.* was not received"
LATE: dict[str, tuple[str, Call]] = {
    "send of much": (RECEIVER, lambda a, new, c: a.send(new(LARGE), LARGE, 1, 5, comm_id=c)),
    "recv": (MESSAGE, lambda a, new, c: a.recv(new(SMALL), SMALL, 1, 5, comm_id=c)),
    "sendrecv": (MESSAGE, lambda a, new, c: a.sendrecv(new(SMALL), 1, new(SMALL), 1, comm_id=c)),
    "bcast": (RANK, lambda a, new, c: a.bcast(new(SMALL), SMALL, 1, comm_id=c)),
    "bcast of much": (RANK, lambda a, new, c: a.bcast(new(LARGE), LARGE, 0, comm_id=c)),
    "scatter": (RANK, lambda a, new, c: a.scatter(new(8), new(SMALL), SMALL, 1, comm_id=c)),
    "scatter of much": (
        RANK,
        lambda a, new, c: a.scatter(new(2 * LARGE), new(LARGE), LARGE, 0, comm_id=c),
    ),
    "gather": (RANK, lambda a, new, c: a.gather(new(SMALL), new(8), SMALL, 0, comm_id=c)),
    "gather of much": (
        RANK,
        lambda a, new, c: a.gather(new(LARGE), new(2 * LARGE), LARGE, 1, comm_id=c),
    ),
    "reduce": (RANK, lambda a, new, c: a.reduce(new(SMALL), new(SMALL), SMALL, 0, comm_id=c)),
    "reduce of much": (
        RANK,
        lambda a, new, c: a.reduce(new(LARGE), new(LARGE), LARGE, 1, comm_id=c),
    ),
    "allgather": (RANK, lambda a, new, c: a.allgather(new(SMALL), new(8), SMALL, comm_id=c)),
    "allreduce": (RANK, lambda a, new, c: a.allreduce(new(SMALL), new(SMALL), SMALL, comm_id=c)),
    "allreduce of much": (
        RANK,
        lambda a, new, c: a.allreduce(new(LARGE), new(LARGE), LARGE, comm_id=c),
    ),
    "reduce_scatter": (
        RANK,
        lambda a, new, c: a.reduce_scatter(new(8), new(SMALL), SMALL, comm_id=c),
    ),
    "alltoall": (RANK, lambda a, new, c: a.alltoall(new(8), new(8), SMALL, comm_id=c)),
    "barrier": (RANK, lambda a, new, c: a.barrier(comm_id=c)),
    "gatherv": (PART, lambda a, new, c: a.gatherv(new(4), new(8), [4, 4], comm_id=c)),
    "scatterv": (PART, lambda a, new, c: a.scatterv(new(8), new(4), [4, 4], root=1, comm_id=c)),
    "allgatherv": (PART, lambda a, new, c: a.allgatherv(new(4), new(8), [4, 4], comm_id=c)),
    "handle.wait": (
        RANK,
        lambda a, new, c: a.allreduce(new(4), new(4), 4, comm_id=c, run_async=True).wait(),
    ),
    "handle.result": (
        MESSAGE,
        lambda a, new, c: a.recv(new(4), 4, 1, 7, comm_id=c, run_async=True).result(),
    ),
    "waitfor": (
        MESSAGE,
        lambda a, new, c: a.copy(
            new(4), new(4), 4, waitfor=[a.recv(new(4), 4, 1, 7, comm_id=c, run_async=True)]
        ),
    ),
}

AT_ONCE: dict[str, Call] = {
    "send": lambda a, new, c: a.send(new(SMALL), SMALL, 1, 5, comm_id=c),
    "root of bcast": lambda a, new, c: a.bcast(new(SMALL), SMALL, 0, comm_id=c),
    "root of scatter": lambda a, new, c: a.scatter(new(8), new(4), 4, 0, comm_id=c),
    "member of gather": lambda a, new, c: a.gather(new(4), new(8), 4, 1, comm_id=c),
    "member of reduce": lambda a, new, c: a.reduce(new(4), new(4), 4, 1, comm_id=c),
    "stream_put": lambda a, new, c: a.stream_put(new(4), 4, 1, 9, comm_id=c),
    "copy": lambda a, new, c: a.copy(new(4), new(4), 4),
    "combine": lambda a, new, c: a.combine(4, ACCLReduceFunctions.SUM, new(4), new(4), new(4)),
    "nop": lambda a, new, c: a.nop(),
    "communicators": lambda a, new, c: a.free_communicator(a.split_communicator([0, 1])),
    "submission": lambda a, new, c: a.recv(new(4), 4, 1, 8, comm_id=c, run_async=True).done(),
    "dumps": lambda a, new, c: (a.dump_waits(), a.dump_rx_buffers(), a.dump_communicator()),
    "pull": lambda a, new, c: a.streams.pull(0),
}


@pytest.fixture
def first(job: str) -> Iterator[accl]:
    """Rank 0, which has met a rank 1 that makes no call from then on."""
    with accl(2, 0, job=job) as mine, accl(2, 1, job=job) as other:
        thread = threading.Thread(target=other.barrier)
        thread.start()
        mine.barrier()
        thread.join()
        mine.set_timeout(60)
        yield mine


def allocator(device: accl) -> Callable[[int], Any]:
    return lambda count: device.allocate((count,), np.float32)


@pytest.mark.parametrize("shared", [True, False], ids=["both made it", "one made it"])
@pytest.mark.parametrize(("cause", "call"), LATE.values(), ids=LATE)
def test_what_must_wait_says_for_whom(first: accl, cause: str, call: Call, shared: bool) -> None:
    comm = 0 if shared else first.split_communicator([0, 1])
    with pytest.raises(TimeoutError, match=r"(in|of) 60 ms") as caught:
        call(first, allocator(first), comm)
    assert re.search(cause.format(comm=comm), str(caught.value)), caught.value


@pytest.mark.parametrize("call", AT_ONCE.values(), ids=AT_ONCE)
def test_what_does_not_depend_on_a_rank_does_not_wait_for_it(first: accl, call: Call) -> None:
    first.set_timeout(1_000_000)
    comm = first.split_communicator([0, 1])
    started = time.monotonic()
    call(first, allocator(first), comm)
    assert time.monotonic() - started < 1


def test_waits_for_handles_have_limits_of_their_own(first: accl) -> None:
    first.set_timeout(1_000_000)
    handle = first.recv(allocator(first)(4), 4, 1, 7, run_async=True)
    assert not handle.wait(0.01)
    with pytest.raises(TimeoutError, match=r"recv: did not finish within 0\.01 s"):
        handle.result(0.01)
    started = time.monotonic()
    first.deinit()
    assert time.monotonic() - started < 5


def test_the_table_of_waits_has_every_public_call() -> None:
    check_table_of_waits(package, package.__all__, Streams)
