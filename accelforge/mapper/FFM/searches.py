# SPDX-License-Identifier: BSD-3-Clause
"""Searches the mapspaces of Einsums: with threads, or by way of an executor."""

from __future__ import annotations

import math
import time
from concurrent.futures import Executor, Future, as_completed
from dataclasses import replace
from typing import Any

from accelforge.mapper.FFM.cache import Cache
from accelforge.mapper.FFM.canonical import Names, with_plain_names
from accelforge.mapper.FFM.limits import Limits
from accelforge.mapper.FFM.mapspace import EinsumSpace
from accelforge.mapper.FFM.outcome import Outcome
from accelforge.mapper.FFM.search import search
from accelforge.util.progress import Progress

__all__ = ["search_spaces"]


# The rest of the time is for the join.
_SHARE_OF_TIME = 0.8


def search_spaces(
    spaces: list[EinsumSpace],
    *,
    threads: int,
    limits: Limits,
    executor: Executor | None = None,
    cache_dir: str | None = None,
    label: str | None = None,
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

    Returns
    -------
    list of Outcome
        One for each mapspace; they do not depend on `threads` and `executor`.
    """
    plain: dict[str, dict[str, Any]] = {}
    keys: list[tuple[str, Names]] = []
    for space in spaces:
        mapspace, key, names = with_plain_names(space.mapspace)
        plain.setdefault(key, mapspace)
        keys.append((key, names))

    cache = Cache(cache_dir) if cache_dir is not None else None
    found: dict[str, Outcome] = {}
    for key in plain if cache is not None else ():
        known = cache.read(key) if cache is not None else None
        if known is not None:
            found[key] = known
    left = {key: mapspace for key, mapspace in plain.items() if key not in found}

    with Progress(len(plain), label) as progress:
        progress.update(len(found))
        if executor is None:
            new = _search_here(left, threads, limits, progress)
        else:
            new = _search_elsewhere(left, threads, limits, progress, executor)
        for key, outcome in new.items():
            found[key] = outcome
            if cache is not None and outcome.complete:
                cache.write(key, outcome)
    return [
        replace(found[key], groups=[names.restore(group) for group in found[key].groups])
        for key, names in keys
    ]


def _search_here(
    spaces: dict[str, dict[str, Any]], threads: int, limits: Limits, progress: Progress
) -> dict[str, Outcome]:
    """Search one mapspace after the other; what one leaves of its time is for the next."""
    found: dict[str, Outcome] = {}
    for number, (key, mapspace) in enumerate(spaces.items()):
        seconds = limits.remaining() * _SHARE_OF_TIME / (len(spaces) - number)
        found[key] = _search(mapspace, threads, seconds, limits.memory)
        progress.update()
    return found


def _search_elsewhere(
    spaces: dict[str, dict[str, Any]],
    threads: int,
    limits: Limits,
    progress: Progress,
    executor: Executor,
) -> dict[str, Outcome]:
    """Search mapspaces, several at a time, which share the time and the threads."""
    workers = _workers(executor) or max(len(spaces), 1)
    seconds = limits.remaining() * _SHARE_OF_TIME / max(math.ceil(len(spaces) / workers), 1)
    each = max(threads // workers, 1)
    futures: dict[Future[Outcome], str] = {}
    found: dict[str, Outcome] = {}
    try:
        for key, mapspace in spaces.items():
            futures[executor.submit(_search, mapspace, each, seconds, limits.memory)] = key
        for future in as_completed(futures):
            found[futures[future]] = future.result()
            progress.update()
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


def _search(mapspace: dict[str, Any], threads: int, seconds: float, memory: float) -> Outcome:
    """Search a mapspace, in whatever process this is; Ctrl-C ends it."""
    groups, info = search(
        mapspace, threads=threads, deadline=time.monotonic() + seconds, memory_limit=memory
    )
    bound = info["bound"]
    return Outcome(
        groups,
        templates=info["n_templates"],
        valid=info["n_valid"],
        evaluated=info["n_evaluated"],
        complete=info["complete"],
        bound=tuple(bound[name] for name in mapspace["metrics"] if name in bound),
    )
