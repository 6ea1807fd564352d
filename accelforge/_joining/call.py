# SPDX-License-Identifier: BSD-3-Clause
"""Call of the join, in a thread of its own, so that Ctrl-C ends it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accelforge._joining.result import Join
from accelforge.util.interruptible import interruptible

__all__ = ["Goal", "Limits", "call", "choose", "threads_of"]

EDP = "energy_delay_product"
USAGE = "resource_usage"


@dataclass(frozen=True)
class Goal:
    """Objectives that results are compared by; see csrc/accelforge/join/goal.h."""

    wanted: int
    product: bool
    energy: int
    latency: int
    usage: bool


@dataclass(frozen=True)
class Limits:
    """When to stop; see csrc/accelforge/join/pool.h."""

    threads: int
    stop: NDArray[np.uint8]
    deadline: float
    bytes: float


def choose(columns: tuple[str, ...], metrics: Collection[str]) -> Goal:
    """Make a goal of the names of metrics."""
    if isinstance(metrics, str):
        raise TypeError("metrics must be a collection of names")
    product = EDP in metrics
    unknown = [name for name in metrics if name not in (*columns, EDP, USAGE)]
    if product:
        unknown += [name for name in ("energy", "latency") if name not in columns]
    if unknown:
        raise ValueError(f"unknown column {unknown[0]!r}; there are {', '.join(columns)}")
    wanted = sum(1 << i for i, name in enumerate(columns) if name in metrics)
    if not wanted and not product:
        raise ValueError("metrics must name a column")
    return Goal(
        wanted=wanted,
        product=product,
        energy=columns.index("energy") if product else 0,
        latency=columns.index("latency") if product else 0,
        usage=USAGE in metrics,
    )


def threads_of(threads: int) -> int:
    """Give the number of threads that is meant."""
    if threads < 0:
        raise ValueError("threads must not be negative")
    return min(threads or len(os.sched_getaffinity(0)), 256)


def call(
    run: Callable[..., Join],
    tables: Any,
    columns: tuple[str, ...],
    goal: Goal,
    threads: int,
    stop: NDArray[np.uint8] | None,
    deadline: float,
    memory_limit: float,
    *more: Any,
    here: bool = False,
) -> Join:
    """Run a join to its end; an exception in the main thread, such as Ctrl-C, stops it.

    With `here` it is run in this thread, and Ctrl-C has to wait.
    """
    if stop is None:
        stop = np.zeros(1, np.uint8)
    limits = Limits(threads, stop, deadline, memory_limit)
    if here:
        return run(tables, columns, goal, limits, *more)

    return interruptible(stop, lambda: run(tables, columns, goal, limits, *more))
