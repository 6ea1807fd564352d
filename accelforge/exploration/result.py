# SPDX-License-Identifier: BSD-3-Clause
"""Points of an exploration, and the best of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from accelforge.exploration.axes import changed
from accelforge.exploration.objectives import unit_of
from accelforge.exploration.pareto import pareto_front
from accelforge.util.tables import Sheet, html_of, text_of
from accelforge.util.units import with_unit
from offchip.lazy import find, need

if TYPE_CHECKING:
    from accelforge.frontend.spec import Spec

__all__ = ["Exploration"]

_MOST_ROWS = 20


@dataclass(frozen=True, repr=False)
class Exploration:
    """Points, in their order, and what the specification costs there.

    Attributes
    ----------
    spec : Spec
        What was explored.
    parameters : dict
        The values of each parameter, row by row.
    objectives : dict
        The numbers of each objective, row by row; NaN where the mapping does not fit.
    points : numpy.ndarray
        The number of each row's point. Where the mapper looked for mappings, several rows may have
        the same.
    total : int
        How many points there are, also those that a time limit left out.
    evaluated : int
        How many of them this call evaluated; others were in the file.
    seconds : float
        How long it took.
    not_compiled : str
        Why points were evaluated one by one; empty if the specification was compiled.
    reason : str
        Why the first point without costs has none; empty if all have.
    """

    spec: Spec
    parameters: dict[str, list[Any]]
    objectives: dict[str, NDArray[np.float64]]
    points: NDArray[np.int64]
    total: int
    evaluated: int
    seconds: float
    not_compiled: str
    reason: str

    def __len__(self) -> int:
        return len(self.points)

    @property
    def complete(self) -> bool:
        """True if all points are there."""
        return len(np.unique(self.points)) == self.total

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Mask of the rows whose mapping fits."""
        return np.asarray(~np.isnan(self._costs(None)).any(axis=1))

    def _costs(self, names: str | Iterable[str] | None) -> NDArray[np.float64]:
        given = self.objectives if names is None else names
        chosen = [given] if isinstance(given, str) else list(given)
        known = ", ".join(self.objectives)
        if not chosen:
            raise ValueError(f"name one or more objectives; there are: {known}")
        for name in chosen:
            if name not in self.objectives:
                raise KeyError(f"{name!r} was not explored; there are: {known}")
        return np.column_stack([self.objectives[name] for name in chosen])

    def front(self, objectives: str | Iterable[str] | None = None) -> list[int]:
        """Return the numbers of the rows that no other one beats, by the first objective.

        Parameters
        ----------
        objectives : str or iterable of str, optional
            Those that count; without it, all.
        """
        costs = self._costs(objectives)
        front = pareto_front(costs)
        return [int(i) for i in front[np.lexsort((front, costs[front, 0]))]]

    def best(self, objective: str | None = None) -> int:
        """Return the number of the row with the least of an objective.

        Parameters
        ----------
        objective : str, optional
            Its name; without it, the first one.
        """
        front = self.front([objective or next(iter(self.objectives))])
        if not front:
            raise ValueError(f"no point is valid: {self.reason or 'there are none'}")
        return front[0]

    def values(self, row: int) -> dict[str, Any]:
        """Return the parameters of a row.

        Parameters
        ----------
        row : int
            Its number.
        """
        if not -len(self) <= row < len(self):
            raise IndexError(f"there are {len(self)} rows, and no number {row}")
        return {name: values[row] for name, values in self.parameters.items()}

    def spec_of(self, row: int) -> Spec:
        """Return the specification with the parameters of a row.

        Parameters
        ----------
        row : int
            Its number.
        """
        return changed(self.spec, self.values(row))

    @property
    def columns(self) -> dict[str, list[Any]]:
        """Parameters and objectives, row by row."""
        costs = {name: numbers.tolist() for name, numbers in self.objectives.items()}
        return {"point": self.points.tolist(), **self.parameters, **costs}

    @property
    def data(self) -> Any:
        """The rows as a pandas.DataFrame."""
        return need("pandas", "Exploration.data").DataFrame(self.columns)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the rows into a file of Parquet.

        Parameters
        ----------
        path : path
            The file.

        Raises
        ------
        ImportError
            pyarrow is not installed.
        """
        if find("pyarrow") is None:
            raise ImportError(
                "Parquet needs pyarrow, which is not installed. Type: pip install pyarrow; "
                "explore(file=...) writes SQLite without it",
                name="pyarrow",
            )
        pyarrow, parquet = find("pyarrow"), need("pyarrow.parquet", "Parquet")
        parquet.write_table(pyarrow.table(self.columns), os.fspath(path))

    # --- as people read it ----------------------------------------------------------------------

    def __repr__(self) -> str:
        count = len(np.unique(self.points))
        parts = [f"{count:,} of {self.total:,} points", f"{int(self.valid.sum()):,} valid"]
        if len(self) > count:
            parts.insert(1, f"{len(self):,} mappings")
        return f"<Exploration: {', '.join(parts)}; {len(self.front())} on the front>"

    def __str__(self) -> str:
        return text_of(self._sheet())

    def _repr_html_(self) -> str:
        return html_of(self._sheet())

    def _sheet(self) -> Sheet:
        front = self.front()
        more = f", the first {_MOST_ROWS} of {len(front)}" if len(front) > _MOST_ROWS else ""
        if not front and self.reason:
            more = f"; {self.reason}"
        rows = [
            (
                str(row),
                *(_text(values[row]) for values in self.parameters.values()),
                *(_number(float(costs[row]), name) for name, costs in self.objectives.items()),
            )
            for row in front[:_MOST_ROWS]
        ]
        return Sheet(f"{self!r}{more}", ("row", *self.parameters, *self.objectives), rows)


def _number(value: float, objective: str) -> str:
    unit = unit_of(objective)
    if unit == "m²":
        # A prefix would be squared too.
        return f"{value:.3g} m²"
    return with_unit(value, unit) if unit else f"{value:.3g}"


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
