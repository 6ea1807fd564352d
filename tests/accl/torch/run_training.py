# SPDX-License-Identifier: BSD-3-Clause
"""Train a small model in each way that PyTorch has, with gloo and with accl; print what came of it.

Arguments: where the ranks meet (``env://`` under torchrun, ``mpi://`` under mpiexec).
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.nn.parallel import DistributedDataParallel

import accl.torch


def train(wrap: Any, rank: int) -> float:
    """Train for some steps; give the loss of each, in one number."""
    torch.manual_seed(0)
    model = wrap(nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    torch.manual_seed(rank)
    total = 0.0
    for _ in range(4):
        optimizer.zero_grad()
        loss = model(torch.randn(8, 16)).square().mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


def losses(group: Any, rank: int) -> dict[str, float]:
    """Train with a group of one backend."""
    return {
        "DDP": train(lambda m: DistributedDataParallel(m, process_group=group), rank),
        "FSDP": train(
            lambda m: FullyShardedDataParallel(
                m, process_group=group, device_id=torch.device("cpu")
            ),
            rank,
        ),
    }


def use_functions(rank: int, size: int) -> dict[str, Any]:
    """Call functions of torch.distributed that are made of several."""
    found: dict[str, Any] = {}
    names: list[Any] = [None] * size
    dist.all_gather_object(names, {"rank": rank})
    found["objects"] = [one["rank"] for one in names] == list(range(size))
    shared = [f"from {rank}"]
    dist.broadcast_object_list(shared, size - 1)
    found["broadcast of objects"] = shared == [f"from {size - 1}"]
    got = torch.zeros(3)
    calls = [
        dist.P2POp(dist.isend, torch.full((3,), float(rank)), (rank + 1) % size),
        dist.P2POp(dist.irecv, got, (rank - 1) % size),
    ]
    for work in dist.batch_isend_irecv(calls) if size > 1 else []:
        work.wait()
    found["batch of messages"] = size == 1 or bool((got == (rank - 1) % size).all())
    if rank:
        dist.send(torch.full((3,), float(rank)), 0, tag=2)
    else:
        found["from any rank"] = all(
            dist.recv(got, tag=2) == got[0] == got[2] for _ in range(1, size)
        )
    half = dist.new_group([number for number in range(size) if number % 2 == 0])
    if rank % 2 == 0:
        ones = torch.ones(2)
        work = dist.all_reduce(ones, group=half, async_op=True)
        doubled = work.get_future().then(lambda future: future.value()[0] * 2).wait()
        found["half"] = doubled.tolist() == [2.0 * ((size + 1) // 2)] * 2
    whole = torch.arange(8.0)
    dist.all_reduce(whole[::2])
    found["strided"] = whole.tolist() == [
        value * (1 if number % 2 else size) for number, value in enumerate(range(8))
    ]
    numbers = torch.tensor([1 + 2j, 3j])
    dist.all_reduce(numbers)
    found["complex"] = numbers.tolist() == [size * (1 + 2j), size * 3j]
    return found


def main() -> None:
    """Be one rank."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    meet = sys.argv[1]
    start: dict[str, Any] = {"init_method": meet}
    if "://" not in meet:
        start = {
            "init_method": f"file://{meet}",
            "rank": int(os.environ["RANK"]),
            "world_size": int(os.environ["WORLD_SIZE"]),
        }
    dist.init_process_group("cpu:accl" if len(sys.argv) > 2 else "accl", **start)
    rank, size = dist.get_rank(), dist.get_world_size()
    answer: dict[str, Any] = {"backend": dist.get_backend(), "rank": rank}
    answer["accl"] = losses(dist.group.WORLD, rank)
    answer["gloo"] = losses(dist.new_group(backend="gloo"), rank)
    mesh = init_device_mesh("cpu", (size,))
    answer["fully_shard"] = train(lambda m: fully_shard(m, mesh=mesh), rank)
    answer["functions"] = use_functions(rank, size)
    answer["report"] = accl.torch.report()
    answer["transport"] = dist.group.WORLD._device.communicators[0].ranks[rank - 1]["ip"]
    dist.barrier()
    dist.destroy_process_group()
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
