# SPDX-License-Identifier: BSD-3-Clause
"""Traffic over links, counted for each operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch.distributed as dist

__all__ = ["Counter", "Traffic", "report"]


@dataclass(frozen=True)
class Traffic:
    """Traffic that a rank has sent and received in one kind of operation.

    Bytes are those that leave and reach the rank's port if the engine has hardware's algorithms: a
    ring for allreduce, reduce_scatter, allgather, gather and reduce, and messages from the root
    for broadcast and scatter. The soft engine itself may move less, as ranks share memory.

    Attributes
    ----------
    calls : int
        Number of operations.
    sent, received : int
        Bytes.
    """

    calls: int = 0
    sent: int = 0
    received: int = 0


class Counter:
    """Counts the traffic of one rank.

    Parameters
    ----------
    rank, size : int
        The rank, and the number of ranks.
    """

    def __init__(self, rank: int, size: int) -> None:
        self._rank, self._size = rank, size
        self._counts: dict[str, list[int]] = {}

    def add(self, name: str, sent: int, received: int) -> None:
        """Count an operation."""
        counts = self._counts.setdefault(name, [0, 0, 0])
        counts[0] += 1
        counts[1] += sent
        counts[2] += received

    def add_collective(self, name: str, part: int, root: int = 0) -> None:
        """Count a collective, whose rank's part has a number of bytes."""
        n, others = self._size, self._size - 1
        at_root = self._rank == root
        # Of a ring that ends in the root: the rank's distance to it.
        before = (root - self._rank - 1) % n
        sent, received = {
            "all_reduce": (2 * others * part // n, 2 * others * part // n),
            "all_gather": (others * part, others * part),
            "reduce_scatter": (others * part, others * part),
            "all_to_all": (others * part, others * part),
            "broadcast": (others * part, 0) if at_root else (0, part),
            "scatter": (others * part, 0) if at_root else (0, part),
            "reduce": (0, part) if at_root else (part, part if before < n - 2 else 0),
            "gather": (0, others * part)
            if at_root
            else ((n - 1 - before) * part, (n - 2 - before) * part),
            "barrier": (0, 0),
        }[name]
        if n == 1:
            sent = received = 0
        self.add(name, sent, received)

    def counts(self) -> dict[str, Traffic]:
        """Return what was counted, by operation."""
        return {name: Traffic(*counts) for name, counts in self._counts.items()}


def report(group: Any = None) -> str:
    """Describe what a group has sent and received on this rank.

    Parameters
    ----------
    group : ProcessGroup, optional
        A group of the backend ``accl``; the default group otherwise.

    Returns
    -------
    str
        A line for each operation: calls, bytes sent, bytes received.
    """
    chosen = dist.group.WORLD if group is None else group
    traffic: dict[str, Traffic] = chosen.traffic()
    lines = [f"{'operation':<15} {'calls':>8} {'bytes sent':>15} {'bytes received':>15}"]
    lines += [
        f"{name:<15} {one.calls:>8,} {one.sent:>15,} {one.received:>15,}"
        for name, one in sorted(traffic.items())
    ]
    return "\n".join(lines)
