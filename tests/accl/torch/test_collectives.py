# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of the process group are right for all types, layouts and ways to wait."""

from __future__ import annotations

import pytest

RANKS = (1, 2, 3, 4)
MODES = [(layout, later) for layout in ("contiguous", "strided", "transposed")
         for later in (False, True)]  # fmt: skip


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(("layout", "later"), MODES)
def test_reductions_are_pytorchs(make_groups, in_threads, ranks, layout, later):
    import torch

    from tests.accl.torch.cases import REDUCED, Rank, operations

    groups = make_groups(ranks)

    def body(rank):
        wrong = []
        for name in REDUCED:
            dtype = getattr(torch, name)
            case = Rank(groups[rank], dtype, layout, later)
            for op in operations(dtype):
                case.reduce(op)
            wrong += [f"{name}: {text}" for text in case.wrong]
        return wrong

    assert in_threads(ranks, body) == [[]] * ranks


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(("layout", "later"), MODES)
def test_moves_keep_every_bit(make_groups, in_threads, ranks, layout, later):
    import torch

    from tests.accl.torch.cases import MOVED, Rank

    groups = make_groups(ranks)

    def body(rank):
        wrong = []
        for name in MOVED:
            case = Rank(groups[rank], getattr(torch, name), layout, later)
            case.move()
            case.message()
            wrong += [f"{name}: {text}" for text in case.wrong]
        return wrong

    assert in_threads(ranks, body) == [[]] * ranks


@pytest.mark.parametrize("count", [0, 1, 524_287, 524_289])
def test_sizes_around_a_piece(make_groups, in_threads, count):
    import torch

    groups = make_groups(2)

    def body(rank):
        mine = torch.arange(count, dtype=torch.float32) + rank
        rows = torch.empty(2 * count)
        groups[rank].all_gather_single(rows, mine).wait()
        part = torch.empty(count)
        groups[rank].reduce_scatter_single(part, rows).wait()
        groups[rank].allreduce([mine]).wait()
        plain = torch.arange(count, dtype=torch.float32)
        assert torch.equal(mine, 2 * plain + 1)
        assert torch.equal(rows, torch.cat([plain, plain + 1]))
        assert torch.equal(part, 2 * (plain + rank))

    in_threads(2, body)


def test_more_ranks_than_a_block_has_room_for(make_groups):
    import numpy as np
    import torch

    stage = make_groups(1)[0]._stage
    stage.carry([torch.zeros(1).numpy()], [], 1, 1 << 19, np.dtype("f4"), lambda *_: None)
    assert stage._size == 1 << 21


def test_average_does_not_overflow(make_groups, in_threads):
    import torch
    import torch.distributed as dist

    groups = make_groups(2)
    large = {torch.float16: 60000.0, torch.bfloat16: 3e38, torch.float32: 3e38}

    def body(rank):
        for dtype, value in large.items():
            tensor = torch.full((3,), value, dtype=dtype)
            groups[rank].allreduce([tensor], op=dist.ReduceOp.AVG).wait()
            assert torch.equal(tensor, torch.full((3,), value, dtype=dtype))

    in_threads(2, body)


def test_sum_of_bools_stays_a_bool(make_groups, in_threads):
    import torch

    groups = make_groups(2)

    def body(rank):
        flag = torch.tensor([True, False])
        for _ in range(9):
            groups[rank].allreduce([flag]).wait()
        assert flag.view(torch.uint8).tolist() == [1, 0]

    in_threads(2, body)


def test_memory_of_a_tensor_can_be_resized_afterwards(make_groups):
    import torch

    tensor = torch.ones(4)
    group = make_groups(1)[0]
    group.allreduce([tensor]).wait()
    group.broadcast([tensor]).wait()
    tensor.untyped_storage().resize_(0)


def test_coalesced_calls_end_together(make_groups, in_threads):
    import torch

    groups = make_groups(2)

    def body(rank):
        tensors = [torch.full((3,), float(rank + k)) for k in range(3)]
        groups[rank].allreduce_coalesced(tensors).wait()
        assert [one[0].item() for one in tensors] == [1, 3, 5]
        wholes = [torch.empty(4), torch.empty(2)]
        parts = [torch.full((2,), float(rank)), torch.full((1,), 7.0 + rank)]
        groups[rank].all_gather_single_coalesced(wholes, parts).wait()
        assert [one.tolist() for one in wholes] == [[0, 0, 1, 1], [7, 8]]
        groups[rank].reduce_scatter_single_coalesced(parts, wholes).wait()
        assert [one.tolist() for one in parts] == [[2 * rank] * 2, [2 * (7 + rank)]]

    in_threads(2, body)
