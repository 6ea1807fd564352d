# SPDX-License-Identifier: BSD-3-Clause
"""Receives that name no rank take the message of each rank that sends one."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest

from accl import ACCLClosedError, ACCLPeerError

# Inline, in rx buffers, and more than all of these hold.
SIZES = [3, 10_000, 1_000_000]


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("ranks", [2, 4])
def test_each_message_is_received_once_and_says_its_sender(make_groups, in_threads, ranks, count):
    import torch

    groups = make_groups(ranks)

    def body(rank):
        if rank:
            for turn in range(3):
                groups[rank].send([torch.full((count,), float(rank * 10 + turn))], 0, 7).wait()
            return None
        seen = []
        for _ in range(3 * (ranks - 1)):
            got = torch.zeros(count, 2)[:, 0]
            work = groups[0].recv_anysource([got], 7)
            work.wait()
            assert work._source_rank() == got[0] // 10 and bool((got == got[0]).all())
            seen.append(int(got[0]))
        return seen

    seen = in_threads(ranks, body)[0]
    assert sorted(seen) == [rank * 10 + turn for rank in range(1, ranks) for turn in range(3)]
    for rank in range(1, ranks):
        turns = [number for number in seen if number // 10 == rank]
        assert turns == sorted(turns)


def test_ranks_that_wait_are_served_in_turn(make_groups):
    import torch

    groups = make_groups(4)
    for rank in (1, 2, 3, 1, 2, 3):
        groups[rank].send([torch.full((3,), float(rank))], 0).wait()
    got = torch.zeros(3)
    works = [groups[0].recv_anysource([got]) for _ in range(6)]
    assert [work.source_rank() for work in works] == [1, 2, 3, 1, 2, 3]
    assert groups[0].traffic()["recv"].calls == 6


def test_receives_from_any_rank_are_started_and_end_by_themselves(make_groups):
    import torch

    groups = make_groups(3)
    got = torch.zeros(3)
    work = groups[0].recv_anysource([got])
    assert not work.is_completed()
    with pytest.raises(TimeoutError, match="did not finish within 0.01 s"):
        work.wait(timedelta(milliseconds=10))
    # Collectives go on meanwhile.
    sums = [group.allreduce([torch.ones(3)]) for group in groups]
    assert [one.result()[0].tolist() for one in sums] == [[3, 3, 3]] * 3
    groups[2].send([torch.ones(3)], 0).wait()
    assert work.get_future().wait()[0].tolist() == [1, 1, 1] and work.source_rank() == 2


def test_a_message_with_another_tag_is_left(make_groups):
    import torch

    groups = make_groups(3)
    groups[1].send([torch.full((3,), 1.0)], 0, 5).wait()
    got = torch.zeros(3)
    work = groups[0].recv_anysource([got], 6)
    time.sleep(0.02)
    assert not work.is_completed()
    groups[2].send([torch.full((3,), 2.0)], 0, 6).wait()
    work.wait()
    assert work.source_rank() == 2 and got.tolist() == [2, 2, 2]
    groups[0].recv([got], 1, 5).wait()
    assert got.tolist() == [1, 1, 1]


def test_many_messages_of_one_rank_hide_no_other(make_groups):
    import torch

    groups = make_groups(3)
    for _ in range(16):  # all rx buffers, which the texts of them tell of
        groups[1].send([torch.ones(3)], 0, 5).wait()
    offered = groups[2].send([torch.full((3,), 2.0)], 0, 6)
    got = torch.zeros(3)
    work = groups[0].recv_anysource([got], 6)
    work.wait()
    offered.wait()
    assert work.source_rank() == 2 and got.tolist() == [2, 2, 2]


def test_a_receive_that_names_its_rank_keeps_its_message(make_groups):
    import torch

    groups = make_groups(3)
    named, other = torch.zeros(3), torch.zeros(3)
    waiting = groups[0].recv([named], 1, 9)
    work = groups[0].recv_anysource([other])
    groups[1].send([torch.full((3,), 1.0)], 0).wait()
    time.sleep(0.02)
    assert not work.is_completed()
    groups[2].send([torch.full((3,), 2.0)], 0).wait()
    work.wait()
    assert work.source_rank() == 2 and other.tolist() == [2, 2, 2]
    assert not waiting.is_completed()


def test_parts_of_collectives_are_no_messages(make_groups, in_threads):
    import torch

    groups = make_groups(3)
    got, mine = torch.zeros(3), torch.ones(3)
    work = groups[0].recv_anysource([got])
    parts = [torch.ones(rank + 1) for rank in range(3)]
    late = [groups[r].alltoall([torch.zeros(r + 1)] * 3, parts) for r in (1, 2)]
    time.sleep(0.02)
    assert not work.is_completed()
    groups[0].alltoall([torch.zeros(1)] * 3, parts).wait()
    for one in late:
        one.wait()
    groups[1].send([mine], 0).wait()
    work.wait()
    assert work.source_rank() == 1 and got.tolist() == [1, 1, 1]


def test_a_wait_for_anyone_ends_with_those_who_could_send(make_groups):
    import torch

    groups = make_groups(3)
    for group in groups[1:]:
        group.send([torch.ones(3)], 0).wait()
    groups[1].shutdown()
    for _ in range(2):
        groups[0].recv_anysource([torch.zeros(3)]).wait()
    work = groups[0].recv_anysource([torch.zeros(3)])
    time.sleep(0.15)
    assert not work.is_completed()
    groups[2].shutdown()
    with pytest.raises(ACCLPeerError, match="nobody is left .* rank 1 has closed its device"):
        work.wait(timedelta(seconds=20))


def test_a_wait_for_anyone_ends_at_the_timeout_of_the_group(make_groups):
    import torch

    first, *_ = make_groups(3, timeout=0.05)
    with pytest.raises(TimeoutError, match="tag 4 within the timeout of 0.05 s"):
        first.recv_anysource([torch.zeros(3)], 4).wait()


def test_shutdown_ends_a_wait_for_anyone(make_groups):
    import torch

    first, *_ = make_groups(3)
    works = [first.recv_anysource([torch.zeros(3)]) for _ in range(2)]
    first.shutdown()
    for work in works:
        with pytest.raises(ACCLClosedError):
            work.wait()
