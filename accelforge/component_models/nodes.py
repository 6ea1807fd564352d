# SPDX-License-Identifier: BSD-3-Clause
"""Numbers between the rows of a table, and at nodes that no table has."""

from __future__ import annotations

import math
from collections.abc import Mapping

from accelforge.component_models import tables

__all__ = ["along", "at_node", "cell_area", "clock", "is_scaled", "leakage", "volts"]

# Relative, as 90 * 1e-9 is a little more than 90e-9.
_SAME = 1e-9


def along(
    table: Mapping[int, float] | Mapping[float, float], x: float, below: float | None = None
) -> float:
    """Interpolate as straight lines between logarithms, and go on beyond the first and last row.

    Parameters
    ----------
    table : dict
        At least two rows of positive numbers.
    x : float
        Where.
    below : float, optional
        Exponent below the first row; without it, that of the first two.
    """
    rows: list[tuple[float, float]] = sorted(table.items())
    first = rows[0]
    if x < first[0] and below is not None:
        return float(first[1] * (x / first[0]) ** below)
    last = next((n for n in range(1, len(rows) - 1) if x <= rows[n][0]), len(rows) - 1)
    (x0, y0), (x1, y1) = rows[last - 1], rows[last]
    return float(y0 * (y1 / y0) ** (math.log(x / x0) / math.log(x1 / x0)))


def is_scaled(node: float) -> bool:
    """Return whether a node is outside of the tables of energies."""
    high, low = tables.NODES
    return node > high * (1 + _SAME) or node < low * (1 - _SAME)


def volts(node: float) -> float:
    """Return the supply voltage, in V; smaller nodes than the table's have that of the last."""
    rows = sorted(tables.VOLTS)
    return along(tables.VOLTS, min(max(node, rows[0]), rows[-1]))


def at_node(pair: tuple[float, float], node: float) -> float:
    """Return an energy at a node.

    Between the two nodes of the table it is interpolated; beyond, capacitances shrink with the
    node, and energies with them and the square of the voltage.

    Parameters
    ----------
    pair : tuple of float
        The energies at ``tables.NODES``.
    node : float
        In m.
    """
    high, low = tables.NODES
    if not is_scaled(node):
        return along({high: pair[0], low: pair[1]}, node)
    known, energy = (high, pair[0]) if node > high else (low, pair[1])
    return energy * node / known * (volts(node) / volts(known)) ** 2


def cell_area(node: float) -> float:
    """Return the area of an SRAM cell, in m^2; beyond the table it goes with the node's square."""
    rows = sorted(tables.CELLS)
    known = min(max(node, rows[0]), rows[-1])
    return along(tables.CELLS, known) * 1e-12 * (node / known) ** 2


def leakage(kind: str, node: float, area: float) -> float:
    """Return the power that a circuit leaks, in W.

    Parameters
    ----------
    kind : str
        ``memory`` or ``logic``.
    node : float
        In m.
    area : float
        In m^2. For each SRAM cell of it, three transistors leak that are 1.5 nodes wide.
    """
    return area / cell_area(node) * 3 * 1.5 * node * tables.LEAKAGE[kind] * volts(node)


def clock(node: float) -> float:
    """Return the cycles per second of a synthesized design."""
    return 1 / (tables.FO4_PER_CYCLE * tables.FO4 * node)
