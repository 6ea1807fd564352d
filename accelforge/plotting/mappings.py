# SPDX-License-Identifier: BSD-3-Clause
"""Plots of results: bars of energy, latency, actions and use of memory.

They return the figure and its axes. Nothing is shown and no file is written: that is
``matplotlib.pyplot.show()`` and ``figure.savefig()``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from accelforge._problem.totals import UNITS
from accelforge.mapper.FFM.breakdown import Breakdown
from accelforge.mapper.FFM.mappings import Mappings
from accelforge.model.columns import SEPARATOR
from accelforge.plotting.figures import (
    AXES_PER_ROW,
    WIDEST,
    Bar,
    add_legend,
    as_list,
    clean,
    colors_for,
    draw_bars,
    fit,
    label_axis,
    make_axes,
    make_row,
    name_all,
    show_percent,
)

__all__ = [
    "plot_action_breakdown",
    "plot_energy_breakdown",
    "plot_energy_comparison",
    "plot_front",
    "plot_latency_breakdown",
    "plot_latency_comparison",
    "plot_memory_usage_breakdown",
]

_CATEGORIES = ("einsum", "component", "tensor", "action")


def plot_energy_breakdown(
    mappings: Mappings | Iterable[Mappings],
    separate_by: Sequence[str],
    stack_by: Sequence[str] | None = None,
    labels: Iterable[str] | None = None,
    ax: Any = None,
    hide_zeros: bool = False,
) -> tuple[Any, Any]:
    """Plot what the energy is spent on.

    Parameters
    ----------
    mappings : Mappings or iterable of Mappings
        Results. Each of their rows gets axes of its own.
    separate_by : sequence of str
        Which bars there are: one or more of ``einsum``, ``component``, ``tensor``, ``action``.
    stack_by : sequence of str, optional
        Of what bars are made up, in the same words.
    labels : iterable of str, optional
        A name for each of `mappings`.
    ax : matplotlib.axes.Axes, optional
        Where to draw all rows, side by side, instead of a new figure.
    hide_zeros : bool
        Whether bars without height are left out.

    Returns
    -------
    figure, list of axes
    """
    found = as_list(mappings, Mappings)
    parts = [one._breakdown("energy", True) for one in found]
    axes = _breakdown(found, parts, separate_by, stack_by, labels, ax, hide_zeros)
    return _finish(axes, _label("energy"), UNITS["energy"], ax)


def plot_action_breakdown(
    mappings: Mappings | Iterable[Mappings],
    separate_by: Sequence[str],
    stack_by: Sequence[str] | None = None,
    labels: Iterable[str] | None = None,
    ax: Any = None,
    hide_zeros: bool = False,
) -> tuple[Any, Any]:
    """Plot how many actions there are.

    Parameters
    ----------
    mappings : Mappings or iterable of Mappings
        Results. Each of their rows gets axes of its own.
    separate_by : sequence of str
        Which bars there are: one or more of ``einsum``, ``component``, ``tensor``, ``action``.
    stack_by : sequence of str, optional
        Of what bars are made up, in the same words; of actions if nothing is said.
    labels : iterable of str, optional
        A name for each of `mappings`.
    ax : matplotlib.axes.Axes, optional
        Where to draw all rows, side by side, instead of a new figure.
    hide_zeros : bool
        Whether bars without height are left out.

    Returns
    -------
    figure, list of axes
    """
    found = as_list(mappings, Mappings)
    parts = [one._breakdown("action", False) for one in found]
    stack = ["action"] if stack_by is None else stack_by
    axes = _breakdown(found, parts, separate_by, stack, labels, ax, hide_zeros)
    return _finish(axes, "Actions", "", ax)


def plot_latency_breakdown(
    mappings: Mappings | Iterable[Mappings],
    separate_by: Sequence[str],
    stack_by: Sequence[str] | None = None,
    labels: Iterable[str] | None = None,
    ax: Any = None,
    hide_zeros: bool = False,
) -> tuple[Any, Any]:
    """Plot how long components are busy; they work at the same time.

    Parameters
    ----------
    mappings : Mappings or iterable of Mappings
        Results. Each of their rows gets axes of its own.
    separate_by : sequence of str
        Which bars there are: ``einsum``, ``component`` or both.
    stack_by : sequence of str, optional
        Of what bars are made up, in the same words.
    labels : iterable of str, optional
        A name for each of `mappings`.
    ax : matplotlib.axes.Axes, optional
        Where to draw all rows, side by side, instead of a new figure.
    hide_zeros : bool
        Whether bars without height are left out.

    Returns
    -------
    figure, list of axes
    """
    found = as_list(mappings, Mappings)
    parts = [
        {(*key, None, "latency"): rows for key, rows in one._latencies().items()} for one in found
    ]
    axes = _breakdown(found, parts, separate_by, stack_by, labels, ax, hide_zeros)
    return _finish(axes, _label("latency"), UNITS["latency"], ax)


def plot_energy_comparison(
    mappings: Mappings | Iterable[Mappings], labels: Iterable[str] | None = None
) -> tuple[Any, Any]:
    """Plot the total energy of mappings, a bar each.

    Parameters
    ----------
    mappings : Mappings or iterable of Mappings
        Results.
    labels : iterable of str, optional
        A name for each of `mappings`.

    Returns
    -------
    figure, axes
    """
    return _comparison(mappings, labels, "energy")


def plot_latency_comparison(
    mappings: Mappings | Iterable[Mappings], labels: Iterable[str] | None = None
) -> tuple[Any, Any]:
    """Plot the total latency of mappings, a bar each.

    Parameters
    ----------
    mappings : Mappings or iterable of Mappings
        Results.
    labels : iterable of str, optional
        A name for each of `mappings`.

    Returns
    -------
    figure, axes
    """
    return _comparison(mappings, labels, "latency")


def plot_front(
    mappings: Mappings | Iterable[Mappings],
    x: str = "latency",
    y: str = "energy",
    labels: Iterable[str] | None = None,
) -> tuple[Any, Any]:
    """Plot mappings by two totals, a point each, as a search for several metrics finds them.

    Parameters
    ----------
    mappings : Mappings or iterable of Mappings
        Results. The points of each have a color.
    x, y : str
        The totals: ``energy``, ``latency``, ``dynamic_energy``, ``leak_energy`` or
        ``energy_delay_product``.
    labels : iterable of str, optional
        A name for each of `mappings`.

    Returns
    -------
    figure, axes
    """
    found = as_list(mappings, Mappings)
    names = _names(found, labels)
    colors = colors_for(names)
    figure, axes = make_axes(1, 1, 4.5)
    axis = axes[0, 0]
    for name, one in zip(names, found, strict=True):
        axis.plot(_total(one, x), _total(one, y), "o", color=colors[name], markersize=4)
    clean(axis)
    label_axis(axis.xaxis, _label(x), UNITS[x])
    label_axis(axis.yaxis, _label(y), UNITS[y])
    add_legend(axis, names, colors, outside=True)
    fit(figure)
    return figure, axis


def plot_memory_usage_breakdown(
    mappings: Mappings | Iterable[Mappings],
    memory_levels: Iterable[str] | None = None,
    labels: Iterable[str] | None = None,
) -> tuple[Any, Any]:
    """Plot which tensors take how much of memories, for each Einsum.

    Parameters
    ----------
    mappings : Mappings or iterable of Mappings
        Results. Each of their rows is a column of axes.
    memory_levels : iterable of str, optional
        The memories, each a row of axes; without it, all that are used.
    labels : iterable of str, optional
        A name for each of `mappings`.

    Returns
    -------
    figure, two-dimensional array of axes
    """
    found = as_list(mappings, Mappings)
    titles = _titles(found, labels)
    usage = [_usage(one) for one in found]
    levels = _levels(usage, memory_levels)
    tensors = list(
        dict.fromkeys(
            tensor
            for one in usage
            for (memory, _, tensor), rows in one.items()
            if memory in levels and any(rows)
        )
    )
    colors = colors_for(tensors)

    width = max(3.2, 1.2 + 0.36 * max(len(one.einsum_names) for one in found))
    figure, axes = make_axes(len(levels), len(titles), width, 3.0)
    for column, (number, row, title) in enumerate(titles):
        for line, level in enumerate(levels):
            bars: dict[str, dict[str, float]] = {}
            for (memory, einsum, tensor), rows in usage[number].items():
                if memory == level:
                    bars.setdefault(einsum, {})[tensor] = rows[row]
            axis = axes[line, column]
            draw_bars(axis, [(name, "", parts) for name, parts in bars.items()], colors)
            show_percent(axis)
            axis.set_title(f"{title}: {level}" if title else level)
            if column == 0:
                axis.set_ylabel("Share of the memory")
    add_legend(axes[0, -1], tensors, colors, outside=True)
    fit(figure)
    return figure, axes


# --- what plots are made of ---------------------------------------------------------------------


def _titles(found: Sequence[Mappings], labels: Iterable[str] | None) -> list[tuple[int, int, str]]:
    """Return a title for each row: with its number of Mappings, and of the row."""
    titles = [
        (number, row, name if len(one) == 1 else f"{name}, mapping {row}".removeprefix(", "))
        for number, (name, one) in enumerate(zip(_names(found, labels), found, strict=True))
        for row in range(len(one))
    ]
    if not titles:
        raise ValueError("there is nothing to plot: the Mappings have no rows")
    return titles


def _names(found: Sequence[Mappings], labels: Iterable[str] | None) -> list[str]:
    """Return a name for each of several Mappings; one alone needs none."""
    if labels is None and len(found) == 1:
        return [""]
    return [
        name if labels is not None else f"result {name}" for name in name_all(labels, len(found))
    ]


def _breakdown(
    found: Sequence[Mappings],
    parts: Sequence[Breakdown],
    separate_by: Sequence[str],
    stack_by: Sequence[str] | None,
    labels: Iterable[str] | None,
    ax: Any,
    hide_zeros: bool,
) -> list[Any]:
    """Draw bars; parts have keys of Einsum, component, tensor and action."""
    separate = _places(separate_by, "separate_by")
    if not separate:
        raise ValueError(f"separate_by is empty; it takes {', '.join(_CATEGORIES)}")
    stack = _places(stack_by or [], "stack_by")
    titles = _titles(found, labels)
    if not any(parts):
        raise ValueError(
            "the results have no breakdown into components; spec.model.metrics must contain ACTIONS"
        )
    names = list(dict.fromkeys(_name(key, stack) for one in parts for key in one))
    colors = colors_for(names)

    bars = _in_one_order([_bars(parts[number], row, separate, stack) for number, row, _ in titles])
    if hide_zeros:
        bars = [[bar for bar in one if any(bar[2].values())] or one for one in bars]
    if ax is None:
        width = max(3.2, 1.2 + 0.36 * max(len(one) for one in bars))
        axes = make_row(len(titles), width)
    else:
        axes = [ax] * len(titles)
    for axis, one, (_, _, title) in zip(axes, bars, titles, strict=True):
        if ax is None:
            axis.set_title(title)
        elif len(titles) > 1:
            one = [(name, f"{title}: {group}" if group else title, h) for name, group, h in one]
        draw_bars(axis, one, colors)
    shown = [name for name in names if any(bar[2].get(name) for one in bars for bar in one)]
    add_legend(axes[min(len(axes), AXES_PER_ROW) - 1], shown, colors, outside=ax is None)
    return [ax] if ax is not None else axes


def _places(categories: Sequence[str], what: str) -> list[int]:
    """Return the places of categories in keys."""
    wanted = [categories] if isinstance(categories, str) else list(categories)
    for name in wanted:
        if name not in _CATEGORIES:
            raise ValueError(f"{what} takes {', '.join(_CATEGORIES)}, and not {name!r}")
    return [_CATEGORIES.index(name) for name in wanted]


def _bars(parts: Breakdown, row: int, separate: list[int], stack: list[int]) -> list[Bar]:
    """Make the bars of a row; the first of several categories groups them."""
    groups: dict[str, dict[str, dict[str, float]]] = {}
    for key, rows in parts.items():
        group = _name(key, separate[:1]) if len(separate) > 1 else ""
        bars = groups.setdefault(group, {})
        heights = bars.setdefault(_name(key, separate[1:] if group else separate), {})
        part = _name(key, stack)
        heights[part] = heights.get(part, 0.0) + rows[row]
    order = list(dict.fromkeys(name for bars in groups.values() for name in bars))
    return [
        (name, group, bars[name])
        for group, bars in groups.items()
        for name in order
        if name in bars
    ]


def _in_one_order(rows: list[list[Bar]]) -> list[list[Bar]]:
    """Sort the bars of each row as those of the first row that has them."""
    groups = list(dict.fromkeys(group for row in rows for _, group, _ in row))
    names = list(dict.fromkeys(name for row in rows for name, _, _ in row))
    places = {name: i for i, name in enumerate(groups)}, {name: i for i, name in enumerate(names)}
    return [sorted(row, key=lambda bar: (places[0][bar[1]], places[1][bar[0]])) for row in rows]


def _name(key: tuple[Any, ...], places: Sequence[int]) -> str:
    # Leakage and computation belong to no tensor.
    return ", ".join("no tensor" if key[i] in (None, "None") else str(key[i]) for i in places)


def _comparison(mappings: Any, labels: Iterable[str] | None, name: str) -> tuple[Any, Any]:
    found = as_list(mappings, Mappings)
    totals = [_total(one, name) for one in found]
    bars: list[Bar] = [
        (title or "mapping", "", {"": totals[number][row]})
        for number, row, title in _titles(found, labels)
    ]
    figure, axes = make_axes(1, 1, min(max(3.0, 1.2 + 0.6 * len(bars)), WIDEST))
    draw_bars(axes[0, 0], bars, colors_for([""]))
    label_axis(axes[0, 0].yaxis, _label(name), UNITS[name])
    fit(figure)
    return figure, axes[0, 0]


def _total(mappings: Mappings, name: str) -> list[float]:
    if name not in UNITS:
        raise ValueError(f"there is no total {name!r}; there are {', '.join(UNITS)}")
    column = f"Total{SEPARATOR}{name}"
    values: list[float] | None = mappings._table().get(column)
    if values is None:
        raise ValueError(f"there is no column {column}; spec.model.metrics says what there is")
    return values


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _finish(axes: list[Any], label: str, unit: str, ax: Any) -> tuple[Any, list[Any]]:
    for first in axes[::AXES_PER_ROW]:
        label_axis(first.yaxis, label, unit)
    figure = axes[0].get_figure()
    if ax is None:
        fit(figure)
    return figure, axes


# --- memories -----------------------------------------------------------------------------------


def _usage(mappings: Mappings) -> dict[tuple[str, str, str], list[float]]:
    """Return what tensors take, by memory, Einsum and tensor."""
    found = {}
    for name, rows in mappings._table().items():
        split = name.split(SEPARATOR)
        if len(split) == 5 and split[1:3] == ["usage", "memory"]:
            found[split[3], split[0], split[4]] = rows
    return found


def _levels(
    usage: Sequence[dict[tuple[str, str, str], list[float]]], wanted: Iterable[str] | None
) -> list[str]:
    known = {memory: False for one in usage for memory, _, _ in one}
    for one in usage:
        for (memory, _, _), rows in one.items():
            known[memory] = known[memory] or any(rows)
    if not known:
        raise ValueError(
            "the results have no usage of memories; spec.model.metrics must contain "
            "DETAILED_MEMORY_USAGE"
        )
    if wanted is None:
        return [memory for memory, used in known.items() if used] or list(known)
    levels = [wanted] if isinstance(wanted, str) else list(wanted)
    for level in levels:
        if level not in known:
            raise ValueError(f"there is no memory {level}; there are {', '.join(known)}")
    if not levels:
        raise ValueError("memory_levels is empty")
    return levels
