# SPDX-License-Identifier: BSD-3-Clause
"""Sums numbers over everything that is not told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Breakdown", "combine"]

Breakdown = dict[tuple[Any, ...], list[Any]]


def combine(parts: Breakdown, keep: Sequence[bool], count: int, many: bool) -> Any:
    """Sum numbers.

    Parameters
    ----------
    parts : dict
        Rows by tuples of names.
    keep : sequence of bool
        Which places of the tuples stay in the keys.
    count : int
        How many rows there are.
    many : bool
        Whether the rows are returned, rather than the only one.

    Returns
    -------
    dict, or list or number
        Keys of one place are no tuples; without any, there is no dictionary.
    """
    kept = [index for index, wanted in enumerate(keep) if wanted]
    groups: dict[tuple[Any, ...], list[list[Any]]] = {}
    for key, rows in parts.items():
        groups.setdefault(tuple(key[index] for index in kept), []).append(rows)
    sums = {
        key: [sum(values) for values in zip(*members, strict=True)]
        for key, members in groups.items()
    }
    if not kept:
        rows = sums.get((), [0.0] * count)
        return rows if many else rows[0]
    return {
        key[0] if len(kept) == 1 else key: rows if many else rows[0] for key, rows in sums.items()
    }
