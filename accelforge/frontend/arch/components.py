# SPDX-License-Identifier: BSD-3-Clause
"""Memories, tolls, computes, containers and networks."""

from __future__ import annotations

import enum
import math
from typing import Any, ClassVar

from accelforge.expressions import evaluate_set_keys
from accelforge.fields import (
    Choice,
    EvalableList,
    Expression,
    Fixed,
    Items,
    Part,
    Text,
    field,
)
from accelforge.frontend.arch.actions import (
    Action,
    TensorHolderAction,
    evaluate_tensor_numbers,
)
from accelforge.frontend.arch.component import Component
from accelforge.frontend.arch.spatial import Spatialable
from accelforge.frontend.arch.structure import NODE_CLASSES, Array, Fork, Hierarchical, Leaf
from accelforge.frontend.arch.tensors import Tensors
from accelforge.util.exceptions import EvaluationError
from accelforge.util.units import size_text

__all__ = [
    "Component",
    "Compute",
    "Container",
    "Memory",
    "Network",
    "TensorHolder",
    "Toll",
    "TopologySpec",
]

_SIZE = Expression(int, float, least=0)
_POSITIVE_OR_NONE = Expression(int, float, optional=True, above=0, finite=True)


class TensorHolder(Component):
    """A component that holds tensors: a memory or a toll. This class is abstract."""

    actions: EvalableList[TensorHolderAction] = field(
        Items(Part(TensorHolderAction)), EvalableList()
    )
    """Its actions."""

    tensors: Tensors = field(Part(Tensors), Tensors())
    """Tensors that it may hold."""

    bits_per_value: dict[str, Any] | str = field(Expression(dict), {})
    """Bits of a value in this component, by set expression; by default those of the workload."""

    bits_per_action: float | str | None = field(_POSITIVE_OR_NONE, None)
    """Bits that one action moves, for actions that do not say."""

    values_per_action: dict[str, Any] | str = field(Expression(dict), {})
    """Values that one action moves, by set expression. It comes before `bits_per_action`."""

    _action_class: ClassVar[type[Action]] = TensorHolderAction

    def _evaluated_value(self, name: str, value: Any, scope: dict[str, Any]) -> Any:
        if name in ("bits_per_value", "values_per_action") and value:
            return evaluate_tensor_numbers(value, name, scope)
        return super()._evaluated_value(name, value, scope)

    def _get_values_per_action(
        self, action_name: str, tensor_name: str, bits_per_value_default: float
    ) -> float:
        """Return how many values of a tensor one action moves."""
        action: Any = self.actions[action_name]
        for table in (action.values_per_action, self.values_per_action):
            if tensor_name in table:
                return float(table[tensor_name])  # type: ignore[index]
        sizes: Any = self.bits_per_value
        bits = sizes.get(tensor_name, bits_per_value_default)
        return float(action.bits_per_action / bits) if bits else math.inf


class Memory(TensorHolder):
    """A component that holds tensors for some time, so that they are reused."""

    _yaml_tag: ClassVar[str] = "Memory"
    _shape: ClassVar[str] = "cylinder"
    _color: ClassVar[str] = "#dff3df"
    _default_actions: ClassVar[tuple[str, ...]] = ("read", "write")

    size: float | str = field(_SIZE)
    """Capacity of one instance, in bits."""

    def _render_node_label(self) -> str:
        return f"{super()._render_node_label()}\n{size_text(self.size)}"

    skip_initial_output_write: bool = field(Fixed(bool), True)
    """True if the first partial sum is written without reading one from above."""


_DIRECTIONS = ("up", "down", "up_and_down")


class Toll(TensorHolder):
    """A component that tensors pass through, and pay for.

    It has no capacity, is never the outermost holder of a tensor, and charges one ``read`` for
    each passage.
    """

    _yaml_tag: ClassVar[str] = "Toll"
    _shape: ClassVar[str] = "rarrow"
    _color: ClassVar[str] = "#ffe3c4"
    _default_actions: ClassVar[tuple[str, ...]] = ("read",)

    direction: dict[str, str] | str = field(Expression(dict, lazy=True))
    """The passages that are charged: ``up``, ``down`` or ``up_and_down``, for all tensors, or by
    set expression."""

    def _evaluated_value(self, name: str, value: Any, scope: dict[str, Any]) -> Any:
        if name == "direction":
            return _evaluate_direction(value, scope)
        return super()._evaluated_value(name, value, scope)


def _evaluate_direction(value: Any, scope: dict[str, Any]) -> dict[str, str]:
    """Evaluate a direction to one for each tensor."""
    every = scope["All"].instance if "All" in scope else frozenset()
    entries = (
        [("All", every, value)]
        if isinstance(value, str)
        else evaluate_set_keys(value, scope, "direction")
    )
    result = {}
    for key, members, direction in entries:
        if direction not in _DIRECTIONS:
            raise EvaluationError(
                f'"{direction}" for {key} is not a direction; it must be one of '
                f"{', '.join(_DIRECTIONS)}"
            )
        result.update(dict.fromkeys(members, str(direction)))

    missing = sorted(every - set(result))
    if missing:
        raise EvaluationError(f"no direction for {', '.join(missing)}")
    return result


class Compute(Component):
    """A component that computes."""

    _yaml_tag: ClassVar[str] = "Compute"
    _shape: ClassVar[str] = "ellipse"
    _color: ClassVar[str] = "#e3eefc"
    _default_actions: ClassVar[tuple[str, ...]] = ("compute",)
    _is_compute: ClassVar[bool] = True

    skip_initial_output_write: bool = field(Fixed(bool), True)
    """True if the first partial sum is written without reading one."""


class Container(Leaf, Spatialable):
    """A node that only gives the nodes below it a fan-out."""

    _yaml_tag: ClassVar[str] = "Container"
    _shape: ClassVar[str] = "box"
    _color: ClassVar[str] = "#f6dcee"


class TopologySpec(enum.StrEnum):
    """Connections between the nodes of a network."""

    MESH = "mesh"
    ALL_TO_ALL = "all_to_all"


class Network(Component):
    """A network between units; mappings cannot be evaluated on one yet."""

    _yaml_tag: ClassVar[str] = "Network"
    _shape: ClassVar[str] = "Msquare"
    _color: ClassVar[str] = "#fffbdc"
    _default_actions: ClassVar[tuple[str, ...]] = ("hop",)

    total_latency: str | int | float = field(
        Text(number=True),
        "max(max_hops*actions['hop'].latency, max_link_traffic/actions['hop'].throughput)",
    )
    """Expression for the seconds that it takes; it can use ``max_hops``, of the longest route, and
    ``max_link_traffic``, in bits."""

    bits_per_value: dict[str, Any] | str = field(Expression(dict), {})
    """Bits of a value in this network, by set expression."""

    bits_per_action: float | str | None = field(_POSITIVE_OR_NONE, None)
    """Bits that one action moves."""

    topology: TopologySpec = field(Choice(TopologySpec), TopologySpec.MESH)
    """Connections between its nodes."""

    def _evaluated_value(self, name: str, value: Any, scope: dict[str, Any]) -> Any:
        if name == "bits_per_value" and value:
            return evaluate_tensor_numbers(value, name, scope)
        return super()._evaluated_value(name, value, scope)


NODE_CLASSES.update(
    {
        "Compute": Compute,
        "Memory": Memory,
        "Toll": Toll,
        "ProcessingStage": Toll,
        "Container": Container,
        "Network": Network,
        "Hierarchical": Hierarchical,
        "Array": Array,
        "Fork": Fork,
    }
)
