# SPDX-License-Identifier: BSD-3-Clause
"""How far a search is: the best so far, and the bound on what is left."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from accelforge._problem.totals import UNITS
from accelforge._search import METRICS
from accelforge.util.progress import Progress
from accelforge.util.units import with_unit

__all__ = ["follow", "standing_text"]

_PRODUCT = "energy_delay_product"
_ENERGY, _LATENCY = METRICS.index("energy"), METRICS.index("latency")


def standing_text(
    best: Sequence[float],
    bound: Sequence[float],
    compared: Sequence[bool],
    product: float | None = None,
) -> str:
    """Say what was found, and what nothing that is left is better than.

    Parameters
    ----------
    best, bound : sequence of float
        In the order of ``METRICS``; infinite if nothing was found, or if nothing is left.
    compared : sequence of bool
        Metrics to name.
    product : float, optional
        The least energy times latency, if that is minimised.
    """
    rows = [
        (name, best[number], bound[number])
        for number, name in enumerate(METRICS)
        if compared[number]
    ]
    if product is not None:
        rows.append((_PRODUCT, product, bound[_ENERGY] * bound[_LATENCY]))
    parts = []
    for name, found, least in rows:
        if math.isinf(found):
            continue
        text = f"{name.replace('_', ' ')} {with_unit(found, UNITS[name])}"
        if 0 < least < found:
            text += f", at least {with_unit(least, UNITS[name])}"
        parts.append(text)
    return "; ".join(parts)


def follow(
    progress: Progress, before: float, work: float, metrics: Sequence[str] | None
) -> Callable[[dict[str, Any]], object] | None:
    """Return what shows how far a search is; None where nobody sees it.

    Parameters
    ----------
    progress : Progress
        The bar.
    before, work : float
        Work that was done before the search, and that of the search.
    metrics : sequence of str, optional
        If the search is all there is: what it minimises, which stands behind the bar.
    """
    if not progress.shown:
        return None
    compared = [metrics is not None and name in metrics for name in METRICS]

    def show(state: dict[str, Any]) -> None:
        share = state["done"] / state["templates"] if state["templates"] else 0.0
        note = None
        if metrics is not None:
            note = standing_text(state["best"], state["bound"], compared)
        progress.reach(before + work * share, note)

    return show
