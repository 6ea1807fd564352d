# SPDX-License-Identifier: BSD-3-Clause
"""Writes a specification of AccelForge as a problem, together with AccelForge's own results.

This file stands alone. It is run by its path with a Python that has AccelForge installed, and
imports nothing of offchip::

    /path/to/python accelforge/export_problem.py --output case.json arch.yaml workload.yaml map.yaml

The JSON file has the fields ``problem`` (see docs/design/accelforge.md), ``results`` (numbers by
column, as lists of the column's parts and the number) and, where AccelForge refuses the mapping,
``error``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import sys
from typing import Any

__all__ = ["export", "export_mapped", "main", "make_problem", "read_results"]


def peer(name: str) -> Any:
    """Import a module of AccelForge, or one that it needs."""
    return importlib.import_module(name)


# -------------------------------------------------------------------- numbers and formulas


def number(value: Any) -> float | str:
    """Convert to what JSON can hold."""
    value = float(value)
    return "inf" if math.isinf(value) else value


class Word:
    """A part of a latency formula, which records what is done with it."""

    def __init__(self, words: list[Any]) -> None:
        self.words = words

    def _two(self, other: Any, word: str, swapped: bool = False) -> Word:
        a, b = self.words, as_words(other)
        return Word([*(b if swapped else a), *(a if swapped else b), word])

    def __add__(self, other: Any) -> Word:
        return self._two(other, "+")

    def __radd__(self, other: Any) -> Word:
        return self._two(other, "+", True)

    def __sub__(self, other: Any) -> Word:
        return self._two(other, "-")

    def __rsub__(self, other: Any) -> Word:
        return self._two(other, "-", True)

    def __mul__(self, other: Any) -> Word:
        return self._two(other, "*")

    def __rmul__(self, other: Any) -> Word:
        return self._two(other, "*", True)

    def __truediv__(self, other: Any) -> Word:
        return self._two(other, "/")

    def __rtruediv__(self, other: Any) -> Word:
        return self._two(other, "/", True)

    def __pow__(self, other: Any) -> Word:
        return self._two(other, "pow")


def as_words(value: Any) -> list[Any]:
    """Give the postfix form of a number or formula."""
    return value.words if isinstance(value, Word) else [number(value)]


def _fold(word: str) -> Any:
    def fold(*values: Any) -> Word:
        items = list(values[0]) if len(values) == 1 and hasattr(values[0], "__iter__") else values
        words = list(as_words(items[0]))
        for item in items[1:]:
            words += [*as_words(item), word]
        return Word(words)

    return fold


class RecordedAction:
    """An action whose calls, throughput and energy are looked up by the engine."""

    def __init__(self, action: Any) -> None:
        self._action = action

    @property
    def n_calls(self) -> Word:
        """The calls of one instance."""
        return Word([["calls", self._action.name]])

    @property
    def throughput(self) -> Word:
        """Calls per second."""
        return Word([["throughput", self._action.name]])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._action, name)


class RecordedActions(list):  # type: ignore[type-arg]
    """Actions that are found by position and by name."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return next(action for action in self if action.name == key)
        return super().__getitem__(key)


DEFAULT_LATENCY = "sum(a.n_calls / a.throughput for a in actions)"


def formula(component: Any, spec: Any) -> list[Any] | None:
    """Translate `total_latency`; None for the default."""
    text = component.total_latency
    if str(text).replace(" ", "") == DEFAULT_LATENCY.replace(" ", ""):
        return None
    table = {
        **(dict(spec.arch.variables) if spec.arch.variables else {}),
        **dict(spec.variables),
        **component.shallow_model_dump(include_None=True),
        "variables": spec.variables,
        "arch_variables": spec.arch.variables,
        "actions": RecordedActions(RecordedAction(action) for action in component.actions),
        "max": _fold("max"),
        "min": _fold("min"),
        "sum": _fold("+"),
    }
    evaluate = peer("accelforge.util._eval_expressions").eval_expression
    return as_words(evaluate(text, table, attr_name="latency", location=component.name))


# -------------------------------------------------------------------- levels


def kind_of(node: Any) -> str:
    """Name the kind of a node of the flattened architecture."""
    arch = peer("accelforge.frontend.arch")
    kinds = {arch.Memory: "memory", arch.Toll: "toll", arch.Compute: "compute"}
    return next((name for cls, name in kinds.items() if isinstance(node, cls)), "container")


def dimensions(node: Any) -> list[dict[str, Any]]:
    """Describe the fan-out of a node."""
    return [
        {
            "name": spatial.name,
            "fanout": number(spatial.fanout),
            "may_reuse": sorted(map(str, spatial.may_reuse)),
            "usage_scale": number(spatial.usage_scale),
        }
        for spatial in node.spatial
    ]


