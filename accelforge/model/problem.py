# SPDX-License-Identifier: BSD-3-Clause
"""Makes the problem for the engine of a specification; docs/design/accelforge.md has the format."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from accelforge.expressions import InvertibleSet, user_functions
from accelforge.frontend.arch import (
    Array,
    Component,
    Compute,
    Container,
    FlattenedArch,
    Memory,
    Network,
    Toll,
)
from accelforge.frontend.arch.spatial import Spatialable
from accelforge.frontend.arch.structure import Leaf
from accelforge.frontend.iteration_space import parse_affine
from accelforge.frontend.mapping import Compute as ComputeNode
from accelforge.model.latency import translate_latency
from accelforge.model.mapping_nodes import NodeConverter
from accelforge.model.power_gating import gates_of
from accelforge.util.budget import budget
from accelforge.util.exceptions import EvaluationError, InvalidMappingError

if TYPE_CHECKING:
    from accelforge.frontend.spec import Spec

__all__ = ["Built", "build_problem", "cost_for_einsum", "einsum_of_problem"]

_KINDS = {Memory: "memory", Toll: "toll", Compute: "compute", Container: "container"}


class Built:
    """A problem, and the evaluated specification that it was made from.

    Attributes
    ----------
    problem : dict
        For the engine.
    evaluated_specs : dict
        The evaluated specification for each Einsum.
    flattened_arches : dict
        The way to the compute, by Einsum and compute.
    """

    def __init__(self) -> None:
        self.problem: dict[str, Any] = {}
        self.evaluated_specs: dict[str, Spec] = {}
        self.flattened_arches: dict[tuple[str, str], FlattenedArch] = {}


def build_problem(spec: Spec) -> Built:
    """Make a problem.

    Parameters
    ----------
    spec : Spec
        With a mapping, not evaluated.
    """
    built = Built()
    with user_functions(spec.config.load_functions()), budget():
        program, symbols = spec._evaluate_program()
        computes = _computes(spec)
        einsums = []
        components: dict[str, dict[str, Any]] = {}
        for name in program.workload.einsum_names:
            if name not in computes:
                continue
            costed = cost_for_einsum(program, name, symbols)
            with spec._in("arch"):
                way = costed._way_to(computes[name])
                einsums.append(einsum_of_problem(costed, name, way, components))
            built.evaluated_specs[name] = costed
            built.flattened_arches[name, computes[name]] = way
        variables = {name: program.workload.einsums[name].rank_variables for name in computes}
        dimensions = {
            node.name: [spatial.name for spatial in getattr(node, "spatial", ())]
            for node in spec.arch.get_nodes_of_type(Leaf)
        }
        nodes = NodeConverter(variables, symbols, program.workload.tensor_names, dimensions)
        built.problem = {
            "format": "accelforge-problem",
            "version": 1,
            "n_instances": program.workload.n_instances,
            "components": list(components.values()),
            "einsums": einsums,
            "mapping": nodes.nodes(spec.mapping, "mapping"),
        }
    return built


def cost_for_einsum(program: Spec, name: str, symbols: dict[str, Any]) -> Spec:
    """Return a copy whose architecture is evaluated for one Einsum, with its costs.

    Parameters
    ----------
    program : Spec
        With variables and workload evaluated.
    name : str
        The Einsum.
    symbols : dict
        What expressions can use, besides the names of the Einsum.
    """
    costed = program.model_copy()
    with budget():
        costed._evaluate_arch({**symbols, **program._einsum_symbols(name)})
    costed._evaluated = True
    costed._calculate_costs(area=False, energy=True, throughput=True, leak=True)
    return costed


def _computes(spec: Spec) -> dict[str, str]:
    """Find the compute of each Einsum in the mapping."""
    result: dict[str, str] = {}
    known = spec.workload.einsum_names
    for node in spec.mapping.get_nodes_of_type(ComputeNode):
        if node.einsum not in known:
            raise KeyError(
                f"the mapping computes {node.einsum}, which is no Einsum of the workload; there "
                f"are: {', '.join(known) or 'none'}"
            )
        computes = [compute.name for compute in spec.arch.get_nodes_of_type(Compute)]
        if node.component not in computes:
            reason = f"{node.component} is no compute of the architecture; there are: "
            error = EvaluationError(
                reason + (", ".join(computes) or "none"), source_field="spec.mapping.nodes"
            )
            error.locate(node._place)
            raise error
        if node.einsum in result:
            raise InvalidMappingError(f"the mapping computes the Einsum {node.einsum} twice")
        result[node.einsum] = str(node.component)
    if not result:
        raise EvaluationError(
            "the mapping has no Compute node, so there is nothing to evaluate",
            source_field="spec.mapping.nodes",
        )
    return result


def einsum_of_problem(
    spec: Spec, name: str, way: FlattenedArch, components: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Return the entry of an Einsum in a problem.

    Parameters
    ----------
    spec : Spec
        What `cost_for_einsum` returned.
    name : str
        The Einsum.
    way : FlattenedArch
        The way to the compute that executes it.
    components : dict
        Entries of components by name; those that are missing are added.
    """
    einsum = spec.workload.einsums[name]
    symbols = {
        **spec.variables.shallow_model_dump(),
        **spec.arch.variables.shallow_model_dump(),
        "variables": spec.variables,
        "arch_variables": spec.arch.variables,
    }
    return {
        "name": name,
        "n_instances": einsum.n_instances,
        "is_copy_operation": einsum.is_copy_operation,
        "variables": spec.workload._rank_variable_bounds(name),
        "tensors": _tensors(einsum),
        "levels": [_level(node, einsum, symbols) for node in way],
        "leaks": _leaks(spec, way[-1].name, components),
    }


