# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of all plots: matplotlib, colors, axes, bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from offchip.lazy import need

__all__ = [
    "AXES_PER_ROW",
    "WIDEST",
    "Bar",
    "add_legend",
    "as_list",
    "clean",
    "colors_for",
    "draw_bars",
    "fit",
    "label_axis",
    "make_axes",
    "make_row",
    "name_all",
    "pyplot",
    "show_percent",
    "space_ticks",
]

# A bar: its name, its group (or nothing), and the heights of its parts.
Bar = tuple[str, str, Mapping[str, float]]

_BAR = 0.8
# Between bars of one group, and between groups.
_STEP, _GAP = 1.0, 0.6
# Width of a character of a name, in inches.
_CHARACTER = 0.1
_LEGEND_ROWS = 14
# Axes beside one another before a new row begins.
AXES_PER_ROW = 6
# Width of axes with many bars, and of a bar from which on its name has room, in inches.
WIDEST, _NAMED = 16.0, 0.2
_ONE_COLOR = "#4c72b0"


def pyplot() -> Any:
    """Return matplotlib.pyplot, or say how to install it."""
    return need("matplotlib.pyplot", "Plotting", "plot")


def as_list(things: Any, kind: type) -> list[Any]:
    """Return one thing, or an iterable of them, as a list.

    Parameters
    ----------
    things : object
        What a user gave.
    kind : type
        Its class, or that of its members.
    """
    single = isinstance(things, kind) or not isinstance(things, Iterable)
    found = [things] if single else list(things)
    for thing in found:
        if not isinstance(thing, kind):
            raise TypeError(f"expected {kind.__name__}, not {type(thing).__name__}")
    if not found:
        raise ValueError(f"there is nothing to plot: no {kind.__name__} was given")
    return found


def name_all(labels: Iterable[str] | None, count: int) -> list[str]:
    """Return a label for each thing; numbers if none are given.

    Parameters
    ----------
    labels : iterable of str, optional
        What a user gave.
    count : int
        How many things there are.
    """
    found = [str(i) for i in range(count)] if labels is None else [str(text) for text in labels]
    if len(found) != count:
        results = f"{count} result" + ("s" if count != 1 else "")
        raise ValueError(
            f"{len(found)} labels for {results}: there is a label for each result of a list of "
            f"them, and rows of one result are numbered; plot [results[0], results[1], ...] to "
            f"name each row"
        )
    return found


def make_axes(
    rows: int, columns: int, width: float, height: float = 4.0, same_y: str = "row"
) -> tuple[Any, Any]:
    """Make a figure with axes side by side.

    Parameters
    ----------
    rows, columns : int
        How many axes.
    width, height : float
        Size of each, in inches.
    same_y : str
        Whose y axes are the same: those of a ``row``, or of ``all``.
    """
    size = columns * width, rows * height
    figure, axes = pyplot().subplots(rows, columns, sharey=same_y, squeeze=False, figsize=size)
    return figure, axes


