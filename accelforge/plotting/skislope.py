# SPDX-License-Identifier: BSD-3-Clause
"""Ski slopes: how much must be moved at least, by the size of the memory that is near."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from accelforge.examples import examples
from accelforge.frontend.mapper.metrics import Metrics
from accelforge.frontend.spec import Spec
from accelforge.plotting.figures import clean, pyplot

__all__ = ["generate_ski_slope", "plot_step"]

_MEMORY = "GlobalBuffer"


def generate_ski_slope(
    workload_fname: Any,
    einsum_names: Iterable[str] | None = None,
    jinja_parse_data: dict[str, Any] | None = None,
    ax: Any = None,
    y_normalizer: float = 1.0,
    **plot_kwargs: Any,
) -> Any:
    """Map a workload to the example ``arches.snowcat``, and plot what each buffer size can attain.

    Parameters
    ----------
    workload_fname : str or Path
        The file of the workload.
    einsum_names : iterable of str, optional
        The Einsums; all of them if nothing is said.
    jinja_parse_data : dict, optional
        Variables of the file.
    ax : matplotlib.axes.Axes, optional
        Where to draw, instead of the current axes.
    y_normalizer : float
        What the numbers of accesses are divided by.
    **plot_kwargs : object
        For ``plot()`` of the axes.

    Returns
    -------
    axes
    """
    pyplot()
    spec = Spec.from_yaml(
        workload_fname, examples.arches.snowcat, jinja_parse_data=jinja_parse_data or {}
    )
    spec.mapper.metrics = Metrics.ENERGY | Metrics.RESOURCE_USAGE
    names = None if einsum_names is None else list(einsum_names)
    result = spec.map_workload_to_arch(einsum_names=names, print_progress=False)

    size = float(spec.arch.find(_MEMORY).size)
    usage = result.resource_usage(list_if_one_mapping=True)[_MEMORY]
    accesses = result.energy(list_if_one_mapping=True)
    points = sorted(
        (used * size, count / y_normalizer) for used, count in zip(usage, accesses, strict=True)
    )
    xs, ys = zip(*points, strict=True)
    return plot_step(xs, ys, ax, **plot_kwargs)


def plot_step(xs: Sequence[float], ys: Sequence[float], ax: Any = None, **plot_kwargs: Any) -> Any:
    """Plot a staircase: each value holds up to the next point, the last one to the edge.

    Parameters
    ----------
    xs, ys : sequence of float
        The points, by rising x.
    ax : matplotlib.axes.Axes, optional
        Where to draw, instead of the current axes.
    **plot_kwargs : object
        For ``plot()`` of the axes.

    Returns
    -------
    axes
    """
    if not len(xs) or len(xs) != len(ys):
        raise ValueError(
            f"expected as many x values as y values, and at least one; got {len(xs)} and {len(ys)}"
        )
    axis = pyplot().gca() if ax is None else ax
    (line,) = axis.plot(xs, ys, drawstyle="steps-post", **plot_kwargs)
    axis.set_xscale("log")
    axis.set_yscale("log")
    more = {"color": line.get_color(), "linestyle": line.get_linestyle()}
    ends = axis.plot([xs[-1]], [ys[-1]], linewidth=line.get_linewidth(), **more)
    _reach_edge(axis, ends[0], 1.5 * xs[-1])
    clean(axis)
    axis.set_xlabel("On-chip memory size (bits)")
    axis.set_ylabel("Lowest attainable off-chip accesses (bits)")
    return axis


def _reach_edge(axis: Any, end: Any, least: float) -> None:
    """Draw the end of a staircase to the right edge, and those that are there already."""
    ends = [*getattr(axis, "_forge_ends", []), end]
    axis._forge_ends = ends
    right = max(axis.get_xlim()[1], least)
    for line in ends:
        x, y = line.get_xdata()[0], line.get_ydata()[0]
        line.set_data([x, right], [y, y])
    axis.set_xlim(right=right)
