# SPDX-License-Identifier: BSD-3-Clause
"""Evaluations of one problem with some of its numbers changed, all in one batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from accelforge import _model

__all__ = ["Places", "Trials", "number_at"]


class Places:
    """Where the numbers of a component are in a problem; it has them once for each Einsum.

    Parameters
    ----------
    problem : dict
        The problem.
    """

    def __init__(self, problem: Mapping[str, Any]) -> None:
        self.problem = problem
        self.kinds: dict[str, str] = {}
        self.levels: dict[str, list[tuple[str, Any]]] = {}
        self.below: dict[str, set[str]] = {}
        for e, einsum in enumerate(problem["einsums"]):
            names = [level["component"] for level in einsum["levels"]]
            for i, level in enumerate(einsum["levels"]):
                self.kinds[names[i]] = level["kind"]
                self.levels.setdefault(names[i], []).append((f"einsums[{e}].levels[{i}]", level))
                self.below.setdefault(names[i], set()).update(names[i + 1 :])

    def actions(self, component: str, quantity: str) -> dict[str, dict[str, float]]:
        """Return the paths and numbers of each action's throughput or energy.

        Parameters
        ----------
        component : str
            The component.
        quantity : str
            ``throughput`` or ``energy``.
        """
        default = {"throughput": np.inf, "energy": 0.0}[quantity]
        found: dict[str, dict[str, float]] = {}
        for path, level in self.levels[component]:
            for a, action in enumerate(level.get("actions", ())):
                number = float(action.get(quantity, default))
                found.setdefault(action["name"], {})[f"{path}.actions[{a}].{quantity}"] = number
        return found

    def sizes(self, component: str) -> dict[str, float]:
        """Return the paths and numbers of a memory's size."""
        return {
            f"{path}.size": float(level.get("size", np.inf))
            for path, level in self.levels[component]
            if level["kind"] == "memory"
        }

    def fanouts(self) -> Iterator[tuple[str, str, dict[str, float]]]:
        """Return component, dimension, and the paths and numbers of each fan-out."""
        for component, levels in self.levels.items():
            found: dict[str, dict[str, float]] = {}
            for path, level in levels:
                for d, dimension in enumerate(level.get("spatial", ())):
                    place = f"{path}.spatial[{d}].fanout"
                    found.setdefault(dimension["name"], {})[place] = float(dimension["fanout"])
            for name, places in found.items():
                yield component, name, places

    def leaks(self, components: Iterable[str]) -> dict[str, float]:
        """Return the paths and numbers of the power that components leak.

        Parameters
        ----------
        components : iterable of str
            Their names.
        """
        wanted = set(components)
        found = {
            f"einsums[{e}].leaks[{i}].power": float(leak["power"])
            for e, einsum in enumerate(self.problem["einsums"])
            for i, leak in enumerate(einsum.get("leaks") or ())
            if leak["component"] in wanted and "power" in leak
        }
        # An Einsum that names no power has that of the component.
        for i, component in enumerate(self.problem.get("components", ())):
            if component["name"] in wanted and "leak_power" in component:
                found[f"components[{i}].leak_power"] = float(component["leak_power"])
        return found


class Trials:
    """Collects changes of numbers, and evaluates them together.

    Parameters
    ----------
    problem : dict
        The problem.
    """

    def __init__(self, problem: Mapping[str, Any]) -> None:
        self.problem = problem
        self.model = _model.Model(problem)
        self.rows: list[dict[str, float]] = []

    def add(self, changes: Mapping[str, float]) -> int:
        """Add a trial; its number is returned.

        Parameters
        ----------
        changes : mapping
            Numbers by their paths.
        """
        self.rows.append(dict(changes))
        return len(self.rows) - 1

    def run(self) -> list[dict[tuple[Any, ...], float] | None]:
        """Evaluate the trials that were added; None for those that are no valid mapping."""
        rows, self.rows = self.rows, []
        paths = dict.fromkeys(path for row in rows for path in row)
        series: dict[str, Any] = {}
        for path in paths:
            own = number_at(self.problem, path)
            series[path] = np.array([row.get(path, own) for row in rows], dtype=np.float64)
        if not series:
            # A batch without series has one row.
            result = self.model.evaluate()
            return [result.as_dict() if result.valid else None for _ in rows]
        batch = self.model.evaluate_batch(series, threads=1)
        columns, values = batch.columns, batch.values.tolist()
        return [
            dict(zip(columns, row, strict=True)) if good else None
            for row, good in zip(values, batch.valid.tolist(), strict=True)
        ]


def number_at(problem: Any, path: str) -> float:
    """Return the number at a path that `Places` or `loops_of` made.

    Parameters
    ----------
    problem : dict
        The problem.
    path : str
        The path.
    """
    found = problem
    for part in path.replace("]", "").replace("[", ".").split("."):
        found = found[int(part)] if isinstance(found, list) else found[part]
    return float(found)
