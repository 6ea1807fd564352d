# SPDX-License-Identifier: BSD-3-Clause
"""Lose the last rank; the others print the error that each of their calls ends with."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import accl.torch  # noqa: F401


def error_of(call: Callable[[], Any]) -> tuple[str, str]:
    """Give the type and the text of the error that a call ends with."""
    try:
        call()
    except Exception as error:
        return type(error).__name__, str(error)
    return "no error", ""


def main() -> None:
    """Be one rank."""
    torch.set_num_threads(1)
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("accl", init_method=f"file://{sys.argv[1]}", rank=rank, world_size=size)
    groups = [dist.new_group() for _ in range(3)]
    model = DistributedDataParallel(nn.Linear(8, 8))
    dist.barrier()
    if rank == size - 1:
        os.kill(os.getpid(), signal.SIGKILL)

    late = dist.all_reduce(torch.ones(100_000), group=groups[0], async_op=True)
    message = dist.irecv(torch.ones(3), size - 1, group=groups[1])
    answer = {
        "backward": error_of(lambda: model(torch.randn(2, 8)).sum().backward()),
        "started": error_of(late.wait),
        "future": error_of(late.get_future().wait),
        "message": error_of(message.wait),
        "waited for": error_of(lambda: dist.all_reduce(torch.ones(3), group=groups[2])),
    }
    print(json.dumps(answer), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
