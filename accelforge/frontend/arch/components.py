# SPDX-License-Identifier: BSD-3-Clause
"""Components: memories, tolls, computes, and containers and networks."""

from __future__ import annotations

import enum
from typing import Any, ClassVar, Self

from accelforge.expressions import evaluate_set_keys
from accelforge.fields import (
    Choice,
    EvalableList,
    EvalExtras,
    Expression,
    Fixed,
    Items,
    Kind,
    Part,
    Text,
    field,
)
from accelforge.frontend.arch import costs
from accelforge.frontend.arch.actions import (
    Action,
    TensorHolderAction,
    evaluate_tensor_numbers,
    replace_latency,
)
from accelforge.frontend.arch.spatial import Spatialable
from accelforge.frontend.arch.structure import Leaf
from accelforge.frontend.arch.tensors import Tensors
from accelforge.util.exceptions import EvaluationError, ValidationError

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

_NUMBER = Expression(int, float)
_NUMBER_OR_NONE = Expression(int, float, optional=True)
DEFAULT_LATENCY = "sum(a.n_calls / a.throughput for a in actions)"
GLOBAL_ATTRIBUTES = "arch_extra_attributes_for_all_component_models"


class _ExtraAttributes(EvalExtras):
    """Extra attributes of a component, to which those of the architecture are added."""

    def _evaluate(self, symbols: dict[str, Any], must: bool = False) -> _ExtraAttributes:
        shared = symbols.get(GLOBAL_ATTRIBUTES)
        if not shared and not self.__dict__:
            return self
        draft = self.model_copy()
        for name, value in (shared or {}).items():
            if draft.__dict__.get(name) is None:
                draft.__dict__[name] = value
        return EvalExtras._evaluate(draft, symbols, must)


