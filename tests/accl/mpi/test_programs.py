# SPDX-License-Identifier: BSD-3-Clause
"""Random programs end and give what NumPy gives, and a deadlock is seen.

``OFFCHIP_FULL=1`` runs 1,000 programs a number of ranks, ``OFFCHIP_SEED`` others.
"""

from __future__ import annotations

import os

import pytest

from tests.accl.mpi.interleaved import ANY, Call, Step, expect
from tests.support.full import FULL

SEED = int(os.environ.get("OFFCHIP_SEED", "1"))
NUMBER = 1000 if FULL else 8
RANKS = (1, 2, 3, 4, 5, 8) if FULL else (2, 3, 5)
LIMIT = 7000.0 if FULL else 280.0


@pytest.mark.timeout(7200 if FULL else 300)
@pytest.mark.parametrize("ranks", RANKS)
def test_random_programs_end_with_right_results(run_ranks, ranks):
    first = str(SEED * 1_000_000)
    answer = run_ranks(ranks, "run_programs", first, str(NUMBER), limit=LIMIT)
    assert answer == {"programs": NUMBER, "failures": []}


@pytest.mark.timeout(7200 if FULL else 300)
def test_random_programs_by_packets(run_ranks):
    first = str(SEED * 2_000_000)
    number = str(NUMBER // 2)
    transport = {"ACCL_TRANSPORT": "packets"}
    answer = run_ranks(3, "run_programs", first, number, limit=LIMIT, **transport)
    assert answer == {"programs": NUMBER // 2, "failures": []}


@pytest.mark.parametrize("transport", ["shared", "packets"])
def test_planted_deadlock_is_seen(run_ranks, transport):
    program = ("run_programs", "5", "1", "--plant", "--timeout", "1500")
    answer = run_ranks(2, *program, ACCL_TRANSPORT=transport)
    assert any("deadlock in step 6 (lonely)" in failure for failure in answer["failures"])
    assert any("RECEIVE_TIMEOUT_ERROR" in failure for failure in answer["failures"])


@pytest.mark.timeout(7200 if FULL else 300)
@pytest.mark.parametrize("ranks", [2, 3, 5] if FULL else [2, 3])
def test_interleaved_programs_end_as_the_model_says(run_ranks, ranks):
    number = 1000 if FULL else 25
    answer = run_ranks(ranks, "run_interleaved", str(SEED * 1000), str(number), limit=LIMIT)
    assert answer == {"programs": number, "failures": []}


def test_interleaved_programs_that_deadlock_are_seen(run_ranks):
    program = ("run_interleaved", str(SEED * 1000), "3", "--deadlocks", "--timeout", "700")
    assert run_ranks(2, *program) == {"programs": 3, "failures": []}


def message(kind, what="call", comm=0, tag=ANY, large=True, number=0):
    return Step(what, Call(kind, comm, number, 1, tag, large))


def both(make):
    """Make the program of two ranks that do the same."""
    program = [[make(), []], [make(), []]]
    for steps in program[1]:
        for step in steps:
            step.call.other = 0
    return program


def received_before_sent():
    receive = message("recv", "start")
    return [receive, message("send"), Step("wait", receive.call)]


def received_and_waited_for():
    return [message("recv"), message("send")]


def received_beside_a_collective():
    receive = message("recv", "start")
    collective = Step("call", Call("allreduce", 1, 5))
    return [receive, collective, message("send"), Step("wait", receive.call)]


def received_before_a_barrier():
    receive = message("recv", "start")
    barrier = Step("call", Call("barrier", 0, 5))
    return [receive, barrier, message("send"), Step("wait", receive.call)]


def tags_in_another_order():
    receives = [message("recv", "start", tag=tag, number=tag) for tag in (1, 2)]
    sends = [message("send", "start", tag=tag, number=tag) for tag in (2, 1)]
    return receives + sends + [Step("wait", step.call) for step in sends + receives]


@pytest.mark.parametrize(
    ("make", "ends"),
    [
        (received_before_sent, True),
        (received_and_waited_for, False),
        (received_beside_a_collective, True),
        (received_before_a_barrier, False),
        (tags_in_another_order, True),
    ],
)
def test_model_knows_which_programs_end(make, ends):
    assert (expect(both(make)) is not None) == ends
