# SPDX-License-Identifier: BSD-3-Clause
"""Choice of the points of an exploration: all, at random, or near the best ones.

A sampler makes chunks of points. What a chunk has depends on the seed, on its number and, for the
adaptive one, on the results of earlier chunks; so an exploration that goes on after a stop has the
same points as one without it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from accelforge._join import Front
from accelforge.exploration.axes import Axis

__all__ = ["SAMPLERS", "Adaptive", "Grid", "Random", "Sampler"]

Columns = dict[str, list[Any]]
Array = NDArray[np.float64]

# Part of the points of an adaptive chunk that are anywhere, and the widest and the least change.
_ANYWHERE = 0.15
_WIDE, _NARROW = 0.3, 0.002
# Points of the front that others are made from.
_MOST_PARENTS = 1024


class Sampler:
    """Makes points.

    Parameters
    ----------
    axes : mapping
        The parameters.
    count : int or None
        How many points there are to be.
    seed : int
        For random numbers.
    chunk : int
        How many points a chunk has, but the last one.
    """

    name: ClassVar[str]
    waits: ClassVar[bool] = False
    """True if a chunk needs the results of all earlier ones."""

    def __init__(self, axes: Mapping[str, Axis], count: int | None, seed: int, chunk: int) -> None:
        self.axes = dict(axes)
        self.seed = seed
        self.chunk = chunk
        self.count = self._total(count)

    def _total(self, count: int | None) -> int:
        if count is None:
            raise ValueError(f"method={self.name!r} needs count=, the number of points")
        return count

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        return -(-self.count // self.chunk)

    def size(self, number: int) -> int:
        """Return how many points a chunk has."""
        return min(self.chunk, self.count - number * self.chunk)

    def columns(self, number: int) -> Columns:
        """Return the values of each parameter, for the points of a chunk.

        Parameters
        ----------
        number : int
            The chunk.
        """
        raise NotImplementedError

    def learn(self, columns: Columns, costs: Array) -> None:
        """Take note of results, chunk by chunk, if `waits`."""

    def _generator(self, number: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, number))

    def _values(self, places: Array) -> Columns:
        return {name: axis.values(places[:, i]) for i, (name, axis) in enumerate(self.axes.items())}


class Grid(Sampler):
    """All combinations; the last parameter changes first."""

    name = "grid"

    def _total(self, count: int | None) -> int:
        if count is not None:
            raise ValueError("a grid has all combinations, so that count= is not for it")
        for name, axis in self.axes.items():
            if axis.count is None:
                raise ValueError(
                    f"{name} is a Range without number of values: a grid needs a list, or a Range "
                    f"with integer=True; methods 'random' and 'adaptive' take any"
                )
        return math.prod(axis.count or 0 for axis in self.axes.values())

    def columns(self, number: int) -> Columns:
        """Return the values of each parameter, for the points of a chunk."""
        start = number * self.chunk
        points = np.arange(start, start + self.size(number))
        found: Columns = {}
        for name, axis in reversed(self.axes.items()):
            points, index = np.divmod(points, axis.count or 1)
            found[name] = [axis.at(i) for i in index.tolist()]
        return {name: found[name] for name in self.axes}


class Random(Sampler):
    """Points at random, as evenly as that goes: each chunk has each part of each parameter."""

    name = "random"

    def columns(self, number: int) -> Columns:
        """Return the values of each parameter, for the points of a chunk."""
        return self._values(self._places(number))

    def _places(self, number: int) -> Array:
        generator, size = self._generator(number), self.size(number)
        parts = [generator.permutation(size) for _ in self.axes]
        inside = generator.random((size, len(self.axes)))
        return (np.column_stack(parts) + inside) / size


class Adaptive(Random):
    """Points between and near those that no other one beats, and some anywhere."""

    name = "adaptive"
    waits = True

    def __init__(self, axes: Mapping[str, Axis], count: int | None, seed: int, chunk: int) -> None:
        super().__init__(axes, count, seed, chunk)
        self.parents = np.empty((0, len(self.axes)))
        # The numbers of their rows.
        self.rows = np.empty(0, dtype=np.int64)
        self.seen = 0
        self.front: Front | None = None

    def learn(self, columns: Columns, costs: Array) -> None:
        """Take note of results."""
        places = np.column_stack([axis.places(columns[name]) for name, axis in self.axes.items()])
        if self.front is None:
            self.front = Front(costs.shape[1])
        known = np.concatenate([self.rows, np.arange(self.seen, self.seen + len(costs))])
        self.seen += len(costs)
        self.rows = self.front.add(costs)
        self.parents = np.vstack([self.parents, places])[np.searchsorted(known, self.rows)]

    def columns(self, number: int) -> Columns:
        """Return the values of each parameter, for the points of a chunk."""
        places = self._places(number)
        if not len(self.parents):
            return self._values(places)
        generator, (size, width) = self._generator(number + (1 << 40)), places.shape
        parents = self.parents
        if len(parents) > _MOST_PARENTS:
            parents = parents[generator.choice(len(parents), _MOST_PARENTS, replace=False)]
        one, other = (parents[generator.integers(len(parents), size=size)] for _ in range(2))
        mixed = np.where(generator.random((size, width)) < 0.5, one, other)
        spread = np.exp(generator.uniform(np.log(_NARROW), np.log(_WIDE), (size, 1)))
        moves = generator.random((size, width)) < max(0.3, 1 / width)
        # A value of a list lies this far from the next one.
        steps = np.array([1 / (axis.count or np.inf) for axis in self.axes.values()])
        moved = mixed + moves * generator.normal(size=(size, width)) * np.maximum(spread, steps)
        # Back from the edges, where values would pile up.
        moved = np.abs(moved)
        moved = np.clip(np.where(moved > 1, 2 - moved, moved), 0, 1)
        anywhere = generator.random((size, 1)) < _ANYWHERE
        return self._values(np.where(anywhere, places, moved))


SAMPLERS: dict[str, type[Sampler]] = {kind.name: kind for kind in (Grid, Random, Adaptive)}
