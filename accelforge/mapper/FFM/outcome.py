# SPDX-License-Identifier: BSD-3-Clause
"""Outcome of the search of one Einsum."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from accelforge.mapper.FFM.canonical import Backing
from accelforge.mapper.FFM.group import PmappingGroup
from accelforge.mapper.FFM.mapspace import EinsumSpace

__all__ = ["Outcome", "Searched"]


@dataclass(frozen=True)
class Outcome:
    """Outcome of the search of a mapspace.

    Attributes
    ----------
    groups : list of PmappingGroup
        The pmappings.
    templates : int
        Number of templates.
    evaluated, valid : int
        Number of choices of tiles that were evaluated, choices of some of the tiles included, and
        of those that fit.
    complete : bool
        True if everything was looked at.
    bound : tuple of float
        No pmapping that was not looked at has a smaller objective; one number for each.
    low : ndarray, optional
        ``(templates, columns)``: no pmapping of a template has a smaller objective; the columns are
        those of `accelforge._search.METRICS`.
    backings : list of tuple
        Where templates hold shared tensors outermost: pairs of tensor and memory. Each once.
    backing_of : ndarray, optional
        The place of each template's among these.
    """

    groups: list[PmappingGroup]
    templates: int = 0
    valid: int = 0
    evaluated: int = 0
    complete: bool = True
    bound: tuple[float, ...] = ()
    low: NDArray[np.float64] | None = None
    backings: list[Backing] = field(default_factory=list)
    backing_of: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return sum(len(group) for group in self.groups)


@dataclass(frozen=True)
class Searched:
    """The mapspace of an Einsum on one compute, and what its search found.

    Attributes
    ----------
    space : EinsumSpace
        The mapspace.
    outcome : Outcome
        What was found.
    """

    space: EinsumSpace
    outcome: Outcome
