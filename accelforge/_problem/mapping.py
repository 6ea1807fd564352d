# SPDX-License-Identifier: BSD-3-Clause
"""Flattens a mapping into the steps of each Einsum."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from accelforge._problem.einsum import EinsumFlattener
from accelforge._problem.format import (
    DEEPEST_NESTING,
    HOLD,
    LEAF,
    NONE,
    POSITIVE,
    SPATIAL,
    TEMPORAL,
    Path,
    Record,
)
from accelforge._problem.reader import Reader
from accelforge._problem.tables import ProblemError, path_text

__all__ = ["MappingFlattener"]


class MappingFlattener:
    """Walks over the nodes; at each leaf the steps of an Einsum are known."""

    def __init__(self, reader: Reader, einsums: Mapping[str, EinsumFlattener]) -> None:
        self.f = reader
        self.einsums = einsums
        self.node_count = 0
        self.kinds: dict[str, Callable[[Record, Path], Any]] = {
            "hold": self.hold,
            "temporal": self.loop,
            "spatial": self.loop,
        }

    def nodes(self, nodes: Sequence[object], path: Path, above: list[Any]) -> None:
        if above.count(None) > DEEPEST_NESTING:
            raise ProblemError("nodes are nested too deeply", path_text(path))
        if not nodes:
            raise ProblemError("must end with a compute or sequential node", path_text(path))
        steps = list(above)
        for i, node in enumerate(nodes):
            here = (path, i)
            kind = self.kind_of(node, here)
            record = self.f.record(node, kind, here)
            last = i == len(nodes) - 1
            if (kind in self.kinds) == last:
                raise ProblemError(
                    "must end with a compute or sequential node, and have none before",
                    path_text(here),
                )
            if kind in self.kinds:
                steps.append(self.kinds[kind](record, here))
            elif kind == "compute":
                self.leaf(record, here, steps)
            else:
                self.branches(record, kind, here, steps)

    def kind_of(self, node: object, path: Path) -> str:
        kinds = ("hold", "temporal", "spatial", "compute", "sequential", "pipeline")
        found = [kind for kind in kinds if isinstance(node, Mapping) and kind in node]
        if len(found) != 1:
            raise ProblemError(f"must have one field of {', '.join(kinds)}", path_text(path))
        return found[0]

    def branches(self, record: Record, kind: str, path: Path, steps: list[Any]) -> None:
        branches = self.f.sequence(record, kind, path)
        if not branches:
            raise ProblemError("must have a branch", path_text(path))
        for i, branch in enumerate(branches):
            if isinstance(branch, str) or not isinstance(branch, Sequence):
                raise ProblemError("must be a list of nodes", path_text(((path, kind), i)))
            self.nodes(branch, ((path, kind), i), [*steps, None])

    # Each gives a function from an Einsum to its step, or None where it has none.

    def hold(self, record: Record, path: Path) -> Callable[[EinsumFlattener], Any]:
        f = self.f
        component = f.name(record, "hold", path)
        tensors = f.sequence(record, "tensors", path)
        names = [name for name in tensors if isinstance(name, str)]
        persistent = f.flag(record, "persistent", path, False)
        einsums = None
        if record.get("einsums") is not None:
            einsums = f.sequence(record, "einsums", path)
        self.node_count += 1
        node = self.node_count

        def step(einsum: EinsumFlattener) -> tuple[int, ...] | None:
            held = [einsum.tensors[name] for name in names if name in einsum.tensors]
            if not held or (einsums is not None and einsum.name not in einsums):
                return None
            level = self.level(einsum, component, (path, "hold"))
            first = f.count("indices", 1)
            f.add("indices", *held)
            return HOLD, node, level, 0, 0, NONE, 0, persistent, first, len(held)

        return step

    def loop(self, record: Record, path: Path) -> Callable[[EinsumFlattener], Any]:
        f = self.f
        spatial = "spatial" in record
        key = "spatial" if spatial else "temporal"
        tile = f.number(record, "tile", POSITIVE, path)
        initial = NONE
        if record.get("initial") is not None:
            initial = f.number(record, "initial", POSITIVE, path)
        component = f.name(record, "component", path) if spatial else ""
        dim = f.name(record, "dim", path) if spatial else ""
        names = f.field(record, key, path)
        self.node_count += 1
        node = self.node_count

        def step(einsum: EinsumFlattener) -> tuple[int, ...]:
            variable = self.variable(einsum, names, (path, key))
            level = dimension = 0
            if spatial:
                level = self.level(einsum, component, (path, "component"))
                if dim not in einsum.dimensions[level]:
                    raise ProblemError(
                        f"{component!r} has no spatial dimension {dim!r}", path_text((path, "dim"))
                    )
                dimension = einsum.dimensions[level][dim]
            kind = SPATIAL if spatial else TEMPORAL
            return kind, node, level, variable, tile, initial, dimension, 0, 0, 0

        return step

    def leaf(self, record: Record, path: Path, above: list[Any]) -> None:
        einsum = self.f.choice(self.einsums, record, "einsum", path, "Einsum")
        if einsum.steps is not None:
            raise ProblemError(f"{einsum.name!r} has two compute nodes", path_text(path))
        level = self.level(einsum, self.f.name(record, "compute", path), (path, "compute"))
        steps = [step for step in self.steps_of(einsum, above) if step is not None]
        self.node_count += 1
        einsum.steps = [*steps, (LEAF, self.node_count, level, 0, 0, NONE, 0, 0, 0, 0)]

    def steps_of(self, einsum: EinsumFlattener, above: list[Any]) -> Iterator[Any]:
        return (make(einsum) for make in above if make is not None)

    def level(self, einsum: EinsumFlattener, name: str, path: Path) -> int:
        if name not in einsum.levels:
            raise ProblemError(
                f"there is no component {name!r} on the path of Einsum {einsum.name!r}",
                path_text(path),
            )
        return einsum.levels[name]

    def variable(self, einsum: EinsumFlattener, names: Any, path: Path) -> int:
        name = names.get(einsum.name) if isinstance(names, Mapping) else names
        if not isinstance(name, str) or name not in einsum.variables:
            raise ProblemError(
                f"Einsum {einsum.name!r} has no rank variable {name!r}", path_text(path)
            )
        return einsum.variables[name]
