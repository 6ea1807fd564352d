# SPDX-License-Identifier: BSD-3-Clause
"""Known mappings of a workload, which the pmappings of its Einsums must compete with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Incumbents"]


@dataclass(frozen=True)
class Incumbents:
    """Known mappings, for the search of one Einsum; csrc/accelforge/search/incumbents.h has more.

    Columns are those of `accelforge._search.METRICS`.

    Attributes
    ----------
    points : ndarray
        ``(mappings, columns)``: what the mappings cost.
    rest : ndarray
        What the other Einsums cost at least.
    compared : tuple of bool
        The columns that count.
    product : bool
        Whether energy times latency counts, too.
    low : ndarray, optional
        ``(templates, columns)``: what pmappings of each template cost at least.
    rests : ndarray, optional
        The same shape: what the other Einsums cost at least beside each template.
    """

    points: NDArray[np.float64]
    rest: NDArray[np.float64]
    compared: tuple[bool, ...]
    product: bool = False
    low: NDArray[np.float64] | None = None
    rests: NDArray[np.float64] | None = None
