# SPDX-License-Identifier: BSD-3-Clause
"""Plots of specifications: their area."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from accelforge.frontend.spec import Spec
from accelforge.plotting.figures import (
    Bar,
    add_legend,
    as_list,
    colors_for,
    draw_bars,
    fit,
    make_axes,
    name_all,
)
from offchip.lazy import need

__all__ = ["plot_area"]

_SQUARE_MILLIMETRES = 1e6


def plot_area(
    specs: Spec | Iterable[Spec], labels: Iterable[str] | None = None, ax: Any = None
) -> tuple[Any, Any]:
    """Plot the area of specifications, a bar each, made up of components.

    Parameters
    ----------
    specs : Spec or iterable of Spec
        What ``calculate_component_costs()`` returned.
    labels : iterable of str, optional
        A name for each of `specs`.
    ax : matplotlib.axes.Axes, optional
        Where to draw, instead of a new figure.

    Returns
    -------
    figure, axes
    """
    found = as_list(specs, Spec)
    given = labels if labels is not None else [f"design {i}" for i in range(len(found))]
    areas = [spec.arch.per_component_total_area for spec in found]
    bars: list[Bar] = [
        (label, "", area) for label, area in zip(name_all(given, len(found)), areas, strict=True)
    ]
    names = list(dict.fromkeys(name for area in areas for name, value in area.items() if value))
    colors = colors_for(names)

    axis = ax if ax is not None else make_axes(1, 1, max(3.2, 1.2 + 0.6 * len(bars)))[1][0, 0]
    draw_bars(axis, bars, colors)
    ticker = need("matplotlib.ticker", "Plotting", "plot")
    axis.yaxis.set_major_formatter(
        ticker.FuncFormatter(lambda value, place: f"{value * _SQUARE_MILLIMETRES:g}")
    )
    axis.set_ylabel("Area (mm²)")
    add_legend(axis, names, colors, outside=ax is None)
    figure = axis.get_figure()
    if ax is None:
        fit(figure)
    return figure, axis
