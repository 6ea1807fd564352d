# SPDX-License-Identifier: BSD-3-Clause
"""Rows that no other row beats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["pareto_front"]


def pareto_front(costs: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the numbers of the rows that no other row beats, in order.

    A row beats another one if no number of it is larger, and one is smaller. Of equal rows, the
    first one stands for all. Rows with NaN are left out.

    Parameters
    ----------
    costs : numpy.ndarray
        One row for each candidate, one column for each number of any count, all to be small.
    """
    given = np.asarray(costs, dtype=np.float64)
    if given.ndim != 2:
        raise ValueError(f"costs have rows and columns, not {given.ndim} dimensions")
    rows = np.flatnonzero(~np.isnan(given).any(axis=1))
    if given.shape[1] == 0 or not len(rows):
        return rows[:1]
    # By all columns, the first one first, so that no row is beaten by a later one.
    order = np.lexsort((rows, *given[rows].T[::-1]))
    rows = rows[order]
    kept = given[rows]
    if given.shape[1] <= 2:
        last = kept[:, -1]
        least = np.minimum.accumulate(last)
        good = np.r_[True, last[1:] < least[:-1]]
        return np.sort(rows[good])

    found = []
    while len(rows):
        first = kept[0]
        found.append(rows[0])
        stays = (kept < first).any(axis=1)
        rows, kept = rows[stays], kept[stays]
    return np.sort(np.array(found, dtype=np.intp))
