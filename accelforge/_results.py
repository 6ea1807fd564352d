# SPDX-License-Identifier: BSD-3-Clause
"""The results of evaluations: single ones, batches, and why a mapping is invalid."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Batch", "Column", "Failure", "Result"]

Column = tuple[str | None, ...]


@dataclass(frozen=True)
class Failure:
    """Why a mapping is invalid.

    Attributes
    ----------
    status : str
        ``capacity_exceeded``, ``joint_capacity_exceeded``, ``fanout_exceeded``,
        ``no_unit_tile``, ``loops_differ``, ``bad_number`` or ``overflow``.
    reason : str
        A sentence with the reason and the remedy.
    einsum, component, dimension, variable : str or None
        The names that it concerns.
    needed, available : float
        Bits of a memory (for fused Einsums: shares of it) or instances of a fan-out; for
        ``overflow``, `needed` is the largest cost.
    """

    status: str
    reason: str
    einsum: str | None = None
    component: str | None = None
    dimension: str | None = None
    variable: str | None = None
    needed: float = 0.0
    available: float = 0.0


@dataclass(frozen=True)
class Result:
    """One evaluated mapping.

    Attributes
    ----------
    columns : list of tuple
        What each value is.
    numbers : array.array
        One number per column; NaN if the mapping is invalid.
    failure : Failure or None
        Why it is invalid.
    """

    columns: list[Column]
    numbers: array[float]
    failure: Failure | None

    @property
    def values(self) -> NDArray[np.float64]:
        """The numbers as an array of numpy, which a single evaluation does without."""
        import numpy as np

        return np.frombuffer(self.numbers)

    @property
    def valid(self) -> bool:
        """True if the mapping can be executed."""
        return self.failure is None

    @property
    def reason(self) -> str:
        """Why not, as a sentence; empty if it can."""
        return "" if self.failure is None else self.failure.reason

    def as_dict(self) -> dict[Column, float]:
        """Return the values by column."""
        return dict(zip(self.columns, self.numbers, strict=True))


@dataclass(frozen=True)
class Batch:
    """Many evaluated mappings.

    Attributes
    ----------
    columns : list of tuple
        What each column of `values` is.
    values : numpy.ndarray
        One row per mapping; NaN in invalid ones.
    status : numpy.ndarray
        One uint8 per row: 0 is valid.
    """

    columns: list[Column]
    values: NDArray[np.float64]
    status: NDArray[np.uint8]
    explain: Callable[[int], Failure | None]

    def __len__(self) -> int:
        return len(self.status)

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Mask of the rows that are valid."""
        mask: NDArray[np.bool_] = self.status == 0
        return mask

    def failure(self, row: int) -> Failure | None:
        """Return why a row is invalid; None if it is valid."""
        return self.explain(row)

    def column(self, *column: Any) -> NDArray[np.float64]:
        """Return one column, for example ``batch.column("total", "energy")``."""
        numbers: NDArray[np.float64] = self.values[:, self.columns.index(column)]
        return numbers
