# SPDX-License-Identifier: BSD-3-Clause
"""Plots of rooflines."""

from __future__ import annotations

import math
from typing import Any

from accelforge.mapper.FFM.mappings import Mappings
from accelforge.plotting.figures import clean, colors_for, fit, label_axis, make_axes
from accelforge.util.units import with_unit

__all__ = ["plot_result_roofline", "plot_roofline"]


def plot_roofline(
    bandwidth: float,
    computational_throughput: float,
    min_computational_intensity: float = 0,
    max_computational_intensity: float | None = None,
) -> tuple[Any, Any]:
    """Plot how fast a machine can be, by how much is computed with what is moved.

    Parameters
    ----------
    bandwidth : float
        What its memory moves per second.
    computational_throughput : float
        How many operations it computes per second.
    min_computational_intensity, max_computational_intensity : float
        Ends of the x axis: operations per moved unit. Without the latter, it is twice the
        intensity at which both limits meet. Axes are logarithmic if the former is not 0.

    Returns
    -------
    figure, axes
    """
    for name, value in {"bandwidth": bandwidth, "throughput": computational_throughput}.items():
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(f"{name} is a positive number, not {value}")
    ridge = computational_throughput / bandwidth
    low = min_computational_intensity
    high = 2 * ridge if max_computational_intensity is None else max_computational_intensity
    if not 0 <= low < high:
        raise ValueError(f"intensities must be a range of positive numbers, not {low} to {high}")

    xs = sorted({low, min(max(ridge, low), high), high})
    figure, axes = make_axes(1, 1, 4.5)
    axis = axes[0, 0]
    axis.plot(xs, [min(x * bandwidth, computational_throughput) for x in xs], color="black")
    if low < ridge < high:
        axis.axvline(ridge, color="#888888", linestyle=":", linewidth=1)
        axis.annotate(
            with_unit(ridge, ""), (ridge, 0), (3, 4), xycoords=axis.get_xaxis_transform(),
            textcoords="offset points", color="#555555",
        )  # fmt: skip
    if low > 0:
        axis.set_xscale("log")
        axis.set_yscale("log")
    clean(axis)
    axis.set_xlabel("Computational intensity (operations per unit moved)")
    label_axis(axis.yaxis, "Throughput (operations per second)", "")
    fit(figure)
    return figure, axis


def plot_result_roofline(mappings: Mappings, index: int | None = None) -> tuple[Any, Any]:
    """Plot how fast a mapping computes below the roofs of all its memories.

    Each memory has a roof of its color, and a point: the computations that the mapping does for
    each action of the memory, and per second. A point on its roof says that the memory limits it.

    Parameters
    ----------
    mappings : Mappings
        The results.
    index : int, optional
        The row; it is needed if there are several.

    Returns
    -------
    figure, axes
    """
    if index is None and len(mappings) != 1:
        raise ValueError(
            f"there are {len(mappings)} mappings, and a roofline shows one: give index="
        )
    row = mappings if index is None else mappings[index]
    counts, busy, latency = row.actions(), row.latency(per_component=True), row.latency()
    computes = {c: n for (c, action), n in counts.items() if action == "compute"}
    moved: dict[str, float] = {}
    for (component, action), count in counts.items():
        if action != "compute":
            moved[component] = moved.get(component, 0.0) + count
    moved = {c: n for c, n in moved.items() if n > 0 and busy.get(c, 0.0) > 0}
    total, waiting = sum(computes.values()), max(busy.get(c, 0.0) for c in computes)
    if not (total and waiting and latency and moved):
        raise ValueError("a roofline needs computations and memories that take time")

    rate = total / latency
    places = {c: total / n for c, n in moved.items()}
    # The points, and where roofs meet the computations' own.
    shown = [*places.values(), *(places[c] * busy[c] / waiting for c in moved)]
    low, high = min(shown) / 4, 4 * max(shown)
    figure, axes = make_axes(1, 1, 5.5)
    axis = axes[0, 0]
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.plot([low, high], [total / waiting] * 2, color="black", label=" and ".join(computes))
    for component, color in colors_for(list(moved)).items():
        bandwidth = moved[component] / busy[component]
        ridge = total / waiting / bandwidth
        ends = [low, min(max(ridge, low), high)]
        axis.plot(ends, [x * bandwidth for x in ends], color=color)
        axis.plot([places[component]], [rate], "o", color=color, label=component)
    clean(axis)
    axis.set_xlabel("Computations per action of the memory")
    label_axis(axis.yaxis, "Computations per second", "")
    axis.legend(frameon=False, loc="lower right")
    fit(figure)
    return figure, axis