def holdings(node: Any, kind: str, einsum: Any) -> dict[str, Any]:
    """Describe what each tensor costs in a memory or toll."""
    found = {}
    for access in einsum.tensor_accesses:
        bits = access.bits_per_value
        entry = {
            "bits_per_value": number(node.bits_per_value.get(access.name, bits)),
            "read_values_per_action": number(
                node._get_values_per_action("read", access.name, bits)
            ),
        }
        if kind == "memory":
            entry["write_values_per_action"] = number(
                node._get_values_per_action("write", access.name, bits)
            )
        else:
            entry["direction"] = str(node.direction[access.name])
        found[str(access.name)] = entry
    return found


def level(node: Any, einsum: Any, spec: Any) -> dict[str, Any]:
    """Describe one component on the path."""
    kind = kind_of(node)
    record: dict[str, Any] = {"component": node.name, "kind": kind, "spatial": dimensions(node)}
    if kind == "container":
        return record
    record["actions_scale"] = number(node.actions_scale)
    record["actions"] = [
        {
            "name": action.name,
            "energy": number(action.energy),
            "throughput": number(action.throughput),
        }
        for action in node.actions
    ]
    record["total_latency"] = formula(node, spec)
    if kind == "memory":
        record["size"] = number(node.size)
    if kind != "toll":
        record["skip_initial_output_write"] = bool(node.skip_initial_output_write)
    if kind in ("memory", "toll"):
        record["tensors"] = holdings(node, kind, einsum)
    return record


# -------------------------------------------------------------------- leaks


def leaks(spec: Any, path: Any) -> list[dict[str, Any]]:
    """Describe what leaks; gates are found by asking with one fan-out half used."""
    arch = peer("accelforge.frontend.arch")
    full = {(node.name, s.name): s.fanout for node in path for s in node.spatial}
    compute = path[-1].name
    shares, _ = spec.arch._power_gating(compute_name=compute, used_fanout=full)
    gates: dict[str, list[list[str]]] = {}
    for key in full:
        halved, _ = spec.arch._power_gating(
            compute_name=compute, used_fanout={**full, key: full[key] / 2}
        )
        for name, share in halved.items():
            if share != shares[name]:
                gates.setdefault(name, []).append(list(key))

    return [
        {
            "component": node.name,
            "power": number(node.total_leak_power),
            "share": number(shares.get(node.name, 1)),
            "gated_by": gates.get(node.name, []),
        }
        for node in spec.arch.get_nodes_of_type(arch.Component)
    ]


# -------------------------------------------------------------------- workload and mapping


def projection(access: Any) -> list[Any]:
    """Describe the index expressions of a tensor."""
    sympy = peer("sympy")
    ranks = []
    for text in access.projection.values():
        constant, terms = sympy.parse_expr(str(text)).as_coeff_add()
        coefficients: dict[str, float] = {}
        for term in terms:
            coefficient, variable = term.as_coeff_Mul()
            coefficients[str(variable)] = float(coefficient)
        ranks.append({"terms": coefficients, "constant": float(constant)})
    return ranks


def loop_variable(loop: Any) -> str | dict[str, str]:
    """Name the rank variable of a loop, or that of each fused Einsum."""
    variable = loop.rank_variable
    if isinstance(variable, str):
        return str(variable)
    by_einsum = loop._einsum_to_rank_variable or {}
    return {str(einsum): str(name) for einsum, name in by_einsum.items()}


def mapping_nodes(nodes: list[Any]) -> list[dict[str, Any]]:
    """Describe the nodes of a mapping."""
    m = peer("accelforge.frontend.mapping.mapping")
    found: list[dict[str, Any]] = []
    for node in nodes:
        if isinstance(node, m.TensorHolder):
            found.append(
                {
                    "hold": node.component,
                    "tensors": [str(tensor) for tensor in node.tensors],
                    "persistent": bool(node.persistent),
                }
            )
        elif isinstance(node, m.Loop):
            variable = loop_variable(node)
            loop: dict[str, Any] = {"tile": number(node.tile_shape)}
            if isinstance(node, m.Spatial):
                loop |= {"spatial": variable, "component": node.component, "dim": node.name}
            else:
                loop["temporal"] = variable
            if node.initial_tile_shape is not None:
                loop["initial"] = number(node.initial_tile_shape)
            found.append(loop)
        elif isinstance(node, m.Compute):
            found.append({"compute": node.component, "einsum": str(node.einsum)})
        elif isinstance(node, m.Split):
            branches = [mapping_nodes(getattr(b, "nodes", [b])) for b in node.nodes]
            found.append({"sequential": branches})
        elif isinstance(node, m.Nested):
            found += mapping_nodes(node.nodes)

    return found


