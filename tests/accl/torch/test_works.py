# SPDX-License-Identifier: BSD-3-Clause
"""Operations that were started go on by themselves, and say what became of them."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from accl import ACCLArgumentError, ACCLClosedError, ACCLDtypeError, ACCLUnsupportedError


def test_started_operation_ends_without_being_waited_for(make_groups):
    import torch

    first, second = make_groups(2)
    mine, other = torch.ones(3), torch.ones(3)
    ended = threading.Event()
    work = first.allreduce([mine])
    work.get_future().add_done_callback(lambda _: ended.set())
    assert not work.is_completed() and not ended.is_set()
    second.allreduce([other]).wait()
    assert ended.wait(20)
    assert work.is_completed() and work.is_success() and work.exception() is None
    assert mine.tolist() == other.tolist() == [2, 2, 2]
    assert work.result()[0] is mine
    assert work.get_future().wait()[0] is mine


def test_a_group_names_its_store_size_and_backend(make_groups):
    first, second = make_groups(2)
    assert first.get_group_store() is second.get_group_store() is not None
    assert [(group.rank(), group.size(), group.name()) for group in (first, second)] == [
        *((0, 2, "accl"), (1, 2, "accl"))
    ]


def test_message_ends_without_being_waited_for(make_groups):
    import torch

    first, second = make_groups(2)
    got = torch.zeros(4, 2).t()
    ended = threading.Event()
    work = second.recv([got], 0, 5)
    work.get_future().add_done_callback(lambda _: ended.set())
    assert not work.is_completed()
    first.send([torch.arange(8.0).reshape(2, 4)], 1, 5).wait()
    assert ended.wait(20)
    assert work.is_completed() and work.is_success() and work._source_rank() == 0
    assert torch.equal(got, torch.arange(8.0).reshape(2, 4))


@pytest.mark.parametrize("kind", ["collective", "message"])
def test_wait_that_times_out_can_be_repeated(make_groups, kind):
    import torch

    first, second = make_groups(2)
    tensor = torch.ones(3)
    work = first.allreduce([tensor]) if kind == "collective" else first.recv([tensor], 1)
    with pytest.raises(TimeoutError, match="did not finish within 0.01 s"):
        work.wait(timedelta(milliseconds=10))
    if kind == "collective":
        second.allreduce([torch.ones(3)]).wait()
    else:
        second.send([torch.full((3,), 2.0)], 0).wait()
    assert work.wait(timedelta(seconds=20))
    assert tensor.tolist() == [2, 2, 2]


def test_operations_of_a_group_keep_their_order(make_groups, in_threads):
    import torch

    groups = make_groups(2)

    def body(rank):
        tensor = torch.tensor([float(rank + 1)])
        works = [groups[rank].allreduce([tensor]), groups[rank].broadcast([tensor])]
        options = type(
            "Options", (), {"asyncOp": False, "reduceOp": torch.distributed.ReduceOp.MAX}
        )
        assert groups[rank].allreduce([tensor], options) is None
        assert all(work.is_completed() for work in works)
        assert tensor.tolist() == [3]

    in_threads(2, body)


def test_groups_do_not_wait_for_each_other(make_groups):
    import torch

    first, second = make_groups(2), make_groups(2)
    waiting = first[0].barrier()
    other = second[0].allreduce([torch.ones(3)])
    second[1].allreduce([torch.ones(3)]).wait()
    other.wait()
    assert not waiting.is_completed()
    first[1].barrier().wait()
    waiting.wait()


def test_shutdown_ends_what_waits(make_groups):
    import torch

    first, _ = make_groups(2)
    works = [first.barrier(), first.allreduce([torch.ones(3)]), first.recv([torch.ones(3)], 1)]
    first.shutdown()
    for work in works:
        with pytest.raises(ACCLClosedError):
            work.wait()
    with pytest.raises(ACCLClosedError, match="was shut down"):
        first.allreduce([torch.ones(3)])


def test_timeout_of_the_group_ends_a_call(make_groups):
    import torch

    first, _ = make_groups(2, timeout=0.05)
    with pytest.raises(TimeoutError, match="rank 1"):
        first.allreduce([torch.ones(3)]).wait()


CALLS = [
    ("allreduce", lambda t: ([t.ones(3), t.ones(3)],), ACCLArgumentError, "one tensor is required"),
    ("allreduce", lambda t: ([t.ones(3).to_sparse()],), ACCLArgumentError, "must be dense"),
    ("allreduce", lambda t: ([t.ones(3, device="meta")],), ACCLArgumentError, "is on meta"),
    ("allreduce", lambda t: ([3],), TypeError, "a tensor is required, not int"),
    ("allreduce", lambda t: ([t.ones(1).expand(3)],), ACCLArgumentError, "a stride is 0"),
    ("allreduce", lambda t: ([t.ones(3).to(t.float8_e5m2)],), ACCLDtypeError, "no reduction of"),
    ("broadcast", lambda t: ([t.ones(3)], 2), ACCLArgumentError, "the root is 2"),
    ("allgather", lambda t: ([[t.ones(3)]], [t.ones(3)]), ACCLArgumentError, "must have 2 tensors"),
    ("allgather", lambda t: ([[t.ones(3), t.ones(4)]], [t.ones(3)]), ACCLArgumentError,
     "that of rank 1 has 4"),
    ("allgather", lambda t: ([[t.ones(3), t.ones(3)]], [t.ones(3).int()]), ACCLDtypeError,
     "must have one type"),
    ("all_gather_single", lambda t: (t.ones(5), t.ones(3)), ACCLArgumentError, "2 times the 3"),
    ("reduce_scatter_single", lambda t: (t.ones(3), t.ones(5)), ACCLArgumentError, "2 times the 3"),
    ("all_to_all_single", lambda t: (t.ones(3), t.ones(3)), ACCLArgumentError, "pass split sizes"),
    ("all_to_all_single", lambda t: (t.ones(3), t.ones(3), [1, 1], [1, 2]), ACCLArgumentError,
     "output_split_sizes must be 2 sizes whose sum is 3"),
    ("alltoall", lambda t: ([t.ones(3)], [t.ones(3)]), ACCLArgumentError, "must have 2 tensors"),
    ("alltoall", lambda t: ([t.ones(3)] * 2, [t.ones(2)] * 2), ACCLArgumentError, "to itself"),
    ("send", lambda t: ([t.ones(3)], 0), ACCLArgumentError, "not this one"),
    ("recv", lambda t: ([t.ones(3)], 2), ACCLArgumentError, "one of 0 to 1"),
    ("recv_anysource", lambda t: ([t.ones(3), t.ones(3)],), ACCLArgumentError, "one tensor"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "kind", "text"), CALLS)
def test_wrong_arguments_are_errors_at_the_call(make_groups, name, arguments, kind, text):
    import torch

    group = make_groups(2)[0]
    with pytest.raises(kind, match=text):
        getattr(group, name)(*arguments(torch))


@pytest.mark.parametrize(
    ("op", "dtype", "kind", "text"),
    [
        ("AVG", "int32", ACCLDtypeError, "use SUM, and divide"),
        ("AVG", "bool", ACCLDtypeError, "AVG is of floating-point types"),
        ("BXOR", "float32", ACCLDtypeError, "of integers and bool"),
        ("PREMUL_SUM", "float32", ACCLUnsupportedError, "there are SUM, AVG"),
    ],
)
def test_operations_that_a_type_lacks_leave_the_tensor(make_groups, op, dtype, kind, text):
    import torch
    import torch.distributed as dist

    tensor = torch.ones(3).to(getattr(torch, dtype))
    operation = getattr(dist.ReduceOp.RedOpType, op)
    with pytest.raises(kind, match=text):
        make_groups(2)[0].allreduce([tensor], op=operation)
    assert tensor.tolist() == [1, 1, 1]


def test_ranks_that_call_different_collectives_get_an_error(make_groups):
    import torch

    first, second = make_groups(2)
    works = [first.allreduce([torch.ones(3)]), second.barrier()]
    for work in works:
        with pytest.raises(RuntimeError, match="ALLREDUCE|allreduce"):
            work.wait()


def test_traffic_counts_what_goes_over_links(make_groups, in_threads):
    import torch

    groups = make_groups(3)

    def body(rank):
        groups[rank].allreduce([torch.ones(6)]).wait()
        groups[rank].broadcast([torch.ones(6)], 1).wait()
        groups[rank].reduce([torch.ones(6)], None, 2).wait()
        return {name: (one.calls, one.sent, one.received)
                for name, one in groups[rank].traffic().items()}  # fmt: skip

    answers = in_threads(3, body)
    assert [one["all_reduce"] for one in answers] == [(1, 32, 32)] * 3
    assert [one["broadcast"] for one in answers] == [(1, 0, 24), (1, 48, 0), (1, 0, 24)]
    assert [one["reduce"] for one in answers] == [(1, 24, 0), (1, 24, 24), (1, 0, 24)]
    for name in ("all_reduce", "broadcast", "reduce"):
        assert sum(one[name][1] for one in answers) == sum(one[name][2] for one in answers)


def test_a_closed_lane_takes_no_operation() -> None:
    pytest.importorskip("torch")
    from accl.torch.work import Lane

    lane = Lane("closed")
    lane.close(lambda: None)
    for take in (lane.start, lane.run):
        with pytest.raises(ACCLClosedError, match="barrier: the process group was shut down"):
            take("barrier", lambda: None, [])
