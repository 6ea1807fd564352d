# SPDX-License-Identifier: BSD-3-Clause
"""Lose all ranks but the first, which waits for a message of any; it prints the error."""

from __future__ import annotations

import json
import os
import signal
import sys

import torch
import torch.distributed as dist

import accl.torch  # noqa: F401


def main() -> None:
    """Be one rank."""
    torch.set_num_threads(1)
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("accl", init_method=f"file://{sys.argv[1]}", rank=rank, world_size=size)
    dist.barrier()
    if rank:
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        dist.recv(torch.ones(3))
    except Exception as error:
        print(json.dumps([type(error).__name__, str(error)]), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
