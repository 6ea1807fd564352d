# SPDX-License-Identifier: BSD-3-Clause
"""Plots of explorations: two objectives with their front, and all parameters beside one another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from accelforge.exploration.objectives import unit_of
from accelforge.exploration.result import Exploration
from accelforge.plotting.figures import clean, fit, make_axes, space_ticks
from accelforge.util.units import with_unit
from offchip.lazy import need

__all__ = ["plot_front", "plot_parallel_coordinates"]

# Points that are drawn, so that pictures stay small, and those that have a shape of their own in a
# picture of shapes (SVG, PDF).
_MOST_POINTS, _MOST_SHAPES = 20_000, 2000
_MOST_LINES = 400
# So many points are drawn as large as those of the front.
_FEW = 200
_OTHERS, _FRONT = "#b8c4d6", "#c44e52"
# Numbers that span more than this have logarithmic axes.
_WIDE = 30.0


def plot_front(
    exploration: Exploration, x: str | None = None, y: str | None = None, ax: Any = None
) -> tuple[Any, Any]:
    """Plot two objectives of all points, and the front of these two.

    Parameters
    ----------
    exploration : Exploration
        What was found.
    x, y : str, optional
        The objectives; without them, the first two.
    ax : matplotlib.axes.Axes, optional
        What to draw on.

    Returns
    -------
    figure, axes
    """
    _check(exploration)
    names = list(exploration.objectives)
    if len(names) < 2:
        raise ValueError("a front needs two objectives, and one was explored")
    chosen = [x or next(n for n in names if n != y), ""]
    chosen[1] = y or next(n for n in names if n != chosen[0])
    front = exploration.front(chosen)
    if not front:
        raise ValueError(f"there is no valid point to plot: {exploration.reason}")
    costs = [exploration.objectives[name] for name in chosen]
    shown = _some(np.flatnonzero(~np.isnan(costs[0] + costs[1])), _MOST_POINTS)

    if ax is None:
        figure, axes = make_axes(1, 1, 5.5)
        axis = axes[0, 0]
    else:
        figure, axis = ax.get_figure(), ax
    axis.scatter(
        costs[0][shown], costs[1][shown], 6 if len(shown) > _FEW else 16,
        color=_OTHERS, linewidths=0, label="points", rasterized=len(shown) > _MOST_SHAPES,
    )  # fmt: skip
    ends = [costs[0][front], costs[1][front]]
    axis.plot(*ends, color=_FRONT, drawstyle="steps-post", linewidth=1)
    few = "o" if len(front) <= 100 else ","
    axis.plot(*ends, few, color=_FRONT, markersize=4, label=f"front ({len(front)})")
    for dimension, name, numbers in zip("xy", chosen, costs, strict=True):
        _scale(axis, dimension, name, numbers[shown])
    clean(axis)
    axis.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    if ax is None:
        fit(figure)
    return figure, axis


def _check(exploration: Any) -> None:
    if not isinstance(exploration, Exploration):
        raise TypeError(
            f"expected what spec.explore() returned, not {type(exploration).__name__}; plots of "
            f"Mappings are in accelforge.plotting.mappings"
        )


def _some(rows: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Take some rows, spread over all."""
    return rows[:: -(-len(rows) // most)] if len(rows) > most else rows


def _scale(axis: Any, dimension: str, name: str, numbers: NDArray[np.float64]) -> None:
    """Label an axis; numbers that span much are logarithmic."""
    ticker = need("matplotlib.ticker", "Plotting", "plot")
    part = axis.xaxis if dimension == "x" else axis.yaxis
    finite = numbers[np.isfinite(numbers)]
    if len(finite) and finite.min() > 0 and finite.max() / finite.min() > _WIDE:
        axis.set(**{f"{dimension}scale": "log"})
    label, unit = _label(name), unit_of(name)
    if name.startswith("usage"):
        part.set_major_formatter(ticker.PercentFormatter(1.0))
    elif unit == "m²":
        label += " (m²)"
    else:
        part.set_major_formatter(ticker.EngFormatter(unit=unit))
        if unit and part.get_scale() == "log":
            part.set_minor_formatter(ticker.NullFormatter())
    part.set_label_text(label)
    space_ticks(part)


def _label(name: str) -> str:
    return name[0].upper() + name[1:].replace("_", " ")


def plot_parallel_coordinates(
    exploration: Exploration, color: str | None = None, front_only: bool = True
) -> tuple[Any, Any]:
    """Plot each point as a line across all parameters and objectives.

    Parameters
    ----------
    exploration : Exploration
        What was found.
    color : str, optional
        The objective that colors lines; without it, the first one.
    front_only : bool
        Whether to draw the points of the front only; otherwise others are drawn behind it.

    Returns
    -------
    figure, axes
    """
    _check(exploration)
    front = exploration.front()
    if not front:
        raise ValueError(f"there is no valid point to plot: {exploration.reason}")
    color = color or next(iter(exploration.objectives))
    if color not in exploration.objectives:
        known = ", ".join(exploration.objectives)
        raise KeyError(f"{color!r} was not explored; there are: {known}")
    behind = np.empty(0, dtype=np.intp)
    if not front_only:
        behind = _some(np.flatnonzero(exploration.valid), _MOST_LINES)
    rows = _some(np.array(front), _MOST_LINES)
    every = np.concatenate([rows, behind])

    columns: list[tuple[str, Any]] = [
        *exploration.parameters.items(),
        *exploration.objectives.items(),
    ]
    figure, axes = make_axes(1, 1, max(1.7 * len(columns), 4.5))
    axis = axes[0, 0]
    heights = []
    box = {"facecolor": "white", "alpha": 0.75, "pad": 0.5, "linewidth": 0}
    for place, (name, values) in enumerate(columns):
        height, ticks = _heights([values[i] for i in every.tolist()], name)
        heights.append(height)
        axis.axvline(place, color="#555555", linewidth=0.8, zorder=1)
        for at, text in ticks:
            axis.annotate(
                text, (place, at), (3, 0), textcoords="offset points", fontsize="small",
                va="center", zorder=4, bbox=box,
            )  # fmt: skip
    lines = np.array(heights).T
    for line in lines[len(rows) :]:
        axis.plot(line, color=_OTHERS, linewidth=0.5, alpha=0.5, zorder=2)
    place = list(exploration.objectives).index(color) + len(exploration.parameters)
    shades = need("matplotlib", "Plotting", "plot").colormaps["viridis"]
    for line in lines[: len(rows)]:
        axis.plot(line, color=shades(0.9 * line[place]), linewidth=1, alpha=0.8, zorder=3)
    names = [name.replace("arch.", "", 1).replace("actions.", "") for name, _ in columns]
    axis.set_xticks(
        range(len(columns)),
        [name.replace(".", "\n").replace("usage of ", "usage of\n") for name in names],
    )
    axis.set_yticks([])
    axis.set_xlim(-0.2, len(columns) - 0.3)
    axis.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axis.set_title(f"{len(rows)} points of the front; color: {color.replace('_', ' ')}", loc="left")
    fit(figure)
    return figure, axis


def _heights(values: list[Any], name: str) -> tuple[NDArray[np.float64], list[tuple[float, str]]]:
    """Return places from 0 to 1, and the texts of some places."""
    if any(isinstance(value, str) for value in values):
        known = sorted(set(map(str, values)))
        middle = 1.0 / max(len(known) - 1, 1)
        places = {text: i * middle for i, text in enumerate(known)}
        return np.array([places[str(value)] for value in values]), [
            (b, a) for a, b in places.items()
        ]

    numbers = np.array(values, dtype=np.float64)
    low, high = float(numbers.min()), float(numbers.max())
    if not low < high < np.inf:
        return np.where(numbers == low, 0.5, 1.0), [(0.5, _text(low, name))]
    if low > 0 and high / low > _WIDE:
        middle = float(np.sqrt(low * high))
        heights = np.log(numbers / low) / np.log(high / low)
    else:
        middle = (low + high) / 2
        heights = (numbers - low) / (high - low)
    return heights, [(0.0, _text(low, name)), (0.5, _text(middle, name)), (1.0, _text(high, name))]


def _text(number: float, name: str) -> str:
    if name.startswith("usage"):
        return f"{number:.1%}"
    unit = unit_of(name)
    return f"{number:.3g} m²" if unit == "m²" else with_unit(number, unit)
