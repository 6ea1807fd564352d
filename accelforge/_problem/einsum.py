# SPDX-License-Identifier: BSD-3-Clause
"""Flattens an Einsum and the components on its path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accelforge._problem.format import (
    AMOUNT,
    ANY,
    BOUND,
    CAPACITY,
    DIRECTIONS,
    LEVEL_KINDS,
    NONE,
    POSITIVE,
    PROPERTIES,
    RATE,
    WORDS,
    Path,
    Record,
)
from accelforge._problem.reader import Reader
from accelforge._problem.tables import ProblemError, path_text

__all__ = ["EinsumFlattener"]


class EinsumFlattener:
    """Flattens one Einsum; its steps come from the mapping."""

    def __init__(self, reader: Reader, record: Record, path: Path, listed: int) -> None:
        self.f = reader
        self.path = path
        f = reader
        f.record(record, "einsum", path)
        self.name = f.name(record, "name", path)
        self.n_instances = f.number(record, "n_instances", POSITIVE, path, 1.0)
        self.copy = f.flag(record, "is_copy_operation", path, False)
        self.steps: list[tuple[int, ...]] | None = None

        self.variables: dict[str, int] = {}
        self.first_variable = f.count("variables", 1)
        bounds = f.mapping(record, "variables", path)
        for variable in bounds:
            self.variables[variable] = len(self.variables)
            f.add("variables", f.number(bounds, variable, BOUND, (path, "variables")))

        self.tensors: dict[str, int] = {}
        self.tensor_records = [
            self.tensor(tensor, ((path, "tensors"), i))
            for i, tensor in enumerate(f.sequence(record, "tensors", path))
        ]
        self.first_tensor = f.count("tensors", 4)
        for tensor in self.tensor_records:
            f.add("tensors", *tensor)

        self.levels: dict[str, int] = {}
        self.dimensions: list[dict[str, int]] = []
        level_records = []
        for i, level in enumerate(f.sequence(record, "levels", path)):
            level_records.append(self.level(level, ((path, "levels"), i)))
        self.first_level = f.count("levels", 16)
        for fields in level_records:
            f.add("levels", *fields)

        leaks = self.leaks(record, listed)
        self.first_leak = f.count("leaks", 5)
        for fields in leaks:
            f.add("leaks", *fields)
        self.leak_count = len(leaks)
        self.publish()

    def publish(self) -> None:
        tables = self.f.tables
        tables.einsum_names.append(self.name)
        tables.variables.append(list(self.variables))
        tables.accesses.append(list(self.tensors))
        tables.levels.append(list(self.levels))
        tables.dimensions.append([list(names) for names in self.dimensions])

    def finish(self) -> None:
        """Add the record, once the steps are known."""
        f = self.f
        if self.steps is None:
            raise ProblemError(f"the mapping has no compute node for {self.name!r}", "mapping")
        first_step = f.count("steps", 10)
        for step in self.steps:
            f.add("steps", *step)
        f.add("einsums", self.n_instances, self.copy)
        f.add("einsums", self.first_variable, len(self.variables))
        f.add("einsums", self.first_tensor, len(self.tensors))
        f.add("einsums", self.first_level, len(self.levels))
        f.add("einsums", self.first_leak, self.leak_count, first_step, len(self.steps))

    # -- tensors ---------------------------------------------------------------------------

    def tensor(self, record: Record, path: Path) -> tuple[int, ...]:
        f = self.f
        f.record(record, "tensor", path)
        name = f.name(record, "name", path)
        if name in self.tensors:
            raise ProblemError(f"there are two tensors {name!r}", path_text(path))
        self.tensors[name] = len(self.tensors)
        identity = f.tensors.setdefault(name, len(f.tensors))

        projection = f.sequence(record, "projection", path)
        ranks = [self.rank(rank, ((path, "projection"), i)) for i, rank in enumerate(projection)]
        first = f.count("ranks", 3)
        for rank in ranks:
            f.add("ranks", *rank)
        return identity, f.flag(record, "output", path, False), first, len(ranks)

    def rank(self, rank: object, path: Path) -> tuple[int, int, int]:
        f = self.f
        if isinstance(rank, str):
            rank = {"terms": {rank: 1.0}}
        record = f.record(rank, "rank", path)
        terms = f.mapping(record, "terms", path)
        first = f.count("terms", 2)
        for variable in terms:
            if variable not in self.variables:
                raise ProblemError(f"there is no rank variable {variable!r}", path_text(path))
            coefficient = f.number(terms, variable, ANY, (path, "terms"))
            f.add("terms", self.variables[variable], coefficient)

        constant = NONE
        if record.get("constant", 0) != 0:
            constant = f.number(record, "constant", ANY, path)
        return first, len(terms), constant

    # -- levels ----------------------------------------------------------------------------

    def level(self, record: Record, path: Path) -> tuple[int, ...]:
        f = self.f
        f.record(record, "level", path)
        name = f.name(record, "component", path)
        if name in self.levels:
            raise ProblemError(f"the component {name!r} is there twice", path_text(path))
        component = f.components.get(name)
        if component is None:
            component = f.new_component(name, {}, path)
        self.levels[name] = len(self.levels)

        kind = f.choice(LEVEL_KINDS, record, "kind", path, "kind")
        size = f.number(record, "size", CAPACITY, path, "inf")
        scale = f.number(record, "actions_scale", AMOUNT, path, 1.0)
        skip = f.flag(record, "skip_initial_output_write", path, True)
        actions = self.actions(record, path)
        first_action = f.count("actions", 2) - len(actions)
        formula = self.formula(record, path, actions)
        dimensions = self.spatial(record, path)
        holdings = self.holdings(record, path)
        known = [actions.get(action, NONE) for action in ("read", "write", "compute")]
        return (
            *(kind, component, size, skip, scale, first_action, len(actions), *known),
            *(*formula, *dimensions, *holdings),
        )

    def actions(self, record: Record, path: Path) -> dict[str, int]:
        f = self.f
        found: dict[str, int] = {}
        for i, action in enumerate(f.sequence(record, "actions", path, ())):
            here = ((path, "actions"), i)
            f.record(action, "action", here)
            name = f.name(action, "name", here)
            if name in found:
                raise ProblemError(f"there are two actions {name!r}", path_text(here))
            found[name] = len(found)
            f.add(
                "actions",
                f.number(action, "energy", AMOUNT, here, 0.0),
                f.number(action, "throughput", RATE, here, "inf"),
            )
        return found

    def formula(self, record: Record, path: Path, actions: Mapping[str, int]) -> tuple[int, int]:
        f = self.f
        first = f.count("tokens", 2)
        if record.get("total_latency") is None:
            return first, 0
        for i, word in enumerate(f.sequence(record, "total_latency", path)):
            f.add("tokens", *self.word(word, ((path, "total_latency"), i), actions))
        count = f.count("tokens", 2) - first
        if count == 0:
            raise ProblemError("must not be empty", path_text((path, "total_latency")))
        return first, count

    def word(self, word: object, path: Path, actions: Mapping[str, int]) -> tuple[int, int]:
        if isinstance(word, str) and word in WORDS:
            return WORDS[word], 0
        if isinstance(word, Sequence) and not isinstance(word, str):
            texts = len(word) == 2 and all(isinstance(part, str) for part in word)
            if texts and word[0] in PROPERTIES and word[1] in actions:
                return PROPERTIES[word[0]], actions[word[1]]
            raise ProblemError(
                "must be [calls, throughput or energy, an action of this level]", path_text(path)
            )
        return 0, self.f.value(word, ANY, path)

    def spatial(self, record: Record, path: Path) -> tuple[int, int]:
        f = self.f
        names: dict[str, int] = {}
        records = []
        for i, dimension in enumerate(f.sequence(record, "spatial", path, ())):
            here = ((path, "spatial"), i)
            f.record(dimension, "dimension", here)
            name = f.name(dimension, "name", here)
            if name in names:
                raise ProblemError(f"there are two dimensions {name!r}", path_text(here))
            names[name] = len(names)
            reuse = f.sequence(dimension, "may_reuse", here, list(self.tensors))
            # Tensors of other Einsums may be named.
            mine = [self.tensors[t] for t in reuse if isinstance(t, str) and t in self.tensors]
            first = f.count("indices", 1)
            f.add("indices", *mine)
            fanout = f.number(dimension, "fanout", POSITIVE, here)
            scale = f.number(dimension, "usage_scale", AMOUNT, here, 1.0)
            records.append((fanout, scale, first, len(mine)))

        self.dimensions.append(names)
        first = f.count("dimensions", 4)
        for fields in records:
            f.add("dimensions", *fields)
        return first, len(records)

    def holdings(self, record: Record, path: Path) -> tuple[int, int]:
        f = self.f
        first = f.count("holdings", 6)
        costs = f.mapping(record, "tensors", path, {})
        for name in costs:
            here = ((path, "tensors"), name)
            holding = f.record(costs[name], "holding", here)
            if name not in self.tensors:
                raise ProblemError(f"{self.name!r} has no tensor {name!r}", path_text(here))
            direction = holding.get("direction", "up_and_down")
            if not isinstance(direction, str) or direction not in DIRECTIONS:
                raise ProblemError(
                    "must be up, down or up_and_down", path_text((here, "direction"))
                )
            f.add(
                "holdings",
                self.tensors[name],
                f.number(holding, "bits_per_value", AMOUNT, here, 1.0),
                f.number(holding, "read_values_per_action", RATE, here, 1.0),
                f.number(holding, "write_values_per_action", RATE, here, 1.0),
                *DIRECTIONS[direction],
            )

        return first, len(costs)

    # -- leaks -----------------------------------------------------------------------------

    def leaks(self, record: Record, listed: int) -> list[tuple[int, ...]]:
        f = self.f
        if record.get("leaks") is None:
            one = f.value(1.0, AMOUNT, (self.path, "leaks")) if listed else 0
            return [(i, NONE, one, 0, 0) for i in range(listed)]
        return [
            self.leak(leak, ((self.path, "leaks"), i))
            for i, leak in enumerate(f.sequence(record, "leaks", self.path))
        ]

    def leak(self, record: Record, path: Path) -> tuple[int, ...]:
        f = self.f
        f.record(record, "leak", path)
        component = f.choice(f.components, record, "component", path, "component")
        power = NONE if record.get("power") is None else f.number(record, "power", AMOUNT, path)
        share = f.number(record, "share", AMOUNT, path, 1.0)
        gates = f.sequence(record, "gated_by", path, ())
        first = f.count("gates", 2)
        for i, gate in enumerate(gates):
            f.add("gates", *self.gate(gate, ((path, "gated_by"), i)))
        return component, power, share, first, len(gates)

    def gate(self, gate: object, path: Path) -> tuple[int, int]:
        names = list(gate) if isinstance(gate, Sequence) else []
        if len(names) == 2 and all(isinstance(name, str) for name in names):
            level = self.levels.get(names[0])
            if level is not None and names[1] in self.dimensions[level]:
                return level, self.dimensions[level][names[1]]
        raise ProblemError("must be [component, dimension] of a level", path_text(path))
