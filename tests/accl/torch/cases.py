# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of a process group, with what each rank should have afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as _c10d

LAYOUTS = ("contiguous", "strided", "transposed")
REDUCED = (
    "float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool",
    "complex64", "complex128",
)  # fmt: skip
MOVED = (*REDUCED, "uint16", "uint32", "uint64", "float8_e4m3fn")
FLOATING = REDUCED[:4]
SHAPE = (6, 5)


def values(rank: int, dtype: torch.dtype, shape: Sequence[int] = SHAPE) -> torch.Tensor:
    """Give small numbers, which all types have; sums and products of few are exact."""
    count = int(torch.tensor(shape).prod())
    numbers = (torch.arange(count) * (rank + 2) + rank) % 4
    return (numbers % 2 if dtype is torch.bool else numbers).to(dtype).reshape(tuple(shape))


def laid(tensor: torch.Tensor, layout: str) -> torch.Tensor:
    """Give the same elements in another layout, between others that must not change."""
    if layout == "contiguous":
        return tensor.clone()
    if layout == "transposed":
        return tensor.movedim(0, -1).contiguous().movedim(-1, 0)
    whole = torch.ones((*tensor.shape, 2), dtype=torch.float32).to(tensor.dtype)
    view = whole[..., 0]
    view.copy_(tensor)
    return view


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Say whether tensors are equal bit by bit."""
    return (
        a.dtype is b.dtype
        and a.shape == b.shape
        and (
            a.contiguous().view(-1).view(torch.uint8).tolist()
            == b.contiguous().view(-1).view(torch.uint8).tolist()
        )
    )


def reduced(op: Any, tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Reduce as PyTorch's own arithmetic does."""
    kinds = dist.ReduceOp.RedOpType
    if op == kinds.AVG:
        return (sum(one.double() for one in tensors) / len(tensors)).to(tensors[0].dtype)
    function: Callable[..., torch.Tensor] = {
        kinds.SUM: torch.add,
        kinds.PRODUCT: torch.mul,
        kinds.MAX: torch.maximum,
        kinds.MIN: torch.minimum,
        kinds.BAND: torch.bitwise_and,
        kinds.BOR: torch.bitwise_or,
        kinds.BXOR: torch.bitwise_xor,
    }[op]
    return reduce(function, tensors)


def operations(dtype: torch.dtype) -> list[Any]:
    """List the operations that a type has."""
    kinds = dist.ReduceOp.RedOpType
    if dtype.is_complex:
        return [kinds.SUM, kinds.PRODUCT]
    found = [kinds.SUM, kinds.PRODUCT, kinds.MAX, kinds.MIN]
    return found + ([kinds.AVG] if dtype.is_floating_point else [kinds.BAND, kinds.BOR, kinds.BXOR])


