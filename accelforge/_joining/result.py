# SPDX-License-Identifier: BSD-3-Clause
"""Result of a join."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Join"]


@dataclass(frozen=True)
class Join:
    """The best mappings of a workload: none is worse than another in all metrics.

    Parameters
    ----------
    einsums : tuple of str
        Names, in the order of execution.
    columns : tuple of str
        What `objectives` has.
    objectives : ndarray
        ``(rows, columns)``.
    groups, rows : ndarray
        ``(rows, Einsums)``: the pmapping of each Einsum, as the number of its group and the number
        of its row in the group.
    usage : dict
        Memory to the largest fraction of its size that is held at any time, per row. Memories that
        can hold everything at once are left out unless the join was told to track all.
    complete : bool
        False if a limit was reached: then there may be better mappings.
    bound : ndarray
        No mapping has less of a column.
    edp_bound : float
        No mapping has a smaller energy-delay product; infinity if it is not a metric.
    joined : int
        Number of pairs of partial mappings that were looked at.
    """

    einsums: tuple[str, ...]
    columns: tuple[str, ...]
    objectives: NDArray[np.float64]
    groups: NDArray[np.uint32]
    rows: NDArray[np.uint32]
    usage: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    complete: bool = True
    bound: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    edp_bound: float = float("inf")
    joined: int = 0

    def __len__(self) -> int:
        return len(self.objectives)

    def picks(self, row: int) -> list[tuple[int, int]]:
        """Give the group and the row in it of each Einsum."""
        return list(zip(self.groups[row].tolist(), self.rows[row].tolist(), strict=True))