def make_row(count: int, width: float) -> list[Any]:
    """Make axes of one scale side by side, in several rows if they are many.

    Parameters
    ----------
    count : int
        How many axes.
    width : float
        Of each, in inches.
    """
    columns = min(count, AXES_PER_ROW)
    rows = -(-count // AXES_PER_ROW)
    _, axes = make_axes(rows, columns, width, same_y="all")
    for axis in axes.flat[count:]:
        axis.remove()
    return list(axes.flat[:count])


def label_axis(axis: Any, label: str, unit: str) -> None:
    """Label an axis, and write its numbers with SI prefixes.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
        The x axis or the y axis.
    label : str
        What it shows.
    unit : str
        In what; it stands beside each number.
    """
    ticker = need("matplotlib.ticker", "Plotting", "plot")
    axis.set_label_text(label)
    axis.set_major_formatter(ticker.EngFormatter(unit=unit))
    space_ticks(axis)


def space_ticks(axis: Any) -> None:
    """Leave room between the numbers of a linear x axis.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
        The axis; others stay as they are.
    """
    ticker = need("matplotlib.ticker", "Plotting", "plot")
    if axis.axis_name == "x" and axis.get_scale() == "linear":
        axis.set_major_locator(ticker.MaxNLocator(4, steps=[1, 2, 5, 10]))


def show_percent(axis: Any) -> None:
    """Write the numbers of a y axis as percentages.

    Parameters
    ----------
    axis : matplotlib.axes.Axes
        Whose y axis.
    """
    ticker = need("matplotlib.ticker", "Plotting", "plot")
    axis.yaxis.set_major_formatter(ticker.PercentFormatter(1.0))


def colors_for(names: Sequence[str]) -> dict[str, Any]:
    """Give each name a color, the same one for the same list.

    Parameters
    ----------
    names : sequence of str
        The names.
    """
    if list(names) == [""]:
        return {"": _ONE_COLOR}
    colormaps = need("matplotlib", "Plotting", "plot").colormaps
    if len(names) <= 10:
        return {name: colormaps["tab10"](i) for i, name in enumerate(names)}
    if len(names) <= 20:
        # Dark ones first.
        shades = [*range(0, 20, 2), *range(1, 20, 2)]
        return {name: colormaps["tab20"](shades[i]) for i, name in enumerate(names)}
    wide = colormaps["turbo"]
    return {name: wide(i / (len(names) - 1)) for i, name in enumerate(names)}


def draw_bars(axis: Any, bars: Sequence[Bar], colors: Mapping[str, Any]) -> None:
    """Draw stacked bars, with a gap between groups, whose names stand above.

    Parameters
    ----------
    axis : matplotlib.axes.Axes
        What to draw on. Bars are put to the right of those that `draw_bars` has drawn there.
    bars : sequence of Bar
        The bars; those of a group follow one another.
    colors : mapping
        The color of each part, from the bottom.
    """
    old_places, old_names = getattr(axis, "_forge_bars", ([], []))
    place = old_places[-1] + _STEP + _GAP if old_places else 0.0
    places: list[float] = []
    groups: dict[str, list[float]] = {}
    for number, (_, group, _) in enumerate(bars):
        if number and group != bars[number - 1][1]:
            place += _GAP
        places.append(place)
        groups.setdefault(group, []).append(place)
        place += _STEP

    _stack(axis, places, [heights for _, _, heights in bars], colors)
    above = _name_groups(axis, groups, old_places + places)
    names = [name if above or not group else f"{group}, {name}" for name, group, _ in bars]
    axis._forge_bars = old_places + places, old_names + names
    _name_bars(axis, *axis._forge_bars)
    clean(axis)


def _stack(
    axis: Any,
    places: Sequence[float],
    heights: Sequence[Mapping[str, float]],
    colors: Mapping[str, Any],
) -> None:
    bottoms = dict.fromkeys(places, 0.0)
    for part, color in colors.items():
        # A bar without height would keep the axis from having a margin.
        tall = {
            place: one[part] for place, one in zip(places, heights, strict=True) if one.get(part)
        }
        axis.bar(
            list(tall),
            list(tall.values()),
            _BAR,
            bottom=[bottoms[place] for place in tall],
            color=[color],
            edgecolor="white",
            linewidth=0.4,
        )
        for place, height in tall.items():
            bottoms[place] += height


def _room(axis: Any, places: Sequence[float]) -> float:
    """Return how many characters fit beside one another, from one bar to the next."""
    width = axis.get_window_extent().width / axis.get_figure().dpi
    return float(width / (places[-1] - places[0] + 1.4 * _STEP) / _CHARACTER)


def _name_groups(axis: Any, groups: Mapping[str, list[float]], places: Sequence[float]) -> bool:
    """Write the names of groups above them, if there is room."""
    if not any(groups):
        return True
    room = _room(axis, places)
    if any(len(group) > room * (len(at) + _GAP) for group, at in groups.items()):
        return False
    for group, at in groups.items():
        axis.annotate(
            group,
            (sum(at) / len(at), 1.0),
            (0, 2),
            xycoords=axis.get_xaxis_transform(),
            textcoords="offset points",
            ha="center",
            va="bottom",
            color="#555555",
        )
    axis.set_title(axis.get_title(), pad=20)
    return True


def _name_bars(axis: Any, places: list[float], names: list[str]) -> None:
    if not places:
        return
    room = _room(axis, places)
    # Of bars that are too thin, each so many have a name.
    every = max(1, math.ceil(_NAMED / (room * _CHARACTER)))
    axis.set_xticks(places[::every], labels=names[::every])
    if max(map(len, names)) + 1 > room * every:
        for text in axis.get_xticklabels():
            text.set(rotation=45, ha="right", rotation_mode="anchor")
    axis.set_xlim(places[0] - 0.7 * _STEP, places[-1] + 0.7 * _STEP)


def clean(axis: Any) -> None:
    """Take away the frame, and draw light lines behind the data.

    Parameters
    ----------
    axis : matplotlib.axes.Axes
        What to change.
    """
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", color="#888888", alpha=0.25, linewidth=0.6)
    axis.set_axisbelow(True)


def fit(figure: Any) -> None:
    """Give all parts their room; a legend beside the axes makes the figure wider.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to change.
    """
    legends = [axis.get_legend() for axis in figure.axes]
    widths = [legend.get_window_extent().width for legend in legends if legend is not None]
    figure.set_figwidth(figure.get_figwidth() + max(widths, default=0.0) / figure.dpi)
    figure.tight_layout()


def add_legend(axis: Any, parts: Sequence[str], colors: Mapping[str, Any], outside: bool) -> None:
    """Add a legend of colors, unless there is one color only.

    Parameters
    ----------
    axis : matplotlib.axes.Axes
        Where.
    parts : sequence of str
        What is drawn; the last one is on top of the bars and of the legend.
    colors : mapping
        The color of each part.
    outside : bool
        Whether it stands to the right of the axes.
    """
    shown = [part for part in parts if part]
    if not shown:
        return
    patch: Callable[..., Any] = need("matplotlib.patches", "Plotting", "plot").Patch
    handles = [patch(facecolor=colors[part], label=part) for part in reversed(shown)]
    where = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)} if outside else {"loc": "best"}
    columns = -(-len(handles) // _LEGEND_ROWS)
    axis.legend(handles=handles, frameon=not outside, framealpha=0.9, ncols=columns, **where)
