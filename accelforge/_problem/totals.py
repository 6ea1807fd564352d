# SPDX-License-Identifier: BSD-3-Clause
"""The totals of a result: what a metric is called, its unit, and where it may be used.

Each has a member in `accelforge.Metrics`, whose name is the same in capital letters.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["OBJECTIVES", "TOTALS", "UNITS", "Total"]


class Total(NamedTuple):
    """A total.

    Attributes
    ----------
    name, unit : str
        As in results.
    is_objective : bool
        Whether a search can minimise it.
    column : int
        Place in tables of results; -1: after the columns of the Einsums.
    parts : tuple of str
        Totals that it is made of, which are reported with it.
    """

    name: str
    unit: str
    is_objective: bool
    column: int
    parts: tuple[str, ...] = ()


# In the order of FORGE_TOTALS in csrc/accelforge/model/model.h; a test compares them.
TOTALS = (
    Total("energy", "J", True, 1, ("dynamic_energy", "leak_energy")),
    Total("latency", "s", True, 0),
    Total("dynamic_energy", "J", True, 3),
    Total("leak_energy", "J", True, 2),
    Total("energy_delay_product", "J s", False, -1, ("energy", "latency")),
)

UNITS = {total.name: total.unit for total in TOTALS}
OBJECTIVES = [total.name for total in TOTALS if total.is_objective]