def leaves(nodes: list[dict[str, Any]]) -> dict[str, str]:
    """Find the compute of each Einsum."""
    found: dict[str, str] = {}
    for node in nodes:
        if "compute" in node:
            found[node["einsum"]] = node["compute"]
        for branch in node.get("sequential", ()):
            found |= leaves(branch)
    return found


def einsum_record(spec: Any, name: str, compute: str) -> dict[str, Any]:
    """Describe an Einsum and the components on its path."""
    evaluated = spec.calculate_component_costs(einsum_name=name, area=False)
    path = evaluated._get_flattened_architecture(compute_node=compute)
    einsum = evaluated.workload.einsums[name]
    symbolic = peer("accelforge.frontend._workload_isl._symbolic")
    bounds = symbolic.get_rank_variable_bounds(spec.workload, name)
    return {
        "name": name,
        "n_instances": number(einsum.n_instances),
        "is_copy_operation": bool(einsum.is_copy_operation),
        "variables": {str(variable): number(bound) for variable, bound in bounds.items()},
        "tensors": [
            {
                "name": str(access.name),
                "output": bool(access.output),
                "projection": projection(access),
            }
            for access in einsum.tensor_accesses
        ],
        "levels": [level(node, einsum, evaluated) for node in path],
        "leaks": leaks(evaluated, list(path)),
    }


# -------------------------------------------------------------------- results


def read_results(data: Any) -> list[tuple[list[str | None], float]]:
    """Translate the columns of the one row of a result."""
    found: list[tuple[list[str | None], float]] = []
    for column in data.columns:
        parts: list[str | None] = [None if p == "None" else p for p in column.split("<SEP>")]
        value = data[column].iloc[0]
        if parts[-1] == "mapping" or (
            not isinstance(value, (int, float)) and not hasattr(value, "__float__")
        ):
            continue
        where: list[str | None] | None = None
        if parts[0] == "Total":
            where = ["total", parts[1]]
        elif parts[0] == "reservation":
            where = ["reservation", parts[1]]
        elif len(parts) > 2 and parts[1] == "usage":
            where = [f"usage_{parts[2]}", parts[0], *parts[3:]]
        elif len(parts) > 2 and parts[1] in ("action", "energy", "latency"):
            rest = parts[2:]
            if parts[1] == "energy" and rest[-1] == "leak":
                rest = [rest[0], None, "leak"]
            where = [parts[1], parts[0], *rest]
        if where is not None:
            found.append((where, float(value)))
    return found


def make_problem(spec: Any, mapping: Any) -> dict[str, Any]:
    """Write a Spec with a mapping as a problem."""
    nodes = mapping_nodes(mapping.nodes)
    computes = leaves(nodes)
    names = [str(name) for name in spec.workload.einsum_names if str(name) in computes]
    einsums = [einsum_record(spec, name, computes[name]) for name in names]
    leaking = dict.fromkeys(leak["component"] for einsum in einsums for leak in einsum["leaks"])
    return {
        "format": "accelforge-problem",
        "version": 1,
        "n_instances": number(spec.workload.n_instances),
        "components": [{"name": name} for name in leaking],
        "einsums": einsums,
        "mapping": nodes,
    }


def export(spec: Any) -> dict[str, Any]:
    """Write a Spec with a mapping as a problem, and evaluate it.

    Parameters
    ----------
    spec : accelforge.Spec
        Not evaluated before.

    Returns
    -------
    dict
        With ``problem``, and ``results`` or ``error``.
    """
    case: dict[str, Any] = {"problem": make_problem(spec, spec.mapping)}
    try:
        case["results"] = read_results(spec.evaluate_mapping().data)
    except Exception as error:  # whatever AccelForge says is part of the case
        case["error"] = {"type": type(error).__name__, "text": str(error)[:2000]}
    return case


def export_mapped(spec: Any, mappings: Any, index: int = 0) -> dict[str, Any]:
    """Write a mapping that AccelForge's mapper found as a problem, with its results.

    Parameters
    ----------
    spec : accelforge.Spec
        What was mapped.
    mappings : accelforge.mapper.FFM.Mappings
        What `map_workload_to_arch` returned.
    index : int
        Which row.
    """
    data = mappings.data.iloc[[index]]
    mapping = data["Total<SEP>mapping"].iloc[0]()
    return {"problem": make_problem(spec, mapping), "results": read_results(data)}


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", default="-", help="the JSON file; - is standard output")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a Jinja2 variable"
    )
    parser.add_argument("yaml", nargs="+")
    options = parser.parse_args(arguments)

    values = {}
    for setting in options.set:
        name, _, text = setting.partition("=")
        try:
            values[name] = json.loads(text)
        except ValueError:
            values[name] = text
    spec = peer("accelforge").Spec.from_yaml(*options.yaml, jinja_parse_data=values)
    text = json.dumps(export(spec))
    if options.output == "-":
        sys.stdout.write(text + "\n")
    else:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
