# SPDX-License-Identifier: BSD-3-Clause
"""The matrix of cases, and a sample of it that has every pair of values."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from typing import Any

from tests.accl.mpi.expected import OPERATIONS, REDUCING, ROOTED

__all__ = ["AXES", "Case", "full", "is_valid", "pairs_of", "pairwise"]

Case = dict[str, Any]

AXES: dict[str, tuple[Any, ...]] = {
    "operation": OPERATIONS,
    "dtype": ("float32", "float16", "float64", "int32", "int64"),
    # Counted from the end as well, so that the same cases serve any number of ranks.
    "root": (0, -1),
    "count": (0, 1, 16, 21, 128, 4097, 1_000_000),
    "mode": ("sync", "async", "chained"),
    "compressed": (False, True),
    "unified": (False, True),
    # Arrays without device memory.
    "plain": (False, True),
    "func": (0, 1, 2, 3),
}
# Operations that have neither wire nor root.
LOCAL = frozenset(["copy", "combine", "barrier"])


def is_valid(case: Case) -> bool:
    """Return whether the values go together; an axis without effect has one value only."""
    operation = case["operation"]
    if case["compressed"] and (case["dtype"] != "float32" or operation in LOCAL):
        return False
    if operation == "alltoall" and case["compressed"]:
        return False
    if case["root"] != 0 and operation not in ROOTED:
        return False
    if case["func"] != 0 and operation not in REDUCING:
        return False
    if operation == "barrier":
        quiet = case["mode"] == "sync" and not case["plain"]
        return quiet and case["count"] == 0 and case["dtype"] == "float32"
    return True


def full(largest: int = max(AXES["count"])) -> list[Case]:
    """List every case of no more elements than that."""
    cases = (dict(zip(AXES, values, strict=True)) for values in itertools.product(*AXES.values()))
    return [case for case in cases if case["count"] <= largest and is_valid(case)]


def pairs_of(case: Case) -> Iterable[tuple[Any, ...]]:
    """List the pairs of values that a case has."""
    return itertools.combinations(case.items(), 2)


def pairwise(seed: int, largest: int = max(AXES["count"])) -> list[Case]:
    """Choose cases until every pair of values that goes together is in one of them.

    Parameters
    ----------
    seed : int
        Of the choice: another one gives other cases with the same pairs.
    largest : int
        Cases with more elements are left out.
    """
    rng = random.Random(seed)
    pool = full(largest)
    rng.shuffle(pool)
    known = [(case, frozenset(pairs_of(case))) for case in pool]
    missing = {pair for _, pairs in known for pair in pairs}
    ordered = sorted(missing, key=repr)
    chosen = []
    for first in ordered:
        if first not in missing:
            continue
        # The best of a handful is nearly as good as the best of all, and found at once.
        usable = itertools.islice((item for item in known if first in item[1]), 40)
        case, pairs = max(usable, key=lambda item: len(missing & item[1]))
        chosen.append(case)
        missing -= pairs
    return chosen
