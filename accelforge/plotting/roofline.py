# SPDX-License-Identifier: BSD-3-Clause
"""Plots of rooflines."""

from __future__ import annotations

import math
from typing import Any

from accelforge.plotting.figures import clean, fit, label_axis, make_axes
from accelforge.util.units import with_unit

__all__ = ["plot_roofline"]


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
