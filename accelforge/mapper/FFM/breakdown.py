# SPDX-License-Identifier: BSD-3-Clause
"""Sums numbers over everything that is not told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Breakdown", "combine"]

Breakdown = dict[tuple[Any, ...], list[Any]]


def combine(parts: Breakdown, keep: Sequence[bool], many: bool) -> Any:
    """Sum numbers.

    Parameters
    ----------
    parts : dict
        Rows by tuples of names.
    keep : sequence of bool
        Which places of the tuples stay in the keys.
    many : bool
        Whether the rows are returned, rather than the only one.

    Returns
    -------
    dict, or list or number
        Keys of one place are no tuples; without any, there is no dictionary.
    """
    kept = [index for index, wanted in enumerate(keep) if wanted]
    sums: dict[tuple[Any, ...], list[Any]] = {}
    for key, rows in parts.items():
        new = tuple(key[index] for index in kept)
        known = sums.get(new)
        sums[new] = (
            list(rows) if known is None else [a + b for a, b in zip(known, rows, strict=True)]
        )
    if not kept:
        rows = sums.get((), [0.0])
        return rows if many else rows[0]
    return {
        key[0] if len(kept) == 1 else key: rows if many else rows[0] for key, rows in sums.items()
    }