class Component(Leaf, Spatialable):
    """A node that costs area, power, energy or time. This class is abstract."""

    component_class: str | None = field(Text(optional=True), None)
    """Name of its model in hwcomponents, for costs that are not given. ``Dummy`` costs nothing."""

    component_model: Any = field(Kind(), None)
    """Its model itself, which comes before `component_class`."""

    component_modeling_log: list[str] = field(Kind(), [])
    """How its costs came about."""

    actions: EvalableList[Any] = field(Items(Part(Action)), EvalableList())
    """What it does."""

    enabled: bool | str = field(Expression(bool, lazy=True), True)
    """Whether the mapper uses it for an Einsum, for example ``len(All) == 3``."""

    area: float | str | None = field(_NUMBER_OR_NONE, None)
    """Area of one instance, in m^2."""

    total_area: float | str | None = field(_NUMBER_OR_NONE, None)
    """Area of all instances, in m^2; it is a result."""

    area_scale: float | str = field(_NUMBER, 1)
    """Factor for the area."""

    leak_power: float | str | None = field(_NUMBER_OR_NONE, None)
    """Power that one instance leaks, in W."""

    total_leak_power: float | str | None = field(_NUMBER_OR_NONE, None)
    """Power that all instances leak, in W; it is a result."""

    leak_power_scale: float | str = field(_NUMBER, 1)
    """Factor for the leak power."""

    energy_scale: float | str = field(_NUMBER, 1)
    """Factor for the energy of every action."""

    actions_scale: float | str = field(_NUMBER, 1)
    """Factor for the number of actions, and so for energy and latency."""

    total_latency: str | int | float = field(Text(number=True), DEFAULT_LATENCY)
    """Expression for the seconds that the component takes for an Einsum. It can use ``actions``,
    each with ``name``, ``n_calls``, ``throughput`` and ``energy``, and the other fields."""

    latency_scale: float | str = field(_NUMBER, 1)
    """Deprecated: `throughput_scale` is its reciprocal, and takes its place."""

    throughput_scale: float | str = field(_NUMBER, 1)
    """Factor for the throughput of every action."""

    n_parallel_instances: float | str = field(_NUMBER, 1)
    """How many work in parallel: factor for area, leak power and throughput."""

    extra_attributes_for_component_model: EvalExtras = field(
        Part(_ExtraAttributes), _ExtraAttributes()
    )
    """What a component model needs to know besides."""

    _evaluate_first: ClassVar[tuple[str, ...]] = ("extra_attributes_for_component_model",)
    _default_actions: ClassVar[tuple[str, ...]] = ()
    _action_class: ClassVar[type[Action]] = Action

    def __init__(self, **data: Any) -> None:
        if "_yaml_tag" not in vars(type(self)) and not type(self)._default_actions:
            raise ValidationError(
                f"{type(self).__name__} is abstract; there are Memory, Toll, Compute and Network"
            )
        super().__init__(**data)

    @classmethod
    def _prepare(cls, data: dict[str, Any]) -> dict[str, Any]:
        if "latency_scale" in data and "throughput_scale" in data:
            raise ValidationError(
                "latency_scale and throughput_scale say the same; give throughput_scale",
                source_field="latency_scale",
            )
        return replace_latency(data, cls.__name__, "_scale")

    def _complete(self) -> None:
        known = {action.name for action in self.actions}
        missing = [name for name in self._default_actions if name not in known]
        if missing:
            self.__dict__["actions"] = EvalableList(
                [*self.actions, *(self._action_class(name=name) for name in missing)]
            )

    def _evaluated_value(self, name: str, value: Any, scope: dict[str, Any]) -> Any:
        if name == "extra_attributes_for_component_model":
            scope.update(value.shallow_model_dump())
        return value

    # --- costs ----------------------------------------------------------------------------------

    def get_component_class(self, trying_to_calculate: str | None = None) -> str:
        """Return the name of its model.

        Parameters
        ----------
        trying_to_calculate : str, optional
            What it is needed for.

        Raises
        ------
        EvaluationError
            There is none.
        """
        if self.component_class is None:
            wanted = trying_to_calculate or "a cost"
            error = EvaluationError(
                f"{wanted} is not given, and neither is a component_class that a model could be "
                f"found with. Give area, leak_power, and for each action energy and throughput; "
                f"component_class: Dummy stands for no costs",
                source_field=f"{self.name}.component_class",
            )
            error.locate(self._place)
            raise error
        return self.component_class

    def _is_dummy(self) -> bool:
        return self.component_model is None and (self.component_class or "").lower() == "dummy"

    def _attributes_for_component_model(self) -> dict[str, Any]:
        return {
            **self.shallow_model_dump(),
            **self.extra_attributes_for_component_model.shallow_model_dump(),
        }

    def _for_costs(self, in_place: bool) -> Self:
        if in_place:
            return self
        new = self.model_copy()
        new.__dict__["actions"] = EvalableList(action.model_copy() for action in self.actions)
        new.__dict__["component_modeling_log"] = list(self.component_modeling_log)
        return new

    def populate_component_model(
        self,
        component_models: list[Any] | None = None,
        in_place: bool = False,
        trying_to_calculate: str | None = None,
    ) -> Self:
        """Find the model of the component.

        Parameters
        ----------
        component_models : list, optional
            Where to look; without it, what hwcomponents finds.
        in_place : bool
            Whether to change this object rather than a copy.
        trying_to_calculate : str, optional
            What it is needed for.
        """
        new = self._for_costs(in_place)
        if not new._is_dummy():
            costs.find_model(new, component_models, trying_to_calculate or "a cost")
        return new

    def calculate_area(
        self, component_models: list[Any] | None = None, in_place: bool = False
    ) -> Self:
        """Calculate the area of one instance.

        Parameters
        ----------
        component_models : list, optional
            Where to look for a model if the area is not given.
        in_place : bool
            Whether to change this object rather than a copy.
        """
        new = self._for_costs(in_place)
        costs.calculate_area(new, component_models)
        return new

    def calculate_leak_power(
        self, component_models: list[Any] | None = None, in_place: bool = False
    ) -> Self:
        """Calculate the leak power of one instance.

        Parameters
        ----------
        component_models : list, optional
            Where to look for a model if the leak power is not given.
        in_place : bool
            Whether to change this object rather than a copy.
        """
        new = self._for_costs(in_place)
        costs.calculate_leak_power(new, component_models)
        return new

    def calculate_action_energy(
        self, component_models: list[Any] | None = None, in_place: bool = False
    ) -> Self:
        """Calculate the energy of each action.

        Parameters
        ----------
        component_models : list, optional
            Where to look for a model if an energy is not given.
        in_place : bool
            Whether to change this object rather than a copy.
        """
        new = self._for_costs(in_place)
        costs.calculate_energy(new, component_models)
        return new

    def calculate_action_throughput(
        self, component_models: list[Any] | None = None, in_place: bool = False
    ) -> Self:
        """Calculate the throughput of each action.

        Parameters
        ----------
        component_models : list, optional
            Where to look for a model if a throughput is not given.
        in_place : bool
            Whether to change this object rather than a copy.
        """
        new = self._for_costs(in_place)
        costs.calculate_throughput(new, component_models)
        return new

    def calculate_component_costs(
        self, component_models: list[Any] | None = None, in_place: bool = False
    ) -> Self:
        """Calculate area, leak power, and energy and throughput of each action.

        Fields must not hold expressions any more; `Spec.calculate_component_costs` evaluates them.

        Parameters
        ----------
        component_models : list, optional
            Where to look for a model for what is not given.
        in_place : bool
            Whether to change this object rather than a copy.
        """
        new = self._for_costs(in_place)
        new.__dict__["component_modeling_log"] = []
        costs.calculate_area(new, component_models)
        costs.calculate_energy(new, component_models)
        costs.calculate_throughput(new, component_models)
        costs.calculate_leak_power(new, component_models)
        return new


