# SPDX-License-Identifier: BSD-3-Clause
"""The base of all components: what they do, and what they cost."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from accelforge.fields import (
    EvalableList,
    EvalExtras,
    Expression,
    Items,
    Kind,
    Part,
    Text,
    field,
)
from accelforge.frontend.arch import costs
from accelforge.frontend.arch.actions import Action, replace_latency
from accelforge.frontend.arch.spatial import Spatialable
from accelforge.frontend.arch.structure import Leaf
from accelforge.util.exceptions import EvaluationError, ValidationError

__all__ = ["DEFAULT_LATENCY", "GLOBAL_ATTRIBUTES", "Component"]

# Costs and factors of them. A rate may be infinite: actions at it take no time.
_COST_OR_NONE = Expression(int, float, optional=True, least=0, finite=True)
_FACTOR = Expression(int, float, least=0, finite=True)
_RATE = Expression(int, float, above=0)
_COUNT = Expression(int, float, above=0, finite=True)
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
    """Name of its model in hwcomponents, or in `accelforge.component_models` where that is not
    installed, for costs that are not given. ``Dummy`` costs nothing."""

    component_model: Any = field(Kind(), None)
    """Its model itself, which comes before `component_class`."""

    component_modeling_log: list[str] = field(Kind(), [])
    """How its costs came about."""

    cost_sources: dict[str, str] = field(Kind(), {})
    """Origin of each cost, such as ``energy of read``: ``given``, ``Dummy``, ``offchip: SRAM`` or
    the package and class of another model. It is a result."""

    actions: EvalableList[Any] = field(Items(Part(Action)), EvalableList())
    """Its actions."""

    enabled: bool | str = field(Expression(bool, lazy=True), True)
    """True if the mapper uses it for an Einsum, for example ``len(All) == 3``."""

    area: float | str | None = field(_COST_OR_NONE, None)
    """Area of one instance, in m^2."""

    total_area: float | str | None = field(_COST_OR_NONE, None)
    """Area of all instances, in m^2; it is a result."""

    area_scale: float | str = field(_FACTOR, 1)
    """Factor for the area."""

    leak_power: float | str | None = field(_COST_OR_NONE, None)
    """Power that one instance leaks, in W."""

    total_leak_power: float | str | None = field(_COST_OR_NONE, None)
    """Power that all instances leak, in W; it is a result."""

    leak_power_scale: float | str = field(_FACTOR, 1)
    """Factor for the leak power."""

    energy_scale: float | str = field(_FACTOR, 1)
    """Factor for the energy of every action."""

    actions_scale: float | str = field(_FACTOR, 1)
    """Factor for the number of actions, and so for energy and latency."""

    total_latency: str | int | float = field(Text(number=True), DEFAULT_LATENCY)
    """Expression for the seconds that the component takes for an Einsum. It can use ``actions``,
    each with ``name``, ``n_calls``, ``throughput`` and ``energy``, and the other fields."""

    latency_scale: float | str = field(_FACTOR, 1)
    """Deprecated: `throughput_scale` is its reciprocal, and takes its place."""

    throughput_scale: float | str = field(_RATE, 1)
    """Factor for the throughput of every action."""

    n_parallel_instances: float | str = field(_COUNT, 1)
    """Number that work in parallel: factor for area, leak power and throughput."""

    extra_attributes_for_component_model: EvalExtras = field(
        Part(_ExtraAttributes), _ExtraAttributes()
    )
    """Further attributes for the component model."""

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
            The field that needs it.

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
        new.__dict__["cost_sources"] = dict(self.cost_sources)
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
            Models to search; by default those that hwcomponents finds, or else our own.
        in_place : bool
            Whether to change this object rather than a copy.
        trying_to_calculate : str, optional
            The field that needs it.
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
            Models to search if the area is not given.
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
            Models to search if the leak power is not given.
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
            Models to search if an energy is not given.
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
            Models to search if a throughput is not given.
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
            Models to search for costs that are not given.
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
