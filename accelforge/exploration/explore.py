# SPDX-License-Identifier: BSD-3-Clause
"""Explores a specification: makes points, evaluates them, keeps what was found."""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, nullcontext
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from accelforge.exploration.axes import axes_of, check_paths
from accelforge.exploration.compiled import problems_of
from accelforge.exploration.objectives import Objectives
from accelforge.exploration.result import Exploration
from accelforge.exploration.samplers import SAMPLERS, Sampler
from accelforge.exploration.work import Done, Evaluator, packed, work
from accelforge.frontend.arch import Memory
from accelforge.frontend.mapper.metrics import Metrics
from accelforge.util.parallel import get_n_parallel_jobs
from accelforge.util.progress import Progress
from offchip.store import Store

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from accelforge.frontend.spec import Spec

__all__ = ["explore"]

# Points of a chunk: of a compiled specification, of one that is evaluated, of one that is mapped.
_COMPILED, _EVALUATED, _MAPPED = 8192, 64, 1
_ADAPTIVE = 2048
# Chunks that an executor has at a time, for each of its workers; and workers if it has no number.
_AHEAD, _WORKERS = 2, 32


def explore(
    spec: Spec,
    parameters: Mapping[str, Any],
    objectives: str | Iterable[str] = ("energy", "latency"),
    *,
    method: str = "grid",
    count: int | None = None,
    seed: int = 0,
    file: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    time_limit: float = math.inf,
    pbar: str | None = None,
) -> Exploration:
    """Evaluate a specification at many values of its numbers; `Spec.explore` says more."""
    if method not in SAMPLERS:
        raise ValueError(f"method is one of {', '.join(SAMPLERS)}, not {method!r}")
    if not (count is None or (_is_whole(count) and count > 0)):
        raise ValueError(f"count is a positive number of points, not {count!r}")
    if not (_is_whole(seed) and seed >= 0):
        raise ValueError(f"seed is a whole number that is not negative, not {seed!r}")
    if not (_is_number(time_limit) and time_limit > 0):
        raise ValueError(f"time_limit is a positive number of seconds, not {time_limit!r}")
    if not (executor is None or hasattr(executor, "submit")):
        raise ValueError(f"executor has the methods of concurrent.futures, unlike {executor!r}")
    assert not spec._evaluated, (
        "the Spec must not be evaluated; was it returned by spec.calculate_component_costs()?"
    )
    begun = time.monotonic()
    axes = axes_of(parameters)
    check_paths(spec, axes)
    wanted = Objectives(objectives)
    wanted.check_memories([node.name for node in spec.arch.get_nodes_of_type(Memory)])
    names = wanted.names
    maps = not len(spec.mapping.nodes)
    chunk = _MAPPED if maps else _ADAPTIVE if SAMPLERS[method].waits else _COMPILED
    points = None if count is None else int(count)
    sampler = SAMPLERS[method](axes, points, int(seed), chunk)
    # A problem is made for each point otherwise.
    pays = sampler.count > problems_of(axes)
    evaluator = Evaluator(_for_mapper(spec, names) if maps else spec, axes, names, pays)
    if evaluator.rules is None and not maps:
        sampler.chunk = min(chunk, _EVALUATED)
    run = _Run(evaluator, sampler, begun + time_limit, executor)
    described = _described(evaluator, sampler, method)
    opened = None if file is None else Store(file, described, list(axes), names)
    with nullcontext() if opened is None else closing(opened), Progress(sampler.count, pbar) as bar:
        run.go(opened, bar)
        run.collect(opened)
    return Exploration(
        spec=spec,
        parameters=dict(zip(axes, run.values, strict=True)),
        objectives={name: run.costs[:, i] for i, name in enumerate(names)},
        points=run.points,
        total=sampler.count,
        evaluated=run.evaluated,
        seconds=time.monotonic() - begun,
        not_compiled=evaluator.why,
        reason=run.reason,
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real)


def _for_mapper(spec: Spec, names: list[str]) -> Spec:
    """Return a copy whose mapper has the objectives that it knows."""
    metrics = Metrics(0)
    for name in names:
        if name in ("energy", "latency", "energy_delay_product"):
            metrics |= Metrics[name.upper()]
    new = spec.model_copy(deep=True)
    if metrics:
        new.mapper.metrics = metrics
    return new


def _described(evaluator: Evaluator, sampler: Sampler, method: str) -> dict[str, Any]:
    """Return what makes two explorations the same one."""
    text = repr(evaluator.spec).encode()
    return {
        "parameters": {name: axis.described() for name, axis in sampler.axes.items()},
        "objectives": evaluator.objectives.names,
        "method": method,
        "count": sampler.count,
        "seed": sampler.seed,
        "chunk": sampler.chunk,
        "specification": hashlib.sha256(text).hexdigest(),
    }


