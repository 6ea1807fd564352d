# SPDX-License-Identifier: BSD-3-Clause
"""Flattens a problem: names become indices, and all numbers go into one array.

The format is described in docs/design/accelforge.md, the tables in
csrc/accelforge/model/problem.h. Names, types and fields are checked here; the engine checks
ranges, and that the mapping makes sense.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

__all__ = ["NONE", "Path", "ProblemError", "Tables", "flatten", "path_text"]

NONE = 0xFFFFFFFF

# A path is linked to its parent, so that making one costs little.
Path = tuple[Any, "str | int"] | None
Record = Mapping[str, Any]

# enum forge_number
BOUND, POSITIVE, AMOUNT, CAPACITY, RATE, ANY = range(6)

LEVEL_KINDS = {"memory": 0, "toll": 1, "compute": 2, "container": 3}
HOLD, TEMPORAL, SPATIAL, LEAF = range(4)
PROPERTIES = {"calls": 1, "throughput": 2, "energy": 3}
WORDS = {
    **{"+": 4, "-": 5, "*": 6, "/": 7, "min": 8, "max": 9, "pow": 10, "floordiv": 11, "mod": 12},
    **{"neg": 13, "ceil": 14, "floor": 15, "sqrt": 16, "exp": 17, "log": 18, "abs": 19},
}
DIRECTIONS = {"up": (1, 0), "down": (0, 1), "up_and_down": (1, 1)}

# The fields of each record; a test compares them with what the design page lists.
FIELDS = {
    "problem": "format version n_instances components einsums mapping parameters",
    "component": "name area leak_power instances",
    "einsum": "name n_instances is_copy_operation variables tensors levels leaks",
    "tensor": "name output projection",
    "rank": "terms constant",
    "level": "component kind spatial size skip_initial_output_write actions_scale actions "
    "total_latency tensors",
    "holding": "bits_per_value read_values_per_action write_values_per_action direction",
    "dimension": "name fanout may_reuse usage_scale",
    "action": "name energy throughput",
    "leak": "component power share gated_by",
    "hold": "hold tensors persistent",
    "temporal": "temporal tile initial",
    "spatial": "spatial tile initial component dim",
    "compute": "compute einsum",
    "sequential": "sequential",
    "pipeline": "pipeline",
}
_ALLOWED = {kind: frozenset(names.split()) for kind, names in FIELDS.items()}
_DEEPEST_NESTING = 100
_MISSING: Any = object()


class ProblemError(ValueError):
    """A problem that the engine cannot take.

    Parameters
    ----------
    message : str
        What is wrong.
    path : str
        Where, for example ``einsums[0].levels[2].size``; empty for the whole problem.
    """

    path: str

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path


def path_text(path: Path) -> str:
    """Write a path as text, as users give it."""
    parts: list[str] = []
    while path is not None:
        path, key = path
        if isinstance(key, int):
            parts.append(f"[{key}]")
        elif re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
            parts.append(f".{key}")
        else:
            parts.append(f"[{json.dumps(key)}]")
    return "".join(reversed(parts)).removeprefix(".")


class Tables:
    """A flattened problem.

    Attributes
    ----------
    records : dict of str to array
        For each table of the engine its records, one after the other, as 32-bit numbers.
    values : array of double
        All numbers.
    numbers : bytearray
        What kind of number each is.
    paths : list
        Where each came from.
    parameters : dict of str to list of int
        The values that each parameter sets.
    """

    def __init__(self) -> None:
        names = "components einsums variables tensors ranks terms levels dimensions actions"
        names += " holdings tokens leaks gates steps indices"
        self.records: dict[str, array[int]] = {name: array("I") for name in names.split()}
        self.values = array("d")
        self.numbers = bytearray()
        self.paths: list[Path] = []
        self.parameters: dict[str, list[int]] = {}
        self.n_instances = 0
        self.component_names: list[str] = []
        self.tensor_names: list[str] = []
        self.einsum_names: list[str] = []
        # Per Einsum.
        self.variables: list[list[str]] = []
        self.accesses: list[list[str]] = []
        self.levels: list[list[str]] = []
        self.dimensions: list[list[list[str]]] = []
        self._slots: dict[str, int] | None = None

    def slot(self, path: str) -> int | None:
        """Find the value that a path names."""
        if self._slots is None:
            self._slots = {path_text(known): i for i, known in enumerate(self.paths)}
        return self._slots.get(path)


class _Flattener:
    """What is needed while a problem is flattened."""

    def __init__(self) -> None:
        self.tables = Tables()
        self.components: dict[str, int] = {}
        self.tensors: dict[str, int] = {}

    # -- fields ----------------------------------------------------------------------------

    def record(self, value: object, kind: str, path: Path) -> Record:
        if not isinstance(value, Mapping):
            raise ProblemError(f"must be a dictionary ({kind})", path_text(path))
        unknown = value.keys() - _ALLOWED[kind]
        if unknown:
            names = ", ".join(sorted(map(str, unknown)))
            known = ", ".join(sorted(_ALLOWED[kind]))
            raise ProblemError(f"unknown field {names}; a {kind} has {known}", path_text(path))
        return value

    def field(self, record: Record, key: str, path: Path, default: Any = _MISSING) -> Any:
        value = record.get(key, default)
        if value is _MISSING:
            raise ProblemError(f"the field {key!r} is missing", path_text(path))
        return value

    def name(self, record: Record, key: str, path: Path) -> str:
        value = self.field(record, key, path)
        if not isinstance(value, str):
            raise ProblemError("must be a string", path_text((path, key)))
        return value

    def sequence(self, record: Record, key: str, path: Path, default: Any = _MISSING) -> Any:
        value = self.field(record, key, path, default)
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise ProblemError("must be a list", path_text((path, key)))
        return value

    def mapping(self, record: Record, key: str, path: Path, default: Any = _MISSING) -> Any:
        value = self.field(record, key, path, default)
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise ProblemError("must be a dictionary with strings as keys", path_text((path, key)))
        return value

    def flag(self, record: Record, key: str, path: Path, default: bool) -> int:
        value = record.get(key, default)
        if value is not True and value is not False:
            raise ProblemError("must be true or false", path_text((path, key)))
        return int(value)

    def number(
        self, record: Record, key: str, kind: int, path: Path, default: Any = _MISSING
    ) -> int:
        return self.value(self.field(record, key, path, default), kind, (path, key))

    def value(self, number: Any, kind: int, path: Path) -> int:
        """Keep a number; its index among the values."""
        if isinstance(number, str) and number == "inf":
            number = float("inf")
        if type(number) is not float:
            if isinstance(number, (bool, str)) or not hasattr(number, "__float__"):
                raise ProblemError("must be a number", path_text(path))
            try:
                number = float(number)
            except (OverflowError, TypeError, ValueError) as error:
                raise ProblemError(f"must be a number ({error})", path_text(path)) from None
        tables = self.tables
        tables.values.append(number)
        tables.numbers.append(kind)
        tables.paths.append(path)
        return len(tables.values) - 1

    def count(self, table: str, width: int) -> int:
        return len(self.tables.records[table]) // width

    def add(self, table: str, *fields: int) -> None:
        self.tables.records[table].extend(fields)

    def choice(
        self, names: Mapping[str, Any], record: Record, key: str, path: Path, what: str
    ) -> Any:
        name = self.name(record, key, path)
        if name not in names:
            known = ", ".join(names) or "none"
            raise ProblemError(f"there is no {what} {name!r}, only {known}", path_text((path, key)))
        return names[name]

    # -- components ------------------------------------------------------------------------

    def component(self, record: Record, path: Path) -> None:
        self.record(record, "component", path)
        name = self.name(record, "name", path)
        if name in self.components:
            raise ProblemError(f"there are two components {name!r}", path_text(path))
        self.new_component(name, record, path)

    def new_component(self, name: str, record: Record, path: Path) -> int:
        self.add(
            "components",
            self.number(record, "area", AMOUNT, path, 0.0),
            self.number(record, "leak_power", AMOUNT, path, 0.0),
            self.number(record, "instances", POSITIVE, path, 1.0),
        )
        self.components[name] = len(self.tables.component_names)
        self.tables.component_names.append(name)
        return self.components[name]

    # -- the problem -----------------------------------------------------------------------

    def problem(self, problem: object) -> Tables:
        top = self.record(problem, "problem", None)
        if top.get("format") != "accelforge-problem" or top.get("version") != 1:
            raise ProblemError("'format' must be \"accelforge-problem\" and 'version' 1")
        self.tables.n_instances = self.number(top, "n_instances", POSITIVE, None, 1.0)
        for i, component in enumerate(self.sequence(top, "components", None, ())):
            self.component(component, ((None, "components"), i))
        listed = len(self.components)

        einsums = [
            _EinsumFlattener(self, record, ((None, "einsums"), i), listed)
            for i, record in enumerate(self.sequence(top, "einsums", None))
        ]
        by_name = {einsum.name: einsum for einsum in einsums}
        if len(by_name) != len(einsums) or not einsums:
            raise ProblemError("must have Einsums of different names", "einsums")
        _MappingFlattener(self, by_name).nodes(
            self.sequence(top, "mapping", None), (None, "mapping"), []
        )
        for einsum in einsums:
            einsum.finish()

        self.tables.tensor_names = list(self.tensors)
        self.parameters(self.mapping(top, "parameters", None, {}))
        return self.tables

    def parameters(self, parameters: Mapping[str, Any]) -> None:
        for name in parameters:
            path = ((None, "parameters"), name)
            slots = []
            for target in self.sequence(parameters, name, (None, "parameters")):
                slot = self.tables.slot(target) if isinstance(target, str) else None
                if slot is None or self.tables.numbers[slot] == ANY:
                    raise ProblemError(f"{target!r} does not name a number", path_text(path))
                slots.append(slot)
            self.tables.parameters[name] = slots


class _EinsumFlattener:
    """Flattens one Einsum; its steps come from the mapping."""

    def __init__(self, flattener: _Flattener, record: Record, path: Path, listed: int) -> None:
        self.f = flattener
        self.path = path
        f = flattener
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
                f.number(holding, "read_values_per_action", POSITIVE, here, 1.0),
                f.number(holding, "write_values_per_action", POSITIVE, here, 1.0),
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


class _MappingFlattener:
    """Walks over the nodes; at each leaf the steps of an Einsum are known."""

    def __init__(self, flattener: _Flattener, einsums: Mapping[str, _EinsumFlattener]) -> None:
        self.f = flattener
        self.einsums = einsums
        self.node_count = 0
        self.kinds: dict[str, Callable[[Record, Path], Any]] = {
            "hold": self.hold,
            "temporal": self.loop,
            "spatial": self.loop,
        }

    def nodes(self, nodes: Sequence[object], path: Path, above: list[Any]) -> None:
        if above.count(None) > _DEEPEST_NESTING:
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

    def hold(self, record: Record, path: Path) -> Callable[[_EinsumFlattener], Any]:
        f = self.f
        component = f.name(record, "hold", path)
        tensors = f.sequence(record, "tensors", path)
        names = [name for name in tensors if isinstance(name, str)]
        persistent = f.flag(record, "persistent", path, False)
        self.node_count += 1
        node = self.node_count

        def step(einsum: _EinsumFlattener) -> tuple[int, ...] | None:
            held = [einsum.tensors[name] for name in names if name in einsum.tensors]
            if not held:
                return None
            level = self.level(einsum, component, (path, "hold"))
            first = f.count("indices", 1)
            f.add("indices", *held)
            return HOLD, node, level, 0, 0, NONE, 0, persistent, first, len(held)

        return step

    def loop(self, record: Record, path: Path) -> Callable[[_EinsumFlattener], Any]:
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

        def step(einsum: _EinsumFlattener) -> tuple[int, ...]:
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

    def steps_of(self, einsum: _EinsumFlattener, above: list[Any]) -> Iterator[Any]:
        return (make(einsum) for make in above if make is not None)

    def level(self, einsum: _EinsumFlattener, name: str, path: Path) -> int:
        if name not in einsum.levels:
            raise ProblemError(
                f"there is no component {name!r} on the path of Einsum {einsum.name!r}",
                path_text(path),
            )
        return einsum.levels[name]

    def variable(self, einsum: _EinsumFlattener, names: Any, path: Path) -> int:
        name = names.get(einsum.name) if isinstance(names, Mapping) else names
        if not isinstance(name, str) or name not in einsum.variables:
            raise ProblemError(
                f"Einsum {einsum.name!r} has no rank variable {name!r}", path_text(path)
            )
        return einsum.variables[name]


def flatten(problem: object) -> Tables:
    """Flatten a problem.

    Raises
    ------
    ProblemError
        For fields, types and names that the format does not have.
    """
    return _Flattener().problem(problem)
