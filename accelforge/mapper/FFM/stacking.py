# SPDX-License-Identifier: BSD-3-Clause
"""Puts rows that have different columns into one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["stack"]


def stack(tables: Sequence[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    """Put tables one below the other.

    Parameters
    ----------
    tables : sequence of dict
        The rows of each column. What a table does not have is 0: an energy without a column is
        one of nothing.

    Returns
    -------
    dict
        A column that not all tables have stands behind the one that it stands behind in the first
        table that has it.
    """
    names = list(tables[0]) if tables else []
    known = set(names)
    for table in tables[1:]:
        if table.keys() <= known:
            continue
        place = 0
        for name in table:
            if name in known:
                place = names.index(name) + 1
                continue
            names.insert(place, name)
            known.add(name)
            place += 1
    lengths = [len(next(iter(table.values()), ())) for table in tables]
    return {
        name: [
            value
            for table, length in zip(tables, lengths, strict=True)
            for value in table.get(name) or [0.0] * length
        ]
        for name in names
    }