def _tensors(einsum: Any) -> list[dict[str, Any]]:
    result: dict[str, dict[str, Any]] = {}
    for access in einsum.tensor_accesses:
        ranks = []
        for rank, text in access.projection.items():
            try:
                affine = parse_affine(text)
            except ValueError as error:
                raise _at(
                    EvaluationError(str(error)),
                    (rank, "projection", access.name, "tensor_accesses", einsum.name),
                    access._place or einsum._place,
                ) from None
            ranks.append({"terms": dict(affine.terms), "constant": affine.constant})
        entry = {"name": access.name, "output": access.output, "projection": ranks}
        if result.setdefault(access.name, entry) != entry:
            raise _at(
                EvaluationError(f"the tensor {access.name} is accessed twice, in different ways"),
                (access.name, "tensor_accesses", einsum.name),
                access._place or einsum._place,
            )
    return list(result.values())


def _at(error: EvaluationError, path: tuple[Any, ...], place: Any) -> EvaluationError:
    """Say where an error is: fields from the inside to the outside, and the line."""
    for part in path:
        error.add_field(part)
    error.locate(place)
    return error


# --- levels -------------------------------------------------------------------------------------


def _level(node: Any, einsum: Any, symbols: dict[str, Any]) -> dict[str, Any]:
    kind = _KINDS.get(type(node))
    if kind is None:
        what = "a network" if isinstance(node, Network) else "an array"
        reason = (
            f"mappings cannot be evaluated on {what} in this version; describe it with a Toll, or "
            f"with a Container that has spatial"
            if isinstance(node, (Network, Array))
            else f"mappings cannot be evaluated on a {type(node).__name__}"
        )
        raise _at(EvaluationError(reason), (node.name, "nodes"), node._place)

    level: dict[str, Any] = {"component": node.name, "kind": kind}
    if node.spatial:
        level["spatial"] = [_dimension(node, spatial) for spatial in node.spatial]

    if isinstance(node, Component):
        level["actions"] = [
            {"name": a.name, "energy": a.energy, "throughput": a.throughput} for a in node.actions
        ]
        if node.actions_scale != 1:
            level["actions_scale"] = node.actions_scale
        latency = translate_latency(node, symbols)
        if latency is not None:
            level["total_latency"] = latency

    if isinstance(node, Memory):
        level["size"] = node.size
    if isinstance(node, (Memory, Compute)):
        level["skip_initial_output_write"] = node.skip_initial_output_write
    if isinstance(node, (Memory, Toll)):
        level["tensors"] = {
            access.name: _holding(node, access.name, access.bits_per_value)
            for access in einsum.tensor_accesses
        }

    return level


def _dimension(node: Any, spatial: Any) -> dict[str, Any]:
    may_reuse = spatial.may_reuse
    if not isinstance(may_reuse, InvertibleSet):
        raise _at(
            EvaluationError(f'the set expression "{may_reuse}" cannot be evaluated'),
            ("may_reuse", spatial.name, "spatial", node.name, "nodes"),
            spatial._place or node._place,
        )
    result = {
        "name": spatial.name,
        "fanout": spatial.fanout,
        "may_reuse": sorted(may_reuse.instance),
    }
    if spatial.usage_scale != 1:
        result["usage_scale"] = spatial.usage_scale
    return result


def _holding(node: Any, tensor: str, bits: Any) -> dict[str, Any]:
    """Say how a memory or toll counts the values of a tensor."""
    result = {"bits_per_value": node.bits_per_value.get(tensor, bits)}
    for action in node.actions:
        if action.name in ("read", "write"):
            result[f"{action.name}_values_per_action"] = node._get_values_per_action(
                action.name, tensor, bits
            )
    if isinstance(node, Toll):
        directions: Any = node.direction
        result["direction"] = directions[tensor]
    return result


# --- leaks --------------------------------------------------------------------------------------


def _leaks(spec: Spec, compute: str, components: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """List what leaks while an Einsum runs, and add new components."""
    gates = gates_of(spec.arch, compute)
    result = []
    for node, parents in spec.arch.iterate_hierarchically():
        if not isinstance(node, Component):
            continue
        if node.name not in components:
            above = math.prod(p.get_fanout() for p in parents if isinstance(p, Spatialable))
            components[node.name] = {
                "name": node.name,
                "area": _area(node),
                "leak_power": node.leak_power,
                "instances": above,
            }
        entry: dict[str, Any] = {"component": node.name, "power": node.total_leak_power}
        gate = gates[node.name]
        if gate.share != 1:
            entry["share"] = gate.share
        if gate.dimensions:
            entry["gated_by"] = [list(dimension) for dimension in gate.dimensions]
        result.append(entry)

    return result


def _area(node: Any) -> float:
    """Return the area of one instance, which is optional, as an evaluation does not use it."""
    if not isinstance(node.area, (int, float)):
        return 0.0
    return float(node.area * node.area_scale * node.n_parallel_instances)
