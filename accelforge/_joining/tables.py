# SPDX-License-Identifier: BSD-3-Clause
"""Turns groups of pmappings into the tables of csrc/accelforge/join/tables.h."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["GroupError", "Tables", "flatten"]

NONE = 0xFFFFFFFF


class GroupError(ValueError):
    """A group of pmappings, or what is said about the workload, makes no sense."""


class Tables:
    """Lists that grow, and the arrays that they become.

    ``records`` has the tables of records by name, flat; ``numbers`` the arrays of numbers by name.
    """

    def __init__(self) -> None:
        names = ("einsums", "accesses", "groups", "loops", "holders", "reservations")
        self.lists: dict[str, list[int]] = {name: [] for name in (*names, "stops", "ranks")}
        self.bounds: list[float] = []
        self.parts: dict[str, list[NDArray[Any]]] = {
            name: [] for name in ("objectives", "tiles", "values")
        }
        self.tensors: dict[str, int] = {}
        self.memories: dict[str, int] = {}
        self.kinds: dict[tuple[str, str], int] = {}
        self.einsum_names: list[str] = []
        self.records: dict[str, NDArray[np.uint32]] = {}
        self.numbers: dict[str, NDArray[Any]] = {}

    def close(self) -> None:
        """Make the arrays."""
        for name, numbers in self.lists.items():
            self.records[name] = np.array(numbers, dtype=np.uint32)
        self.numbers["bounds"] = np.array(self.bounds, dtype=np.float64)
        for name, parts in self.parts.items():
            kind = np.int64 if name == "tiles" else np.float64
            self.numbers[name] = np.concatenate([*parts, np.empty(0, kind)]).astype(
                kind, copy=False
            )


def number_of(names: dict[Any, int], name: Any) -> int:
    """Give the number of a name, which is the next one if it is new."""
    return names.setdefault(name, len(names))


class EinsumFlattener:
    """One Einsum of the problem, and its groups."""

    def __init__(self, tables: Tables, einsum: Mapping[str, Any], columns: int) -> None:
        self.tables = tables
        self.name: str = einsum["name"]
        self.columns = columns
        self.variables = {name: i for i, name in enumerate(einsum["variables"])}
        self.tensors: dict[str, int] = {}
        tables.einsum_names.append(self.name)
        tables.bounds.extend(float(bound) for bound in einsum["variables"].values())
        for tensor in einsum["tensors"]:
            self.add_tensor(tensor)

    def add_tensor(self, tensor: Mapping[str, Any]) -> None:
        number = number_of(self.tables.tensors, tensor["name"])
        self.tensors[tensor["name"]] = number
        self.tables.lists["accesses"] += (number, int(bool(tensor.get("output", False))))
        ranks = dict.fromkeys(self.variables, NONE)
        for i, rank in enumerate(tensor["projection"]):
            for variable in (rank,) if isinstance(rank, str) else rank.get("terms", {}):
                if ranks.get(variable) == NONE:
                    ranks[variable] = i
        self.tables.lists["ranks"] += ranks.values()

    def add_group(self, index: int, group: Any) -> None:
        """Add the records and numbers of a group."""
        where = f"group {index} of Einsum {self.name!r}"
        if group.einsum != self.name:
            raise GroupError(f"{where} is of Einsum {group.einsum!r}")
        loops = [node for node in group.nodes if node[0] != "hold"]
        rows = len(group.objectives)
        self.add_array("objectives", group.objectives, (rows, self.columns), where)
        self.add_array("tiles", group.tiles, (rows, len(loops)), where)

        self.add_loops(loops, where)
        for tensor, (memory, depth, sizes) in group.shared.items():
            if tensor not in self.tensors:
                raise GroupError(f"{where}: the Einsum has no tensor {tensor!r}")
            self.tables.lists["holders"] += (
                self.tensors[tensor],
                number_of(self.tables.memories, memory),
                self.depth(depth, len(loops), where),
            )
            self.add_array("values", sizes, (rows,), f"{where}: shared[{tensor!r}]")
        for (memory, depth), sizes in group.reservations.items():
            self.add_reservation(memory, self.depth(depth, len(loops), where))
            self.add_array("values", sizes, (rows,), f"{where}: reservations of {memory!r}")
        for (memory, _), sizes in group.persistent.items():
            self.add_reservation(memory, NONE)
            self.add_array("values", sizes, (rows,), f"{where}: persistent of {memory!r}")

        stops = [depth for depth in group.stops if 0 < depth < len(loops)]
        self.tables.lists["stops"] += stops
        reservations = len(group.reservations) + len(group.persistent)
        self.tables.lists["groups"] += (
            rows,
            len(loops),
            len(group.shared),
            reservations,
            len(stops),
        )

    def add_loops(self, loops: Iterable[tuple[str, ...]], where: str) -> None:
        for loop in loops:
            temporal = loop[0] == "temporal"
            if len(loop) != (2 if temporal else 4) or loop[-1] not in self.variables:
                raise GroupError(f"{where}: {loop!r} is not a loop over a variable of the Einsum")
            kind = 0 if temporal else 1 + number_of(self.tables.kinds, (loop[1], loop[2]))
            self.tables.lists["loops"] += (self.variables[loop[-1]], kind)

    def add_reservation(self, memory: str, depth: int) -> None:
        self.tables.lists["reservations"] += (number_of(self.tables.memories, memory), depth)

    def add_array(self, name: str, numbers: Any, shape: tuple[int, ...], where: str) -> None:
        array = np.asarray(numbers)
        integer = name == "tiles"
        if array.shape != shape or array.dtype.kind not in ("iu" if integer else "iuf"):
            what = "whole numbers" if integer else "numbers"
            raise GroupError(
                f"{where}: {name} must be an array of {what} of shape {shape}, not of "
                f"{array.dtype} of shape {array.shape}"
            )
        kind = np.int64 if integer else np.float64
        self.tables.parts[name].append(array.astype(kind, copy=False).reshape(-1))

    @staticmethod
    def depth(depth: int, loops: int, where: str) -> int:
        if not -1 <= depth <= loops:
            raise GroupError(
                f"{where}: depth {depth} is not in -1..{loops}, the number of fused loops"
            )
        return NONE if depth < 0 else int(depth)


def flatten(
    groups: Sequence[Sequence[Any]], problem: Mapping[str, Any], columns: Sequence[str]
) -> Tables:
    """Make the tables of all groups.

    Parameters
    ----------
    groups : sequence of sequences of PmappingGroup
        One sequence per Einsum of `problem`, in its order.
    problem : mapping
        As in docs/design/accelforge.md; of each Einsum its variables and tensors are read.
    columns : sequence of str
        What the objectives of the groups are.

    Raises
    ------
    GroupError
        If a group does not fit its Einsum, or its arrays do not fit one another.
    """
    einsums = problem["einsums"]
    if len(einsums) != len(groups):
        raise GroupError(f"there are groups of {len(groups)} Einsums, but {len(einsums)} Einsums")

    tables = Tables()
    for einsum, own in zip(einsums, groups, strict=True):
        flattener = EinsumFlattener(tables, einsum, len(columns))
        for i, group in enumerate(own):
            flattener.add_group(i, group)
        copy = int(bool(einsum.get("is_copy_operation", False)))
        tables.lists["einsums"] += (
            len(flattener.variables),
            len(einsum["tensors"]),
            len(own),
            copy,
        )
    tables.close()
    return tables
