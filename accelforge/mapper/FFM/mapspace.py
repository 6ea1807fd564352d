# SPDX-License-Identifier: BSD-3-Clause
"""Input of the search of one Einsum; docs/design/accelforge.md has the format."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from accelforge._problem.totals import OBJECTIVES, TOTALS
from accelforge.expressions import user_functions
from accelforge.frontend.arch import FlattenedArch, Memory, TensorHolder
from accelforge.frontend.mapper.metrics import Metrics, metric_of
from accelforge.mapper.FFM.canonical import Names, bytes_of, text_of, with_plain_names
from accelforge.mapper.FFM.placements import Placer
from accelforge.model.problem import cost_for_einsum, einsum_of_problem

if TYPE_CHECKING:
    from accelforge.frontend.spec import Spec

__all__ = ["EinsumSpace", "list_mapspaces", "objectives_of"]


@dataclass(frozen=True)
class EinsumSpace:
    """The mapspace of an Einsum on one of the computes of an architecture.

    Attributes
    ----------
    einsum, compute : str
        Their names.
    mapspace : dict
        Plain data, for the search.
    spec : Spec
        The specification, evaluated for the Einsum.
    way : FlattenedArch
        The way to the compute.
    """

    einsum: str
    compute: str
    mapspace: dict[str, Any]
    spec: Spec
    way: FlattenedArch

    @cached_property
    def plain(self) -> tuple[dict[str, Any], Names]:
        """The mapspace with plain names; see `with_plain_names`."""
        return with_plain_names(self.mapspace)

    @cached_property
    def key(self) -> str:
        """A text that is equal for mapspaces that differ in names only, in all processes."""
        return text_of(self.plain[0])

    @cached_property
    def identity(self) -> bytes:
        """The same for this process, which takes less time."""
        return bytes_of(self.plain[0])

    @cached_property
    def flat(self) -> Any:
        """The mapspace with plain names as tables, which the search takes as well."""
        from accelforge import _search

        return _search.flatten_mapspace(self.plain[0])


def objectives_of(metrics: Metrics) -> list[str]:
    """Return what a search minimises.

    Parameters
    ----------
    metrics : Metrics
        Those of the mapper. The energy-delay product needs both energy and latency.

    Raises
    ------
    AssertionError
        What is only reported is among the metrics.
    ValueError
        There is nothing to minimise.
    """
    refused = metrics & _REPORTED
    assert not refused, (
        f"{refused} cannot be an objective of the mapper; it is for mapper.info_metrics"
    )
    result = list(_cached_objectives_of(metrics))
    if not result:
        raise ValueError(
            f"mapper.metrics is {metrics!r}, which gives the mapper nothing to minimise; use "
            f"Metrics.ENERGY, LATENCY, ENERGY_DELAY_PRODUCT or RESOURCE_USAGE"
        )
    return result


def _objectives_of(metrics: Metrics) -> tuple[str, ...]:
    given = {total.name for total in TOTALS if metrics & metric_of(total.name)}
    # Totals that a search cannot minimise are made of some that it can.
    for total in TOTALS:
        if total.name in given and not total.is_objective:
            given |= set(total.parts)
    names = [name for name in OBJECTIVES if name in given]
    return (*names, *(["resource_usage"] if metrics & Metrics.RESOURCE_USAGE else []))


# Metrics that are no objective, and are not made of objectives.
_REPORTED = functools.reduce(
    Metrics.__or__,
    (metric_of(total.name) for total in TOTALS if not total.is_objective and not total.parts),
    Metrics.ACTIONS,
)

_cached_objectives_of = functools.cache(_objectives_of)


def list_mapspaces(
    spec: Spec, einsum_names: Iterable[str] | None = None, *, track_all: bool = False
) -> list[EinsumSpace]:
    """Return the mapspaces of Einsums, one for each compute that can execute the Einsum.

    Parameters
    ----------
    spec : Spec
        Not evaluated.
    einsum_names : iterable of str, optional
        The Einsums; without it, all of the workload.
    track_all : bool
        Whether the usage of all memories counts, also of those that everything fits in at once:
        the pmappings may be joined with others.
    """
    objectives = objectives_of(spec.mapper.metrics)
    result: list[EinsumSpace] = []
    with user_functions(spec.config.load_functions()):
        program, symbols = spec._evaluate_program()
        wanted = _known(program, einsum_names)
        shared, intermediate = _shared_tensors(program.workload)
        settings = _mapper_settings(program)
        for name in wanted:
            costed = cost_for_einsum(program, name, symbols)
            for way in costed._get_flattened_architecture():
                placer = Placer(costed, name, way, symbols)
                placements = placer.placements()
                if not placements:
                    continue
                components: dict[str, dict[str, Any]] = {}
                with spec._in("arch"):
                    einsum = einsum_of_problem(costed, name, way, components)
                own = {tensor["name"] for tensor in einsum["tensors"]}
                mapspace = {
                    "problem": {
                        "format": "accelforge-problem",
                        "version": 1,
                        "n_instances": program.workload.n_instances,
                        "components": list(components.values()),
                        "einsums": [einsum],
                        "mapping": [],
                    },
                    "metrics": list(objectives),
                    "shared": sorted(own & shared),
                    "intermediate": sorted(own & intermediate),
                    "placements": placements,
                    "unforced": placer.unforced(),
                    "mapper": dict(settings),
                }
                result.append(EinsumSpace(name, way[-1].name, mapspace, costed, way))
        if not track_all and "resource_usage" not in objectives:
            without = _roomy_memories(program.workload, result)
            needed = set().union(*(_memories_of_several(space) for space in result))
            for space in result:
                space.mapspace["tracked"] = [
                    node.name
                    for node in space.way
                    if isinstance(node, Memory) and node.name in needed - without
                ]
    return result


def _memories_of_several(space: EinsumSpace) -> set[str]:
    """Return the memories that may hold something while other Einsums are executed.

    What stands below the outermost holders of all shared tensors is gone by then.
    """
    mapspace = space.mapspace
    names = [node.name for node in space.way if isinstance(node, TensorHolder)]
    if mapspace["unforced"] or not mapspace["mapper"]["force_memory_hierarchy_order"]:
        return set(names)
    lowest = -1
    found = set()
    for placement in mapspace["placements"]:
        for holder in placement["holders"]:
            if holder["backing"] and holder["tensor"] in mapspace["shared"]:
                lowest = max(lowest, names.index(holder["component"]))
            if holder["persistent"]:
                found.add(holder["component"])
    return found | set(names[: lowest + 1])


def _roomy_memories(workload: Any, spaces: list[EinsumSpace]) -> set[str]:
    """Return the memories that hold all tensors of all Einsums at once."""
    first = {space.einsum: space for space in reversed(spaces)}
    sizes: dict[str, float] = {}
    for name, space in first.items():
        einsum = space.mapspace["problem"]["einsums"][0]
        times = workload.n_instances * einsum["n_instances"]
        persistent = {a.name for a in workload.einsums[name].tensor_accesses if a.persistent}
        for tensor in einsum["tensors"]:
            often = times if tensor["name"] in persistent else 1
            size = _values(tensor, einsum["variables"]) * often
            sizes[tensor["name"]] = max(size, sizes.get(tensor["name"], 0))

    usage: dict[str, float] = {}
    for space in first.values():
        for level in space.mapspace["problem"]["einsums"][0]["levels"]:
            if level["kind"] != "memory":
                continue
            bits = sum(
                sizes[tensor] * counts["bits_per_value"]
                for tensor, counts in level["tensors"].items()
            )
            share = bits / level["size"] if level["size"] else math.inf
            usage[level["component"]] = usage.get(level["component"], 0) + share
    return {memory for memory, share in usage.items() if share <= 1}


def _values(tensor: dict[str, Any], bounds: dict[str, int]) -> int:
    """Return how many values the tile of a tensor has that is all of it."""
    return math.prod(
        sum(factor * (bounds[v] - 1) for v, factor in rank["terms"].items()) + rank["constant"] + 1
        for rank in tensor["projection"]
    )


def _known(spec: Spec, names: Iterable[str] | None) -> list[str]:
    """Return Einsums in the order of the workload, and check that they are there."""
    known = spec.workload.einsum_names
    if names is None:
        return list(known)
    wanted = set(names)
    missing = sorted(wanted - set(known))
    if missing:
        raise KeyError(
            f"no Einsum {', '.join(missing)} in the workload; there are: {', '.join(known)}"
        )
    return [name for name in known if name in wanted]


def _shared_tensors(workload: Any) -> tuple[set[str], set[str]]:
    """Return the tensors of more than one Einsum, and those that are both written and read."""
    uses: dict[str, int] = {}
    read: set[str] = set()
    written: set[str] = set()
    for einsum in workload.einsums:
        for tensor in einsum.tensor_names:
            uses[tensor] = uses.get(tensor, 0) + 1
        read |= einsum.input_tensor_names
        written |= einsum.output_tensor_names
    return {tensor for tensor, count in uses.items() if count > 1}, read & written


def _mapper_settings(spec: Spec) -> dict[str, Any]:
    """Return the settings of the mapper that are numbers, or true or false."""
    return {
        name: value
        for name, value in spec.mapper.shallow_model_dump().items()
        if isinstance(value, (bool, int, float)) and not isinstance(value, Metrics)
    }