@dataclass
class Rank:
    """One rank of a group, that makes calls of one kind.

    Parameters
    ----------
    group : ProcessGroup
        The group.
    dtype : torch.dtype
        The type of all tensors.
    layout : str
        How tensors lie in memory.
    later : bool
        Whether calls are started, and waited for afterwards.
    """

    group: Any
    dtype: torch.dtype
    layout: str
    later: bool

    def __post_init__(self) -> None:
        self.rank, self.size = self.group.rank(), self.group.size()
        self.wrong: list[str] = []
        self.scale = 1

    def values(self, rank: int, shape: Sequence[int] = SHAPE) -> torch.Tensor:
        """Give the elements of a rank."""
        found = values(rank, self.dtype, shape)
        return found * self.scale if self.scale > 1 else found

    def finish(self, work: Any) -> None:
        """Wait for a call."""
        if work is None:
            assert not self.later
        else:
            assert work.wait()

    def options(self, kind: Any, **fields: Any) -> Any:
        made = kind()
        made.asyncOp = self.later
        for name, value in fields.items():
            setattr(made, name, value)
        return made

    def check(self, what: str, got: torch.Tensor, wanted: torch.Tensor) -> None:
        """Note a result that differs, or a change of what lies between the elements."""
        if not same(got, wanted):
            self.wrong.append(f"{what}: {got.tolist()}, not {wanted.tolist()}")
        if self.layout == "strided" and got._base is not None:
            rest = got._base[..., 1]
            if not same(rest, torch.ones(rest.shape, dtype=torch.float32).to(self.dtype)):
                self.wrong.append(f"{what}: elements of others have changed")

    def own(self, rank: int | None = None, shape: Sequence[int] = SHAPE) -> torch.Tensor:
        return laid(self.values(self.rank if rank is None else rank, shape), self.layout)

    def blank(self, shape: Sequence[int] = SHAPE) -> torch.Tensor:
        return laid(torch.zeros(tuple(shape), dtype=torch.float32).to(self.dtype), self.layout)

    def reduce(self, op: Any) -> None:
        """Make each reduction."""
        # Parts of them are whole numbers.
        self.scale = 12 if op == dist.ReduceOp.RedOpType.AVG else 1
        every = [self.values(rank) for rank in range(self.size)]
        total = reduced(op, every)
        mine = self.own()
        self.finish(self.group.allreduce([mine], self.options(_c10d.AllreduceOptions, reduceOp=op)))
        self.check(f"all_reduce {op}", mine, total)
        for root in {0, self.size - 1}:
            mine = self.own()
            how = self.options(_c10d.ReduceOptions, reduceOp=op, rootRank=root)
            self.finish(self.group.reduce([mine], how))
            self.check(f"reduce {op}", mine, total if root == self.rank else every[self.rank])
        how = self.options(_c10d.ReduceScatterOptions, reduceOp=op)
        parts = [self.own(self.rank + other) for other in range(self.size)]
        wanted = reduced(op, [self.values(r + self.rank) for r in range(self.size)])
        got = self.blank()
        self.finish(self.group.reduce_scatter([got], [parts], how))
        self.check(f"reduce_scatter {op}", got, wanted)
        got = self.blank()
        whole = laid(torch.stack([part.contiguous() for part in parts]), self.layout)
        self.finish(self.group.reduce_scatter_single(got, whole, how))
        self.check(f"reduce_scatter_single {op}", got, wanted)

    def move(self) -> None:
        """Make each call that moves elements."""
        every = [values(rank, self.dtype) for rank in range(self.size)]
        for root in {0, self.size - 1}:
            mine = self.own()
            self.finish(
                self.group.broadcast([mine], self.options(_c10d.BroadcastOptions, rootRank=root))
            )
            self.check("broadcast", mine, every[root])
            rows = [self.blank() for _ in every] if root == self.rank else []
            how = self.options(_c10d.GatherOptions, rootRank=root)
            self.finish(self.group.gather([rows] if rows else [], [self.own()], how))
            for number, row in enumerate(rows):
                self.check("gather", row, every[number])
            got = self.blank()
            parts = [self.own(rank) for rank in range(self.size)] if root == self.rank else []
            how = self.options(_c10d.ScatterOptions, rootRank=root)
            self.finish(self.group.scatter([got], [parts] if parts else [], how))
            self.check("scatter", got, every[self.rank])
        rows = [self.blank() for _ in every]
        how = self.options(_c10d.AllgatherOptions)
        self.finish(self.group.allgather([rows], [self.own()], how))
        for number, row in enumerate(rows):
            self.check("all_gather", row, every[number])
        whole = self.blank((self.size, *SHAPE))
        self.finish(self.group.all_gather_single(whole, self.own(), how))
        self.check("all_gather_single", whole, torch.stack(every))
        self.exchange()

    def exchange(self) -> None:
        """Make each call in which every rank sends to every rank."""
        how = self.options(_c10d.AllToAllOptions)
        every = [values(r, self.dtype, (self.size, *SHAPE)) for r in range(self.size)]
        wanted = torch.stack([one[self.rank] for one in every])
        got = self.blank((self.size, *SHAPE))
        self.finish(
            self.group.all_to_all_single(got, laid(every[self.rank], self.layout), [], [], how)
        )
        self.check("all_to_all_single", got, wanted)
        # Rank r sends r + s + 1 rows to rank s.
        sizes = [self.rank + other + 1 for other in range(self.size)]
        sent = [values(self.rank, self.dtype, (size, 5)) for size in sizes]
        rows = [
            torch.split(
                values(r, self.dtype, (sum(r + s + 1 for s in range(self.size)), 5)),
                [r + s + 1 for s in range(self.size)],
            )[self.rank]
            for r in range(self.size)
        ]
        got = self.blank((sum(sizes), 5))
        mine = laid(values(self.rank, self.dtype, (sum(sizes), 5)), self.layout)
        self.finish(self.group.all_to_all_single(got, mine, sizes, sizes, how))
        self.check("all_to_all_single in parts", got, torch.cat(rows))
        parts = [self.blank((size, 5)) for size in sizes]
        self.finish(self.group.alltoall(parts, [laid(one, self.layout) for one in sent], how))
        for r, part in enumerate(parts):
            self.check("all_to_all", part, values(r, self.dtype, (sizes[r], 5)))

    def message(self) -> None:
        """Send round a ring, with each order of the two calls."""
        if self.size == 1:
            return
        after, before = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        for first in ("send", "recv"):
            got = self.blank()
            calls = {
                "send": lambda: self.group.send([self.own()], after, 7),
                "recv": lambda got=got: self.group.recv([got], before, 7),
            }
            order = [first, *({"send", "recv"} - {first})]
            works = [calls[name]() for name in order]
            for work in works:
                assert work.wait()
            self.check("recv", got, values(before, self.dtype))
