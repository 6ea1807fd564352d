# SPDX-License-Identifier: BSD-3-Clause
"""Rows that no other row beats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelforge._join import Front

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
    if not given.shape[1]:
        return np.arange(len(given[:1]))
    return Front(given.shape[1]).add(given)
