# SPDX-License-Identifier: BSD-3-Clause
"""Flattens a mapspace: names become indices, and sets of names become bits.

The format is described in docs/design/accelforge.md, the tables in csrc/accelforge/search/space.h.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from accelforge._problem.flatten import flatten
from accelforge._problem.format import Path, Record
from accelforge._problem.tables import ProblemError, Tables, path_text
from accelforge._problem.totals import OBJECTIVES

__all__ = ["METRICS", "SETTINGS", "Mapspace", "flatten_mapspace"]

# Totals that a search minimises.
METRICS = OBJECTIVES

# The settings that the search knows, in the order of struct forge_settings, and their defaults.
SETTINGS: dict[str, float] = {
    "force_memory_hierarchy_order": 1,
    "max_fused_loops_per_rank_variable": 1,
    "max_fused_loops": math.inf,
    "max_loops": math.inf,
    "max_loops_minus_ranks": math.inf,
    "max_loops_per_spatial_dimension": math.inf,
    "tiling_coarseness": 1,
    "explore_loop_orders": 1,
    "max_pmapping_templates_per_einsum": math.inf,
    "explore_imperfect_spatial_loops": 0,
    "explore_imperfect_temporal_loops": 0,
    "objective_tolerance": 0,
    "resource_usage_tolerance": 0,
    "out_of_order_hierarchy_explore_removing_spatials_for_more_temporals": 0,
}

# enum forge_relation
RELATIONS = {"==": 0, "<=": 1, ">=": 2, "<": 3, ">": 4}

MOST_MEMBERS = 64

FIELDS = {
    "mapspace": "problem metrics shared intermediate placements unforced tracked mapper",
    "placement": "holders orders no_refetch no_resend tile_shape spatial",
    "holder": "component tensor backing persistent must_keep",
    "tile shape": "component variables operator value",
    "loop bound": "variables operator value",
    "spatial": "component dim min_usage loop_bounds",
}
ALLOWED = {kind: frozenset(names.split()) for kind, names in FIELDS.items()}
_HOLDER_FIELDS = len(ALLOWED["holder"])


class Mapspace:
    """A flattened mapspace.

    Attributes
    ----------
    tables : Tables
        The problem, whose mapping is its leaf.
    records : dict of str to array
        For each table of the search its records, one after the other, as 32-bit numbers.
    sets : array of unsigned 64-bit numbers
        Sets of variables or tensors.
    numbers : array of double
        Numbers of limits.
    metrics : list of str
        What is minimised, as given.
    """

    def __init__(self, tables: Tables) -> None:
        names = "placements keepers orders residents comparisons usages"
        self.tables = tables
        self.records: dict[str, array[int]] = {name: array("I") for name in names.split()}
        self.sets = array("Q")
        self.numbers = array("d")
        self.variable_ranks = array("I")
        self.tensor_ranks = array("I")
        self.level_ranks = array("I")
        self.unforced = bytearray()
        self.tracked = bytearray()
        self.shared = 0
        self.intermediate = 0
        self.metrics: list[str] = []
        self.wanted = bytearray(len(METRICS))
        self.usage = False
        self.settings = array("d")


def _ranks(names: Sequence[str]) -> array[int]:
    """Give the place of each name among the sorted ones."""
    order = {name: i for i, name in enumerate(sorted(names))}
    return array("I", (order[name] for name in names))


class _Flattener:
    """Reads the parts in their order."""

    def __init__(self, space: Mapspace) -> None:
        tables = space.tables
        self.space = space
        self.variables = {name: i for i, name in enumerate(tables.variables[0])}
        self.tensors = {name: i for i, name in enumerate(tables.accesses[0])}
        self.levels = {name: i for i, name in enumerate(tables.levels[0])}
        self.dimensions = [
            {name: i for i, name in enumerate(names)} for names in tables.dimensions[0]
        ]
        self.known_spatial: dict[int, tuple[Any, tuple[int, ...]]] = {}
        self.known_holders: dict[int, tuple[Any, tuple[int, ...]]] = {}

    # -- fields ----------------------------------------------------------------------------

    def record(self, value: object, kind: str, path: Path) -> Record:
        if type(value) is not dict and not isinstance(value, Mapping):
            raise ProblemError(f"must be a dictionary ({kind})", path_text(path))
        if not value.keys() <= ALLOWED[kind]:
            unknown = set(value) - ALLOWED[kind]
            known = ", ".join(sorted(ALLOWED[kind]))
            names = ", ".join(sorted(map(str, unknown)))
            raise ProblemError(f"unknown field {names}; a {kind} has {known}", path_text(path))
        return value

    @staticmethod
    def sequence(record: Record, key: str, path: Path) -> Sequence[Any]:
        value = record.get(key, ())
        if type(value) is list:
            return value
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise ProblemError("must be a list", path_text((path, key)))
        return value

    @staticmethod
    def by_component(record: Record, key: str, path: Path) -> Mapping[str, Any]:
        value = record.get(key, {})
        if type(value) is not dict and not isinstance(value, Mapping):
            raise ProblemError("must be a dictionary", path_text((path, key)))
        return value

    @staticmethod
    def flag(record: Record, key: str, path: Path) -> int:
        value = record.get(key, False)
        if value is not True and value is not False:
            raise ProblemError("must be true or false", path_text((path, key)))
        return int(value)

    @staticmethod
    def number(value: Any, path: Path) -> float:
        if type(value) is float and value == value:
            return value
        if value == "inf":
            return math.inf
        if isinstance(value, str) or not hasattr(value, "__float__"):
            raise ProblemError("must be a number", path_text(path))
        try:
            number = float(value)
        except (OverflowError, TypeError, ValueError) as error:
            raise ProblemError(f"must be a number ({error})", path_text(path)) from None
        if math.isnan(number):
            raise ProblemError("must be a number, not NaN", path_text(path))
        return number

    @staticmethod
    def choice(names: Mapping[str, int], name: Any, path: Path, what: str) -> int:
        if not isinstance(name, str) or name not in names:
            known = ", ".join(names) or "none"
            raise ProblemError(f"there is no {what} {name!r}, only {known}", path_text(path))
        return names[name]

    def bits(self, names: Mapping[str, int], chosen: Any, path: Path, what: str) -> int:
        if isinstance(chosen, str) or not isinstance(chosen, Iterable):
            raise ProblemError("must be a list", path_text(path))
        bits = 0
        for i, name in enumerate(chosen):
            bits |= 1 << self.choice(names, name, (path, i), what)
        return bits

    def tensor_bits(self, chosen: Any, path: Path) -> int:
        return self.bits(self.tensors, chosen, path, "tensor")

    # -- tables ----------------------------------------------------------------------------

    def add(self, table: str, *fields: int) -> None:
        self.space.records[table].extend(fields)

    def add_set(self, bits: int) -> int:
        self.space.sets.append(bits)
        return len(self.space.sets) - 1

    def add_number(self, number: float) -> int:
        self.space.numbers.append(number)
        return len(self.space.numbers) - 1

    # -- placements ------------------------------------------------------------------------

    def holders(self, record: Record, path: Path) -> None:
        keepers = self.space.records["keepers"]
        for i, value in enumerate(self.sequence(record, "holders", path)):
            # Placements share holders.
            known = self.known_holders.get(id(value))
            if known is not None and known[0] is value:
                keepers.extend(known[1])
                continue
            if type(value) is dict and self.plain_holder(value):
                continue
            here = ((path, "holders"), i)
            holder = self.record(value, "holder", here)
            self.add(
                "keepers",
                self.choice(self.levels, holder.get("component"), (here, "component"), "component"),
                self.choice(self.tensors, holder.get("tensor"), (here, "tensor"), "tensor"),
                self.flag(holder, "backing", here),
                self.flag(holder, "persistent", here),
                self.flag(holder, "must_keep", here),
            )

    def plain_holder(self, holder: dict[str, Any]) -> bool:
        """Add a holder that has all fields and no others; say whether it is one."""
        if len(holder) != _HOLDER_FIELDS:
            return False
        try:
            level = self.levels[holder["component"]]
            tensor = self.tensors[holder["tensor"]]
            backing, persistent = holder["backing"], holder["persistent"]
            must_keep = holder["must_keep"]
        except (KeyError, TypeError):
            return False
        if not (type(backing) is bool is type(persistent) is type(must_keep)):
            return False
        numbers = level, tensor, backing, persistent, must_keep
        self.space.records["keepers"].extend(numbers)
        self.known_holders[id(holder)] = holder, numbers
        return True

    def orders(self, record: Record, path: Path) -> None:
        path = (path, "orders")
        for component, options in self.by_component(record, "orders", path[0]).items():
            level = self.choice(self.levels, component, path, "component")
            for i, option in enumerate(options):
                first = len(self.space.sets)
                for k, tensors in enumerate(option):
                    known = [name for name in tensors if name in self.tensors]
                    self.add_set(self.tensor_bits(known, (((path, component), i), k)))
                self.add("orders", level, first, len(self.space.sets) - first)

    def residents(self, record: Record, path: Path) -> None:
        fetched = self.by_component(record, "no_refetch", path)
        sent = self.by_component(record, "no_resend", path)
        for component in dict.fromkeys((*fetched, *sent)):
            level = self.choice(self.levels, component, path, "component")
            sets = [
                self.tensor_bits(named.get(component, ()), ((path, key), component))
                for key, named in (("no_refetch", fetched), ("no_resend", sent))
            ]
            self.add("residents", level, *(self.add_set(bits) for bits in sets))

    def comparison(self, record: Record, level: int, dimension: int, path: Path) -> None:
        operator = record.get("operator")
        relation = str(operator).removeprefix("product")
        if not isinstance(operator, str) or relation not in RELATIONS:
            known = ", ".join(RELATIONS)
            raise ProblemError(
                f"must be one of {known}, or the same after 'product'",
                path_text((path, "operator")),
            )

        variables = self.bits(
            self.variables, record.get("variables", ()), (path, "variables"), "variable"
        )
        self.add(
            "comparisons",
            level,
            dimension,
            RELATIONS[relation],
            int(relation != operator),
            self.add_number(self.number(record.get("value"), (path, "value"))),
            self.add_set(variables),
        )

    def tile_shapes(self, record: Record, path: Path) -> None:
        for i, value in enumerate(self.sequence(record, "tile_shape", path)):
            here = ((path, "tile_shape"), i)
            rule = self.record(value, "tile shape", here)
            level = self.choice(
                self.levels, rule.get("component"), (here, "component"), "component"
            )
            self.comparison(rule, level, 0, here)

    def spatial_bounds(self, record: Record, path: Path) -> None:
        self.spatial(record, path, bounds=True)

    def spatial_usages(self, record: Record, path: Path) -> None:
        self.spatial(record, path, bounds=False)

    def spatial(self, record: Record, path: Path, *, bounds: bool) -> None:
        """Read the bounds of loops, or what fan-outs must be used for: each is one range."""
        for i, value in enumerate(self.sequence(record, "spatial", path)):
            here = ((path, "spatial"), i)
            spatial = self.record(value, "spatial", here)
            level = self.choice(
                self.levels, spatial.get("component"), (here, "component"), "component"
            )
            dimension = self.choice(
                self.dimensions[level], spatial.get("dim"), (here, "dim"), "dimension"
            )
            if not bounds:
                usage = self.number(spatial.get("min_usage", 0), (here, "min_usage"))
                self.add("usages", level, dimension, self.add_number(usage))
                continue
            for k, bound in enumerate(self.sequence(spatial, "loop_bounds", here)):
                place = ((here, "loop_bounds"), k)
                rule = self.record(bound, "loop bound", place)
                self.comparison(rule, level, dimension, place)

    def placement(self, value: object, path: Path) -> None:
        record = self.record(value, "placement", path)
        holders = self.span("keepers", 5, self.holders, record, path)
        orders = self.span("orders", 3, self.orders, record, path)
        residents = self.span("residents", 3, self.residents, record, path)
        shapes = self.span("comparisons", 6, self.tile_shapes, record, path)

        # Placements share what is said about spatial loops.
        given = record.get("spatial")
        known = self.known_spatial.get(id(given))
        if known is None or known[0] is not given:
            bounds = self.span("comparisons", 6, self.spatial_bounds, record, path)
            usages = self.span("usages", 3, self.spatial_usages, record, path)
            known = self.known_spatial[id(given)] = (given, (*bounds, *usages))
        self.add("placements", *holders, *orders, *residents, *shapes, *known[1])

    def span(
        self,
        table: str,
        width: int,
        read: Callable[[Record, Path], None],
        record: Record,
        path: Path,
    ) -> tuple[int, int]:
        """Read a part of a placement; where its records begin, and how many they are."""
        records = self.space.records[table]
        before = len(records)
        read(record, path)
        return before // width, (len(records) - before) // width

    # -- the mapspace ----------------------------------------------------------------------

    def metrics(self, record: Record) -> None:
        names = self.sequence(record, "metrics", None)
        if not names:
            raise ProblemError("must name what is minimised", "metrics")
        for i, name in enumerate(names):
            known = {known: k for k, known in enumerate((*METRICS, "resource_usage"))}
            place = self.choice(known, name, ((None, "metrics"), i), "metric")
            if place == len(METRICS):
                self.space.usage = True
            else:
                self.space.wanted[place] = 1
        self.space.metrics = [str(name) for name in names]

    def settings(self, record: Record) -> None:
        given = self.by_component(record, "mapper", None)
        for name, default in SETTINGS.items():
            path = ((None, "mapper"), name)
            number = self.number(given.get(name, default), path)
            if number < 0:
                raise ProblemError("must not be negative", path_text(path))
            self.space.settings.append(number)
        if self.space.settings[list(SETTINGS).index("tiling_coarseness")] < 1:
            raise ProblemError("must be at least 1", "mapper.tiling_coarseness")

    def whole(self, record: Record) -> None:
        space = self.space
        space.variable_ranks = _ranks(list(self.variables))
        space.tensor_ranks = _ranks(list(self.tensors))
        space.level_ranks = _ranks(list(self.levels))
        space.shared = self.tensor_bits(record.get("shared", ()), (None, "shared"))
        space.intermediate = self.tensor_bits(
            record.get("intermediate", ()), (None, "intermediate")
        )
        unforced = self.bits(
            self.levels, record.get("unforced", ()), (None, "unforced"), "component"
        )
        tracked = (1 << len(self.levels)) - 1
        if "tracked" in record:
            names = [name for name in record["tracked"] if name in self.levels]
            tracked = self.bits(self.levels, names, (None, "tracked"), "component")

        space.unforced = bytearray(unforced >> i & 1 for i in range(len(self.levels)))
        space.tracked = bytearray(tracked >> i & 1 for i in range(len(self.levels)))
        self.metrics(record)
        self.settings(record)
        for i, placement in enumerate(self.sequence(record, "placements", None)):
            self.placement(placement, ((None, "placements"), i))


def _with_leaf(problem: object) -> object:
    """Give the problem a mapping that is only its leaf."""
    if not isinstance(problem, Mapping):
        return problem
    einsums = problem.get("einsums")
    if not isinstance(einsums, Sequence) or len(einsums) != 1:
        raise ProblemError("a mapspace has exactly one Einsum", "problem.einsums")
    einsum = einsums[0]
    levels = einsum.get("levels") if isinstance(einsum, Mapping) else None
    if not isinstance(levels, Sequence) or not levels or not isinstance(levels[-1], Mapping):
        raise ProblemError("must end with a compute", "problem.einsums[0].levels")
    leaf = {"compute": levels[-1].get("component"), "einsum": einsum.get("name")}
    return {**problem, "mapping": [leaf], "parameters": {}}


def flatten_mapspace(mapspace: object) -> Mapspace:
    """Flatten a mapspace.

    Raises
    ------
    ProblemError
        For fields, types and names that the format does not have.
    """
    if not isinstance(mapspace, Mapping):
        raise ProblemError("a mapspace must be a dictionary")
    try:
        tables = flatten(_with_leaf(mapspace.get("problem")))
    except ProblemError as error:
        path = f"problem.{error.path}" if error.path else "problem"
        if error.path.startswith("problem"):
            raise
        raise ProblemError(str(error).removeprefix(f"{error.path}: "), path) from None
    for what, names in (("variables", tables.variables[0]), ("tensors", tables.accesses[0])):
        if len(names) > MOST_MEMBERS:
            raise ProblemError(f"the search takes at most {MOST_MEMBERS} {what}", "problem")
    space = Mapspace(tables)
    flattener = _Flattener(space)
    flattener.whole(flattener.record(mapspace, "mapspace", None))
    return space
