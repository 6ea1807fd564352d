# SPDX-License-Identifier: BSD-3-Clause
"""What the search of one Einsum starts from; docs/design/accelforge.md has the format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from accelforge.expressions import user_functions
from accelforge.frontend.arch import FlattenedArch
from accelforge.frontend.mapper.metrics import Metrics
from accelforge.frontend.spec import Spec
from accelforge.mapper.FFM.placements import Placer
from accelforge.model.problem import cost_for_einsum, einsum_of_problem

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


def objectives_of(metrics: Metrics) -> list[str]:
    """Return what a search minimises.

    Parameters
    ----------
    metrics : Metrics
        Those of the mapper. The energy-delay product needs both energy and latency.

    Raises
    ------
    AssertionError
        Actions are among the metrics.
    ValueError
        There is nothing to minimise.
    """
    assert not metrics & Metrics.ACTIONS, (
        "Metrics.ACTIONS cannot be an objective of the mapper; it is for mapper.info_metrics"
    )
    wanted = {
        "energy": metrics.includes_energy(),
        "latency": metrics.includes_latency(),
        "dynamic_energy": bool(metrics & Metrics.DYNAMIC_ENERGY),
        "leak_energy": bool(metrics & Metrics.LEAK_ENERGY),
        "resource_usage": bool(metrics & Metrics.RESOURCE_USAGE),
    }
    result = [name for name, given in wanted.items() if given]
    if not result:
        raise ValueError(
            f"mapper.metrics is {metrics!r}, which gives the mapper nothing to minimise; use "
            f"Metrics.ENERGY, LATENCY, ENERGY_DELAY_PRODUCT or RESOURCE_USAGE"
        )
    return result


def list_mapspaces(
    spec: Spec, einsum_names: Iterable[str] | None = None, metrics: Metrics | None = None
) -> list[EinsumSpace]:
    """Return the mapspaces of Einsums, one for each compute that can execute the Einsum.

    Parameters
    ----------
    spec : Spec
        Not evaluated.
    einsum_names : iterable of str, optional
        The Einsums; without it, all of the workload.
    metrics : Metrics, optional
        The objectives; without it, those of the mapper of the specification.
    """
    objectives = objectives_of(spec.mapper.metrics if metrics is None else metrics)
    result: list[EinsumSpace] = []
    with user_functions(spec.config.load_functions()):
        program, symbols = spec._evaluate_program()
        wanted = _known(program, einsum_names)
        shared, intermediate = _shared_tensors(program.workload)
        knobs = _knobs(program)
        for name in wanted:
            costed = cost_for_einsum(program, name, symbols)
            for way in costed._get_flattened_architecture():
                placer = Placer(costed, name, way, symbols)
                placements = placer.placements()
                if not placements:
                    continue
                components: dict[str, dict[str, Any]] = {}
                with Spec._in("arch"):
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
                    "mapper": dict(knobs),
                }
                result.append(EinsumSpace(name, way[-1].name, mapspace, costed, way))
    return result


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


def _knobs(spec: Spec) -> dict[str, Any]:
    """Return the settings of the mapper that are numbers, or true or false."""
    return {
        name: value
        for name, value in spec.mapper.shallow_model_dump().items()
        if isinstance(value, (bool, int, float)) and not isinstance(value, Metrics)
    }
