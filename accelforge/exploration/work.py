# SPDX-License-Identifier: BSD-3-Clause
"""Evaluation of points of an exploration, here or in the processes of an executor."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from accelforge import _model
from accelforge.exploration.axes import Axis, changed
from accelforge.exploration.compiled import NotCompilableError, Rules, compile_axes
from accelforge.exploration.objectives import USAGE, Objectives
from accelforge.util.exceptions import EvaluationError, InvalidMappingError

if TYPE_CHECKING:
    from accelforge.frontend.spec import Spec

__all__ = ["Done", "Evaluator", "packed", "work"]


# Chunks with fewer points are not worth a check.
_CHECKED = 1000


class Done(NamedTuple):
    """The results of a chunk of points.

    Attributes
    ----------
    rows : numpy.ndarray
        For each row the number of its point within the chunk; the mapper gives several for one.
    costs : numpy.ndarray
        Its objectives; NaN if the point is invalid.
    reason : str
        Why the first invalid point is invalid; empty if there is none.
    """

    rows: NDArray[np.intp]
    costs: NDArray[np.float64]
    reason: str


class Evaluator:
    """Evaluates points.

    Parameters
    ----------
    spec : Spec
        Without a mapping, the mapper looks for one at each point.
    axes : mapping
        The parameters.
    objectives : list of str
        What is calculated.
    compiled : bool
        Whether to try to compile the specification, which pays for many points.
    """

    def __init__(
        self, spec: Spec, axes: Mapping[str, Axis], objectives: list[str], compiled: bool
    ) -> None:
        self.spec = spec
        self.axes = dict(axes)
        self.objectives = Objectives(objectives)
        self.maps = not len(spec.mapping.nodes)
        self.rules: Rules | None = None
        self.why = "the mapper looks for a mapping at each point" if self.maps else "few points"
        self._model: _model.Model | None = None
        if compiled and not self.maps:
            self._compile()

    def _compile(self) -> None:
        try:
            rules = compile_axes(self.spec, self.axes)
            first = {name: axis.values(np.array([0.0])) for name, axis in self.axes.items()}
            _model.Model(rules.problem).evaluate_batch(rules.series(first), threads=1)
        except (NotCompilableError, EvaluationError, InvalidMappingError) as error:
            self.why = str(error)
        except _model.ProblemError as error:
            self.why = f"the engine cannot vary {error}"
        else:
            self.rules, self.why = rules, ""

    def __getstate__(self) -> dict[str, Any]:
        # Models are not pickled.
        return {**self.__dict__, "_model": None}

    def evaluate(self, columns: Mapping[str, list[Any]], threads: int) -> Done:
        """Evaluate points.

        Parameters
        ----------
        columns : mapping
            The values of each parameter, point by point.
        threads : int
            For a compiled specification.
        """
        count = len(next(iter(columns.values())))
        last = {name: values[-1] for name, values in columns.items()}
        if self.rules is not None and (count < _CHECKED or self._agrees(self.rules, last)):
            return self._batch(self.rules, columns, threads)
        return self._one_by_one(columns, count)

    def _agrees(self, rules: Rules, values: Mapping[str, Any]) -> bool:
        """Check the rules with a point, which a specification may refuse."""
        try:
            return rules.agrees(self.spec, values)
        except (EvaluationError, InvalidMappingError):
            return False

    def _batch(self, rules: Rules, columns: Mapping[str, list[Any]], threads: int) -> Done:
        if self._model is None:
            self._model = _model.Model(rules.problem)
        parts = self.objectives.columns(self._model.columns)
        wanted = list(dict.fromkeys(column for part in parts for column in part))
        batch = self._model.evaluate_batch(rules.series(columns), threads=threads, columns=wanted)
        costs = np.column_stack(
            [batch.values[:, [wanted.index(c) for c in part]].sum(axis=1) for part in parts]
        )
        bad = np.flatnonzero(~batch.valid)
        failure = batch.failure(int(bad[0])) if len(bad) else None
        costs[bad] = np.nan
        return Done(np.arange(len(costs)), costs, "" if failure is None else failure.reason)

    def _one_by_one(self, columns: Mapping[str, list[Any]], count: int) -> Done:
        rows: list[int] = []
        costs: list[list[float]] = []
        first = ""
        for point in range(count):
            values = {name: given[point] for name, given in columns.items()}
            try:
                spec = changed(self.spec, values)
                found = self._mapped(spec) if self.maps else [self._evaluated(spec)]
            except (EvaluationError, InvalidMappingError, ValueError) as error:
                found = [[np.nan] * len(self.objectives.names)]
                first = first or str(error)
            rows += [point] * len(found)
            costs += found
        return Done(np.array(rows, dtype=np.intp), np.array(costs, dtype=np.float64), first)

    def _evaluated(self, spec: Spec) -> list[float]:
        model = _model.Model(spec.to_problem())
        result = model.evaluate()
        if not result.valid:
            raise InvalidMappingError(result.reason)
        row = result.as_dict()
        return [sum(row[c] for c in part) for part in self.objectives.columns(model.columns)]

    def _mapped(self, spec: Spec) -> list[list[float]]:
        found = spec.map_workload_to_arch(print_progress=False)
        table = found._table()
        whole = spec.calculate_component_costs(energy=False, throughput=False).arch
        costs = []
        for name in self.objectives.names:
            if name.startswith(USAGE):
                # Memories that no mapping uses have no column.
                usage = found.resource_usage(list_if_one_mapping=True)
                rows = usage.get(name.removeprefix(USAGE), [0.0] * len(found))
            elif name in ("area", "leak_power"):
                total = whole.total_area if name == "area" else whole.total_leak_power
                rows = [total] * len(found)
            else:
                rows = table[f"Total<SEP>{name}"]
            costs.append(rows)
        return [list(row) for row in zip(*costs, strict=True)]


def packed(evaluator: Evaluator) -> tuple[str, bytes]:
    """Pack an evaluator for other processes: a name for it, and what it is made from.

    Parameters
    ----------
    evaluator : Evaluator
        The evaluator.
    """
    data = pickle.dumps(evaluator)
    return hashlib.sha256(data).hexdigest(), data


_known: dict[str, Evaluator] = {}


def work(name: str, data: bytes, columns: Mapping[str, list[Any]]) -> Done:
    """Evaluate points in a process of an executor, which keeps the last evaluator.

    Parameters
    ----------
    name, data : str, bytes
        What `packed` returned.
    columns : mapping
        The values of each parameter, point by point.
    """
    evaluator = _known.get(name)
    if evaluator is None:
        evaluator = pickle.loads(data)
        _known.clear()
        _known[name] = evaluator
    return evaluator.evaluate(columns, threads=1)
