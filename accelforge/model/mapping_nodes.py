# SPDX-License-Identifier: BSD-3-Clause
"""Turns the nodes of a mapping into those of a problem."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from accelforge.expressions import evaluate
from accelforge.frontend.mapping import (
    Compute,
    Loop,
    Nested,
    Reservation,
    Spatial,
    Split,
    TensorHolder,
    TextBox,
)
from accelforge.util.exceptions import EvaluationError, ValidationError

__all__ = ["NodeConverter"]


class NodeConverter:
    """Converts nodes.

    Parameters
    ----------
    variables : mapping
        The rank variables of each Einsum of the mapping.
    symbols : dict
        What expressions of tile shapes can use.
    tensors : iterable of str
        Those of the workload.
    dimensions : mapping
        The spatial dimensions of each component of the architecture.
    """

    def __init__(
        self,
        variables: Mapping[str, set[str]],
        symbols: dict[str, Any],
        tensors: Iterable[str],
        dimensions: Mapping[str, list[str]],
    ) -> None:
        self.variables = variables
        self.symbols = symbols
        self.tensors = set(tensors)
        self.dimensions = dimensions
        self.known = {name for names in variables.values() for name in names}

    def nodes(self, nest: Any, path: str) -> list[dict[str, Any]]:
        """Convert the nodes of a nest.

        Parameters
        ----------
        nest : MappingNode
            A nest, or a single node.
        path : str
            Where it is, for errors.
        """
        result: list[dict[str, Any]] = []
        for number, node in enumerate(nest.nodes if isinstance(nest, Nested) else [nest]):
            at = f"{path}.nodes.{number}"
            try:
                if isinstance(node, Nested):
                    result += self.nodes(node, at)
                elif isinstance(node, Split):
                    branches = [
                        self.nodes(branch, f"{at}.nodes.{i}") for i, branch in enumerate(node.nodes)
                    ]
                    result.append({"sequential": [branch for branch in branches if branch]})
                elif not isinstance(node, (Reservation, TextBox)):
                    result.append(self._node(node))
            except EvaluationError as error:
                if not error.path.startswith("spec."):
                    error.add_field(f"spec.{at}")
                error.locate(node._place)
                raise
        return result

    def _node(self, node: Any) -> dict[str, Any]:
        if isinstance(node, TensorHolder):
            held: dict[str, Any] = {
                "hold": self._component(node),
                "tensors": list(node.tensors),
            }
            for name in sorted(set(held["tensors"]) - self.tensors):
                # No error, as one mapping may serve several workloads.
                at = "" if node._place is None else f"{node._place}: "
                warnings.warn(
                    f"{at}{name} is no tensor of the workload, so {held['hold']} does not hold it; "
                    f"there are: {', '.join(sorted(self.tensors))}",
                    stacklevel=2,
                )
            if node.persistent:
                held["persistent"] = True
            if node.einsums:
                held["einsums"] = list(node.einsums)
            return held
        if isinstance(node, Compute):
            return {"compute": self._component(node), "einsum": node.einsum}
        if isinstance(node, Loop):
            return self._loop(node)
        raise EvaluationError(f"a {type(node).__name__} cannot be evaluated")

    def _loop(self, node: Loop) -> dict[str, Any]:
        result: dict[str, Any] = {
            "spatial" if isinstance(node, Spatial) else "temporal": self._variable(node),
            "tile": self._tile(node.tile_shape, "tile_shape"),
        }
        if isinstance(node, Spatial):
            component = result["component"] = self._component(node)
            result["dim"] = str(_given(node, "name"))
            own = self.dimensions[component]
            _known(result["dim"], own, "spatial dimension", component, "name")
        if node.initial_tile_shape is not None:
            result["initial"] = self._tile(node.initial_tile_shape, "initial_tile_shape")
        return result

    def _component(self, node: Any) -> Any:
        name = _given(node, "component")
        _known(name, self.dimensions, "component", "the architecture", "component")
        return name

    def _variable(self, node: Loop) -> Any:
        """Return the rank variable of a loop, or what each Einsum calls it."""
        name = _given(node, "rank_variable")
        if isinstance(name, str):
            if name not in self.known:
                raise RuntimeError(
                    f"the mapping loops over {name}, which is not a rank variable of its Einsums; "
                    f"there are: {', '.join(sorted(self.known))}"
                )
            return name

        if isinstance(name, dict):
            return dict(name)
        result = {}
        for einsum, variables in self.variables.items():
            own = node._einsum_to_rank_variable.get(einsum)
            matches = [own] if own is not None else sorted(set(name) & set(variables))
            if len(matches) > 1:
                raise EvaluationError(
                    f"the Einsum {einsum} has more than one of the rank variables {sorted(name)}",
                    source_field="rank_variable",
                )
            if matches:
                result[einsum] = matches[0]

        return result

    def _tile(self, value: Any, name: str) -> int:
        """Evaluate a tile shape."""
        try:
            result = evaluate(value, self.symbols)
            if isinstance(result, bool) or not isinstance(result, int) or result < 1:
                raise EvaluationError(
                    f"a tile shape is a whole number of at least 1, not {result!r}"
                )
        except EvaluationError as error:
            error.add_field(name)
            raise
        return result


def _known(name: Any, known: Collection[str], what: str, where: str, field: str) -> None:
    if name not in known:
        names = ", ".join(sorted(known)) or "none"
        raise EvaluationError(
            f"{name} is no {what} of {where}; there are: {names}", source_field=field
        )


def _given(node: Any, name: str) -> Any:
    value = node[name]
    if value is None:
        raise ValidationError("the field is missing", source_field=name)
    return value
