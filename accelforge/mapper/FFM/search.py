# SPDX-License-Identifier: BSD-3-Clause
"""The search of one Einsum, which gives groups of pmappings."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

from accelforge import _search
from accelforge.mapper.FFM.group import PmappingGroup
from accelforge.mapper.FFM.incumbents import Incumbents

__all__ = ["search"]


def search(
    mapspace: Any,
    *,
    threads: int = 0,
    stop: Any = None,
    deadline: float = math.inf,
    memory_limit: float = math.inf,
    progress: Callable[[dict[str, Any]], object] | None = None,
    width: int = 0,
    incumbents: Incumbents | None = None,
) -> tuple[list[PmappingGroup], dict[str, Any]]:
    """Find the best pmappings of an Einsum.

    Parameters
    ----------
    mapspace : dict, or what `_search.flatten_mapspace` makes of one
        See docs/design/accelforge.md.
    threads : int, optional
        0: as many as the process may use cores. Results do not depend on it.
    stop : buffer of uint8, optional
        The search ends soon, with the best so far, once the first element is not 0; Ctrl-C makes
        it 1. Without this, Ctrl-C raises KeyboardInterrupt.
    deadline : float, optional
        The same, at this time of `time.monotonic`.
    memory_limit : float, optional
        Bytes. Templates that would need more are left with the best that was found before.
    progress : callable, optional
        Called with ``{"templates", "done", "evaluated", "valid", "best", "bound"}`` some times a
        second. ``best`` is the least of each of `accelforge._search.METRICS` that was found, and
        ``bound`` what no template that is not finished has anything below.
    width : int, optional
        If not 0, only so many choices of tiles are kept at each loop: a quick look.
    incumbents : Incumbents, optional
        Known mappings of the workload. Pmappings that can only be part of worse ones are not found.

    Returns
    -------
    groups : list of PmappingGroup
    info : dict
        ``n_templates``, ``n_evaluated`` and ``n_valid`` (partial choices of tiles included),
        ``n_pareto``; ``complete``: nothing was left out; ``bound``: objective to a number that
        nothing that was left out is below; ``low``: the same for each template, in the order of
        `accelforge._search.METRICS`, of what was found too;
        ``backings``, ``backing_of``: as in `Outcome`.

    Raises
    ------
    ProblemError
        The mapspace has no meaning.
    """
    count = threads if threads > 0 else len(os.sched_getaffinity(0))
    found = _search.search(
        mapspace,
        threads=count,
        stop=stop,
        deadline=deadline,
        memory_limit=memory_limit,
        progress=progress,
        width=width,
        incumbents=incumbents,
    )
    groups = [PmappingGroup(**fields) for fields in found.groups]
    info = {
        "n_templates": found.templates,
        "n_evaluated": found.evaluated,
        "n_valid": found.valid,
        "n_pareto": sum(map(len, groups)),
        "complete": found.complete,
        "bound": found.bound,
        "low": found.low,
        "backings": found.backings,
        "backing_of": found.backing_of,
    }
    return groups, info