class _Run:
    """One call of `explore`."""

    def __init__(
        self, evaluator: Evaluator, sampler: Sampler, end: float, executor: Executor | None
    ) -> None:
        self.evaluator = evaluator
        self.sampler = sampler
        self.end = end
        self.executor = executor
        self.evaluated = 0
        self.reason = ""
        self.found: dict[int, tuple[dict[str, list[Any]], Done]] = {}
        self.points: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.values: list[list[Any]] = []
        self.costs: NDArray[np.float64] = np.empty((0, 0))

    def go(self, store: Store | None, bar: Progress) -> None:
        """Evaluate the chunks that are not in the file."""
        done = set() if store is None else store.done()
        bar.update(sum(self.sampler.size(number) for number in done))
        for number, columns, result in self._results(done, store):
            self.evaluated += self.sampler.size(number)
            if store is None:
                self.found[number] = columns, result
            else:
                self._write(store, number, columns, result)
            bar.update(self.sampler.size(number))
            if time.monotonic() >= self.end:
                break

    def _results(
        self, done: set[int], store: Store | None
    ) -> Iterator[tuple[int, dict[str, list[Any]], Done]]:
        if self.executor is not None and not self.sampler.waits:
            yield from self._ahead(self.executor, done)
            return
        for number in range(self.sampler.chunks):
            if number in done:
                if self.sampler.waits and store is not None:
                    self._recall(store, number)
                continue
            columns = self.sampler.columns(number)
            result = self._evaluate(columns)
            # As read from a file, so that a chunk does not depend on where it came from.
            if self.sampler.waits:
                self.sampler.learn(_rows(columns, result), result.costs)
            yield number, columns, result

    def _recall(self, store: Store, number: int) -> None:
        start = number * self.sampler.chunk
        _, values, costs = store.read(start, start + self.sampler.size(number))
        self.sampler.learn(dict(zip(self.sampler.axes, values, strict=True)), costs)

    def _evaluate(self, columns: dict[str, list[Any]]) -> Done:
        """Evaluate a chunk, all its parts at a time if there is an executor."""
        if self.executor is None:
            return self.evaluator.evaluate(columns, threads=get_n_parallel_jobs())
        name, data = packed(self.evaluator)
        count = len(next(iter(columns.values())))
        size = max(-(-count // 8), 1)
        futures = [
            self.executor.submit(
                work, name, data, {k: v[start : start + size] for k, v in columns.items()}
            )
            for start in range(0, count, size)
        ]
        try:
            parts = [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise
        return Done(
            np.concatenate([part.rows + i * size for i, part in enumerate(parts)]),
            np.concatenate([part.costs for part in parts]),
            next((part.reason for part in parts if part.reason), ""),
        )

    def _ahead(
        self, executor: Executor, done: set[int]
    ) -> Iterator[tuple[int, dict[str, list[Any]], Done]]:
        """Keep an executor busy; results come in the order in which they are ready."""
        from concurrent.futures import FIRST_COMPLETED, wait

        name, data = packed(self.evaluator)
        most = _AHEAD * (getattr(executor, "_max_workers", None) or _WORKERS)
        left = iter([number for number in range(self.sampler.chunks) if number not in done])
        running: dict[Future[Done], tuple[int, dict[str, list[Any]]]] = {}
        try:
            while True:
                while len(running) < most and (number := next(left, None)) is not None:
                    columns = self.sampler.columns(number)
                    running[executor.submit(work, name, data, columns)] = number, columns
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    number, columns = running.pop(future)
                    yield number, columns, future.result()
        finally:
            for future in running:
                future.cancel()

    def _write(
        self, store: Store, number: int, columns: dict[str, list[Any]], result: Done
    ) -> None:
        rows = _rows(columns, result)
        start = number * self.sampler.chunk
        store.write(
            number, _numbered(result, start), list(rows.values()), result.costs, result.reason
        )

    def collect(self, store: Store | None) -> None:
        """Put all that was found in the order of points."""
        if store is not None:
            self.points, values, self.costs = store.read()
            axes = self.sampler.axes.values()
            self.values = [axis.restored(v) for axis, v in zip(axes, values, strict=True)]
            self.reason = store.reason()
            return
        parts = [(number, *self.found[number]) for number in sorted(self.found)]
        self.reason = next((done.reason for _, _, done in parts if done.reason), "")
        self.values = [[] for _ in self.sampler.axes]
        for _, columns, done in parts:
            for values, rows in zip(self.values, _rows(columns, done).values(), strict=True):
                values.extend(rows)
        width = len(self.evaluator.objectives.names)
        self.costs = np.concatenate([np.empty((0, width)), *(done.costs for _, _, done in parts)])
        self.points = np.concatenate(
            [np.empty(0, np.int64), *(n * self.sampler.chunk + d.rows for n, _, d in parts)]
        )


def _rows(columns: dict[str, list[Any]], done: Done) -> dict[str, list[Any]]:
    """Repeat the values of points that have several mappings."""
    count = len(next(iter(columns.values())))
    if len(done.rows) == count and (done.rows == np.arange(count)).all():
        return columns
    index = done.rows.tolist()
    return {name: [values[i] for i in index] for name, values in columns.items()}


def _numbered(done: Done, start: int) -> Iterator[tuple[int, int]]:
    """Give each row the number of its point, and of its mapping among those of the point."""
    last, mapping = -1, 0
    for point in done.rows.tolist():
        mapping = mapping + 1 if point == last else 0
        last = point
        yield start + point, mapping
