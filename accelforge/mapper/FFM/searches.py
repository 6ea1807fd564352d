# SPDX-License-Identifier: BSD-3-Clause
"""Searches the mapspaces of Einsums: with threads, or by way of an executor."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from accelforge.mapper.FFM.cache import Cache
from accelforge.mapper.FFM.canonical import Names
from accelforge.mapper.FFM.incumbents import Incumbents
from accelforge.mapper.FFM.limits import Limits
from accelforge.mapper.FFM.mapspace import EinsumSpace
from accelforge.mapper.FFM.outcome import Outcome
from accelforge.mapper.FFM.search import search
from accelforge.mapper.FFM.standing import follow
from accelforge.util.parallel import results_in_time
from accelforge.util.progress import Progress

__all__ = ["search_spaces"]

# Time that executors may take to start their workers, and to bring back results.
_GRACE_S = 30.0


@dataclass
class _Job:
    """A search, for all Einsums that differ in names only."""

    mapspace: Any  # flat, or for other processes not
    metrics: list[str]
    width: int
    incumbents: Incumbents | None = None
    work: float = 1.0

    def add(self, incumbents: Incumbents) -> None:
        """Take the incumbents of one of the Einsums: what all others cost at least is the least."""
        if self.incumbents is not None:
            rests = incumbents.rests
            if rests is not None and self.incumbents.rests is not None:
                rests = np.minimum(rests, self.incumbents.rests)
            rest = np.minimum(incumbents.rest, self.incumbents.rest)
            incumbents = replace(incumbents, rest=rest, rests=rests)
        self.incumbents = incumbents


def search_spaces(
    spaces: list[EinsumSpace],
    *,
    threads: int,
    limits: Limits,
    executor: Executor | None = None,
    cache_dir: str | None = None,
    label: str | None = None,
    width: int = 0,
    incumbents: list[Incumbents] | None = None,
    share_of_time: float = 0.8,
    work: list[float] | None = None,
    note: str = "",
) -> list[Outcome]:
    """Search mapspaces, those that differ in names only once.

    Parameters
    ----------
    spaces : list of EinsumSpace
        The mapspaces.
    threads : int
        How many threads a search uses.
    limits : Limits
        They are shared among the searches.
    executor : Executor, optional
        Executes the searches, in other processes for example. Without it, they are executed here.
    cache_dir : str, optional
        Folder with the outcomes of earlier searches.
    label : str, optional
        Of a progress bar.
    width : int
        If not 0, how many choices of tiles are kept at each loop: a quick look.
    incumbents : list of Incumbents, optional
        One for each mapspace: pmappings that can only be part of worse mappings are not found.
    share_of_time : float
        How much of the time that is left the searches may take; the rest is for what comes then.
    work : list of float, optional
        One number for each mapspace: how its search compares with the others, for the bar.
    note : str
        Stands behind the bar: the best so far of all Einsums, and the bound on what is left.

    Returns
    -------
    list of Outcome
        One for each mapspace; they do not depend on `threads` and `executor`.
    """
    plain: dict[str | bytes, _Job] = {}
    keys: list[tuple[str | bytes, Names]] = []
    for number, space in enumerate(spaces):
        mapspace, names = space.plain
        key = space.key if cache_dir is not None else space.identity
        if key not in plain:
            given = space.flat if executor is None else mapspace
            plain[key] = _Job(given, mapspace["metrics"], width)
            if work is not None:
                plain[key].work = work[number]
        if incumbents is not None:
            plain[key].add(incumbents[number])
        keys.append((key, names))

    cache = Cache(cache_dir) if cache_dir is not None else None
    found: dict[str | bytes, Outcome] = {}
    for key in plain if cache is not None else ():
        known = cache.read(str(key)) if cache is not None else None
        if known is not None:
            found[key] = known
    left = {key: job for key, job in plain.items() if key not in found}
    seconds = limits.remaining() * share_of_time

    with Progress(sum(job.work for job in plain.values()), label, note=note) as progress:
        progress.update(sum(plain[key].work for key in found))
        if executor is None:
            new = _search_here(left, threads, seconds, limits, progress)
        else:
            new = _search_elsewhere(left, threads, seconds, limits, progress, executor)
        for key, outcome in new.items():
            found[key] = outcome
            if cache is not None and outcome.complete and incumbents is None:
                cache.write(str(key), outcome)
    return [
        replace(
            found[key],
            groups=[names.restore(group) for group in found[key].groups],
            backings=[names.restore_backing(backing) for backing in found[key].backings],
        )
        for key, names in keys
    ]


def _search_here(
    jobs: dict[str | bytes, _Job],
    threads: int,
    seconds: float,
    limits: Limits,
    progress: Progress,
) -> dict[str | bytes, Outcome]:
    """Search one mapspace after the other; what one leaves of its time is for the next.

    Ctrl-C is a KeyboardInterrupt if there are mapspaces left, and else stops the limits.
    """
    found: dict[str | bytes, Outcome] = {}
    end = time.monotonic() + seconds
    alone = next(iter(jobs.values())).metrics if len(jobs) == 1 and not progress.note else None
    for number, (key, job) in enumerate(jobs.items()):
        own = max(end - time.monotonic(), 0.0) / (len(jobs) - number)
        before = progress.done
        show = follow(progress, before, job.work, alone)
        found[key] = _search(job, threads, own, limits.memory, limits.stop, show)
        progress.reach(before + job.work)
        if limits.stopped and len(found) < len(jobs):
            raise KeyboardInterrupt
    return found


def _search_elsewhere(
    jobs: dict[str | bytes, _Job],
    threads: int,
    seconds: float,
    limits: Limits,
    progress: Progress,
    executor: Executor,
) -> dict[str | bytes, Outcome]:
    """Search mapspaces, several at a time, which share the time and the threads."""
    workers = _workers(executor) or max(len(jobs), 1)
    own = seconds / max(math.ceil(len(jobs) / workers), 1)
    # Searches that an executor does in other processes end by clocks of their own.
    limit = seconds + _GRACE_S if math.isfinite(seconds) else None
    each = max(threads // workers, 1)
    futures: dict[Future[Outcome], str | bytes] = {}
    found: dict[str | bytes, Outcome] = {}
    try:
        for key, job in jobs.items():
            futures[executor.submit(_search, job, each, own, limits.memory)] = key
        for future in results_in_time(
            futures,
            limit,
            f"searches of Einsums, whose time_limit leaves them {seconds:g} s",
        ):
            found[futures[future]] = future.result()
            progress.update(jobs[futures[future]].work)
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return found


def _workers(executor: Executor) -> int | None:
    """Return how many calls an executor executes at a time, if it says so."""
    for name in ("num_workers", "_max_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    return None


def _search(
    job: _Job,
    threads: int,
    seconds: float,
    memory: float,
    stop: Any = None,
    show: Callable[[dict[str, Any]], object] | None = None,
) -> Outcome:
    """Search a mapspace, in whatever process this is; Ctrl-C ends it."""
    groups, info = search(
        job.mapspace,
        threads=threads,
        stop=stop,
        progress=show,
        deadline=time.monotonic() + seconds,
        memory_limit=memory,
        width=job.width,
        incumbents=job.incumbents,
    )
    bound = info["bound"]
    return Outcome(
        groups,
        templates=info["n_templates"],
        valid=info["n_valid"],
        evaluated=info["n_evaluated"],
        complete=info["complete"],
        bound=tuple(bound[name] for name in job.metrics if name in bound),
        low=info["low"],
        backings=info["backings"],
        backing_of=info["backing_of"],
    )
