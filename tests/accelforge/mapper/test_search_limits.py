# SPDX-License-Identifier: BSD-3-Clause
"""A search that is stopped, or has too little memory: what it found, and what it did not look at.

The bound must be admissible (no pmapping is below both it and what was found) and of use.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np
import pytest

from accelforge.mapper.FFM.group import PmappingGroup
from accelforge.mapper.FFM.search import search
from tests.accelforge.mapper import mapspaces
from tests.accelforge.mapper.brute_force import evaluate
from tests.accelforge.mapper.mapspaces import Mapspace

COLUMNS = {"energy": 0, "latency": 1}


@cache
def space() -> Mapspace:
    """Return a mapspace of two million choices."""
    return mapspaces.gemm({"m": 24, "n": 24, "k": 24}, glb=400, registers=12)


def least(groups: list[PmappingGroup]) -> np.ndarray[Any, Any]:
    """Return the least of each objective."""
    return np.min([group.objectives.min(axis=0) for group in groups], axis=0)


@cache
def optimum() -> np.ndarray[Any, Any]:
    groups, info = search(space())
    assert info["complete"]
    return least(groups)


def check(groups: list[PmappingGroup], info: dict[str, Any], useful: float) -> None:
    """Check what a search that was not finished gives."""
    assert not info["complete"]
    found = least(groups) if groups else np.full(2, np.inf)
    assert (found >= optimum() * (1 - 1e-9)).all()
    for name, column in COLUMNS.items():
        bound = min(info["bound"][name], found[column])
        assert bound <= optimum()[column] * (1 + 1e-9)
        assert bound >= useful * optimum()[column], f"nothing is known of {name}"

    for group in groups[:3]:
        values = evaluate(space()["problem"], group.mapping(0)).as_dict()
        for name, column in COLUMNS.items():
            assert values["total", name] == pytest.approx(group.objectives[0, column])


@pytest.mark.parametrize("bytes_", [1e3, 1e5, 4e5])
def test_little_memory_leaves_the_best_so_far(bytes_: float) -> None:
    groups, info = search(space(), threads=1, memory_limit=bytes_)
    assert groups
    check(groups, info, 0.3)


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_a_stop_leaves_the_best_so_far(share: float) -> None:
    _, whole = search(space(), threads=1)
    stop = np.zeros(1, np.uint8)

    def look(state: dict[str, int]) -> None:
        stop[0] = state["evaluated"] > share * whole["n_evaluated"]

    groups, info = search(space(), threads=1, stop=stop, progress=look)
    if info["complete"]:
        pytest.skip("this machine is done before it looks")
    check(groups, info, 0.1)


def test_a_deadline_in_the_past_ends_it_at_once() -> None:
    optimum()
    begin = time.process_time()
    groups, info = search(space(), threads=1, deadline=time.monotonic() - 1)
    assert time.process_time() - begin < 1
    # Nothing is known if it is seen before templates are made.
    check(groups, info, 0)


def test_enough_memory_and_time_change_nothing() -> None:
    groups, info = search(space(), memory_limit=4e9, deadline=time.monotonic() + 3600)
    assert info["complete"]
    assert least(groups) == pytest.approx(optimum())
