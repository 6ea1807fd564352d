# SPDX-License-Identifier: BSD-3-Clause
"""Predicted and measured times: a table, as text and as HTML, and a plot."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

from accelforge.util.units import with_unit
from offchip.lazy import need

__all__ = ["Results", "Row"]


class Row(NamedTuple):
    """Predicted and measured time of a kernel.

    Parameters
    ----------
    kernel : str
        Its name.
    predicted : float
        Seconds.
    measured : float or None
        Seconds; None if the kernel was not run.
    bound : str
        The component that takes the time; of several Einsums, that of each.
    source : str
        How it was measured.
    note : str
        What the prediction leaves out.
    """

    kernel: str
    predicted: float
    measured: float | None
    bound: str
    source: str
    note: str

    @property
    def error(self) -> float | None:
        """Error of the prediction, as a share of the measured time; less than 0: too fast."""
        return None if self.measured is None else self.predicted / self.measured - 1


class Results(tuple[Row, ...]):
    """Rows, one for each kernel.

    Parameters
    ----------
    rows : iterable of Row
        The rows.
    """

    __slots__ = ()

    def __new__(cls, rows: Iterable[Row] = ()) -> Results:
        """Create it from its rows."""
        return super().__new__(cls, rows)

    def __repr__(self) -> str:
        heads, *rows = self._texts()
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        return "\n".join(
            "  ".join(
                text.rjust(width) if 0 < index < 4 else text.ljust(width)
                for index, (text, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in (heads, *rows)
        )

    def _repr_html_(self) -> str:
        heads, *rows = self._texts()
        head = "".join(f"<th>{escape(text)}</th>" for text in heads)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _texts(self) -> list[tuple[str, ...]]:
        heads = ("kernel", "predicted", "measured", "error", "limited by", "measured in")
        rows = [
            (
                row.kernel,
                with_unit(row.predicted, "s"),
                "" if row.measured is None else with_unit(row.measured, "s"),
                "" if row.error is None else f"{row.error:+.1%}",
                row.bound,
                row.source,
            )
            for row in self
        ]
        return [heads, *rows]

    @property
    def worst(self) -> float | None:
        """The largest error without its sign, or None if nothing was measured."""
        errors = [abs(row.error) for row in self if row.error is not None]
        return max(errors, default=None)

    def plot(self, ax: Any = None) -> Any:
        """Plot predicted over measured times, with the error of each.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to plot; by default in a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        ValueError
            Nothing was measured.
        """
        rows = [row for row in self if row.measured is not None]
        if not rows:
            raise ValueError("nothing was measured; plot what accelforge.measure() returns")
        if ax is None:
            pyplot = need("matplotlib.pyplot", "A plot", "plot")
            _, ax = pyplot.subplots(figsize=(6, 5), layout="constrained")
        times = [time for row in rows for time in (row.predicted, row.measured or 0.0)]
        limits = [min(times) / 2, max(times) * 2]
        narrow = limits[1] < 1000 * limits[0]
        for factor, style in ((1.0, "-"), (0.8, ":"), (1.2, ":")):
            ax.plot(limits, [factor * limit for limit in limits], style, color="grey", lw=1)
        for row in rows:
            ax.plot([row.measured], [row.predicted], "o", label=f"{row.kernel} {row.error:+.0%}")
        ax.set(xscale="log", yscale="log", xlim=limits, ylim=limits)
        ax.set(xlabel="measured", ylabel="predicted")
        for axis in (ax.xaxis, ax.yaxis):
            # Of few decades, numbers between them are needed too.
            ticker = need("matplotlib.ticker", "A plot", "plot")
            axis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0) if narrow else (1.0,)))
            axis.set_major_formatter(ticker.EngFormatter(unit="s"))
            axis.set_minor_formatter(ticker.NullFormatter())
        ax.set_title("dotted: 20 % off", fontsize="small")
        ax.legend(fontsize="small")
        return ax