class TensorHolder(Component):
    """A component that holds tensors: a memory or a toll. This class is abstract."""

    actions: EvalableList[TensorHolderAction] = field(
        Items(Part(TensorHolderAction)), EvalableList()
    )
    """What it does."""

    tensors: Tensors = field(Part(Tensors), Tensors())
    """Which tensors it may hold."""

    bits_per_value: dict[str, Any] | str = field(Expression(dict), {})
    """Bits of a value in this component, by set expression; else, what the workload says."""

    bits_per_action: float | str | None = field(_NUMBER_OR_NONE, None)
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
        bits: Any = self.bits_per_value
        return float(action.bits_per_action / bits.get(tensor_name, bits_per_value_default))


class Memory(TensorHolder):
    """A component that holds tensors for some time, so that they are reused."""

    _yaml_tag: ClassVar[str] = "Memory"
    _shape: ClassVar[str] = "cylinder"
    _color: ClassVar[str] = "#dff3df"
    _default_actions: ClassVar[tuple[str, ...]] = ("read", "write")

    size: float | str = field(_NUMBER)
    """Capacity of one instance, in bits."""

    def _render_node_label(self) -> str:
        return f"{self}\nsize: {self.size}"

    skip_initial_output_write: bool = field(Fixed(bool), True)
    """Whether the first partial sum is written without reading one from above."""


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
                f'"{direction}" for {key} is no direction; there are {", ".join(_DIRECTIONS)}'
            )
        result.update(dict.fromkeys(members, str(direction)))
    missing = sorted(every - set(result))
    if missing:
        raise EvaluationError(f"there is no direction for {', '.join(missing)}")
    return result


class Compute(Component):
    """A component that computes."""

    _yaml_tag: ClassVar[str] = "Compute"
    _shape: ClassVar[str] = "ellipse"
    _color: ClassVar[str] = "#e3eefc"
    _default_actions: ClassVar[tuple[str, ...]] = ("compute",)

    skip_initial_output_write: bool = field(Fixed(bool), True)
    """Whether the first partial sum is written without reading one."""


class Container(Leaf, Spatialable):
    """A node that only gives the nodes below it a fan-out."""

    _yaml_tag: ClassVar[str] = "Container"
    _shape: ClassVar[str] = "box"
    _color: ClassVar[str] = "#f6dcee"


class TopologySpec(enum.StrEnum):
    """How the nodes of a network are connected."""

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

    bits_per_action: float | str | None = field(_NUMBER_OR_NONE, None)
    """Bits that one action moves."""

    topology: TopologySpec = field(Choice(TopologySpec), TopologySpec.MESH)
    """How its nodes are connected."""

    def _evaluated_value(self, name: str, value: Any, scope: dict[str, Any]) -> Any:
        if name == "bits_per_value" and value:
            return evaluate_tensor_numbers(value, name, scope)
        return super()._evaluated_value(name, value, scope)
