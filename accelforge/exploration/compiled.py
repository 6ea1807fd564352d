# SPDX-License-Identifier: BSD-3-Clause
"""A specification as numbers of one problem that depend on parameters.

A problem is made for each value of each parameter, with the others at their first value, and what
numbers change is remembered: as a table, or for a range as a line in the value or its reciprocal.
Where that does not describe the specification, it cannot be compiled: where the structure
changes, where a number depends on more than one parameter, or on a range in another way. Problems
with all parameters at random values are compared with what is remembered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from accelforge.exploration.axes import Axis, Range, changed

if TYPE_CHECKING:
    from accelforge.frontend.spec import Spec

__all__ = ["NotCompilableError", "Rules", "compile_axes", "leaves_of", "problems_of"]

_MOST_VALUES = 4096
_CHECKS = 12
_TOLERANCE = 1e-12
_PROBES = (0.0, 0.137, 0.25, 0.381, 0.5, 0.618, 0.771, 0.9, 1.0)

Leaves = dict[str, Any]


class NotCompilableError(Exception):
    """The specification is more than numbers that depend on one parameter each."""


class Rules:
    """Numbers of a problem, for values of parameters.

    Attributes
    ----------
    problem : dict
        With all parameters at their first value.
    tables : dict
        Parameter: value: numbers by path.
    lines : dict
        Parameter: constant, factor of the value, factor of its reciprocal, by path.
    """

    def __init__(self, problem: dict[str, Any]) -> None:
        self.problem = problem
        self.tables: dict[str, dict[Any, dict[str, float]]] = {}
        self.lines: dict[str, dict[str, tuple[float, float, float]]] = {}

    def series(self, columns: Mapping[str, list[Any]]) -> dict[str, NDArray[np.float64]]:
        """Return the numbers of the problem for many values.

        Parameters
        ----------
        columns : mapping
            The values of each parameter, row by row.
        """
        found: dict[str, NDArray[np.float64]] = {}
        for name, table in self.tables.items():
            index = {value: i for i, value in enumerate(table)}
            numbers = np.array([index[value] for value in columns[name]], dtype=np.intp)
            for path in next(iter(table.values())):
                found[path] = np.array([row[path] for row in table.values()])[numbers]
        for name, lines in self.lines.items():
            values = np.array(columns[name], dtype=np.float64)
            for path, (constant, factor, reciprocal) in lines.items():
                found[path] = constant + factor * values
                if reciprocal:
                    found[path] = found[path] + reciprocal / values
        return found

    def agrees(self, spec: Spec, values: Mapping[str, Any]) -> bool:
        """Say whether the problem of a specification has the numbers of these rules.

        Parameters
        ----------
        spec : Spec
            The specification.
        values : mapping
            The value of each parameter.
        """
        want = leaves_of(changed(spec, values).to_problem())
        have = leaves_of(self.problem)
        series = self.series({name: [value] for name, value in values.items()})
        have.update({path: float(numbers[0]) for path, numbers in series.items()})
        return want.keys() == have.keys() and all(_equal(want[path], have[path]) for path in want)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) <= _TOLERANCE * max(abs(a), abs(b))
    return bool(a == b)


def leaves_of(problem: Any) -> Leaves:
    """Return the numbers of a problem, as floats, and all else in it, by path.

    Parameters
    ----------
    problem : dict
        The problem.
    """
    return dict(_leaves(problem, ""))


def _leaves(part: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(part, Mapping):
        for key, value in part.items():
            plain = isinstance(key, str) and key.isidentifier() and key.isascii()
            step = f".{key}" if plain and path else key if plain else f"[{json.dumps(key)}]"
            yield from _leaves(value, path + step)
        return
    if isinstance(part, (list, tuple)):
        yield f"{path} has", len(part)
        for number, value in enumerate(part):
            yield from _leaves(value, f"{path}[{number}]")
        return
    if isinstance(part, (int, float)) and not isinstance(part, bool):
        yield path, float(part)
    elif part == "inf":
        yield path, float("inf")
    else:
        yield path, part


def _is_exact(axis: Axis) -> bool:
    return axis.count is not None and axis.count <= _MOST_VALUES


def problems_of(axes: Mapping[str, Axis]) -> int:
    """Return how many problems `compile_axes` makes.

    Parameters
    ----------
    axes : mapping
        The parameters.
    """
    tried = ((axis.count or 0) if _is_exact(axis) else len(_PROBES) for axis in axes.values())
    return 1 + sum(tried) + _CHECKS


def compile_axes(spec: Spec, axes: Mapping[str, Axis]) -> Rules:
    """Find the rules of a specification.

    Parameters
    ----------
    spec : Spec
        With a mapping.
    axes : mapping
        The parameters.

    Raises
    ------
    NotCompilableError
        There are none.
    EvaluationError
        The specification is wrong.
    """
    first = {name: axis.values(np.array([0.0]))[0] for name, axis in axes.items()}
    rules = Rules(changed(spec, first).to_problem())
    base = leaves_of(rules.problem)
    owner: dict[str, str] = {}
    for name, axis in axes.items():
        exact = _is_exact(axis)
        if exact:
            tried = [axis.at(i) for i in range(axis.count or 0)]
        else:
            tried = axis.values(np.array(_PROBES))
        problems = {
            value: leaves_of(changed(spec, {**first, name: value}).to_problem()) for value in tried
        }
        paths = _changing(base, problems, name)
        for path in paths:
            if owner.setdefault(path, name) != name:
                raise NotCompilableError(f"{path} depends on {owner[path]} and on {name}")
        if exact:
            rules.tables[name] = {
                value: {path: leaves[path] for path in paths} for value, leaves in problems.items()
            }
        else:
            assert isinstance(axis, Range)
            rules.lines[name] = {
                path: _line(path, name, {v: leaves[path] for v, leaves in problems.items()})
                for path in paths
            }
    _check(spec, axes, rules)
    return rules


def _changing(base: Leaves, problems: Mapping[Any, Leaves], name: str) -> list[str]:
    paths = []
    for leaves in problems.values():
        if leaves.keys() != base.keys():
            raise NotCompilableError(f"{name} changes what the problem consists of")
        for path, value in leaves.items():
            if value == base[path]:
                continue
            if not isinstance(value, float) or not isinstance(base[path], float):
                raise NotCompilableError(f"{name} changes {path}, which is no number")
            paths.append(path)
    return list(dict.fromkeys(paths))


def _line(path: str, name: str, numbers: Mapping[float, float]) -> tuple[float, float, float]:
    """Return constant, factor and factor of the reciprocal; one of the factors is 0."""
    xs, ys = np.array(list(numbers)), np.array(list(numbers.values()))
    if np.isfinite(ys).all():
        for of, place in ((xs, 1), (1 / xs, 2) if (xs != 0).all() else (xs, 1)):
            factor = (ys[-1] - ys[0]) / (of[-1] - of[0])
            constant = ys[0] - factor * of[0]
            if abs(constant) <= 1e-14 * np.abs(ys).max():
                # No rounding where a number is the value itself, or a multiple of it.
                constant, factor = 0.0, ys[-1] / of[-1]
            if np.allclose(constant + factor * of, ys, rtol=_TOLERANCE, atol=0):
                return (constant, factor, 0.0) if place == 1 else (constant, 0.0, factor)
    raise NotCompilableError(f"{path} depends on {name} in another way than a line")


def _check(spec: Spec, axes: Mapping[str, Axis], rules: Rules) -> None:
    generator = np.random.default_rng(0)
    for places in generator.random((_CHECKS, len(axes))):
        values = {
            name: axis.values(np.array([place]))[0]
            for (name, axis), place in zip(axes.items(), places.tolist(), strict=True)
        }
        if not rules.agrees(spec, values):
            raise NotCompilableError("parameters act together, or on what the problem consists of")
