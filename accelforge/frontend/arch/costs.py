# SPDX-License-Identifier: BSD-3-Clause
"""Area, leak power, energy and throughput of a component.

Numbers that are given always count. What is not given comes from a model of hwcomponents, if that
package is installed, else from one of our own. ``cost_sources`` of the component says which.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from accelforge.frontend.arch.model_failure import (
    explain_failure,
    explain_missing,
    warn_of_node,
)
from accelforge.util.exceptions import EvaluationError
from offchip.lazy import find

if TYPE_CHECKING:
    from accelforge.frontend.arch.component import Component

__all__ = [
    "calculate_area",
    "calculate_energy",
    "calculate_leak_power",
    "calculate_throughput",
    "find_model",
]


def find_model(component: Component, models: list[Any] | None, wanted: str) -> Any:
    """Return the model of a component, and remember it.

    Parameters
    ----------
    component : Component
        Its ``component_class`` names the model.
    models : list, optional
        Models to search; by default those that hwcomponents finds, or our own without it.
    wanted : str
        The field that needs the model.

    Raises
    ------
    EvaluationError
        No class is named, or hwcomponents is not installed and we have none of that name, or the
        model fails; with what to do.
    """
    if component.component_model is not None:
        return component.component_model
    name = component.get_component_class(wanted)
    hwcomponents = find("hwcomponents")
    if hwcomponents is None:
        return _find_own(component, models, wanted, name)
    try:
        found = hwcomponents.get_model(
            name,
            component._attributes_for_component_model(),
            required_actions=[action.name for action in component.actions],
            models=hwcomponents.get_models() if models is None else models,
            _return_estimation_object=True,
        )
    # Models may raise any exception.
    except Exception as error:
        raise _failure(component, wanted, error) from error
    component.__dict__["component_model"] = found.value
    warn_of_node(component.name, found.value)
    component.component_modeling_log.extend(found.messages)
    return found.value


def _find_own(component: Component, models: list[Any] | None, wanted: str, name: str) -> Any:
    """Return the model of ours, and remember it; a list of models leaves ours out."""
    from accelforge.component_models import make_model

    own = None
    try:
        if models is None:
            own = make_model(name, component._attributes_for_component_model())
    except (ValueError, ArithmeticError) as error:
        raise _failure(component, wanted, error) from error
    if own is None:
        raise EvaluationError(
            explain_missing(name, wanted), source_field=f"{component.name}.{wanted}"
        )
    component.__dict__["component_model"] = own
    warn_of_node(component.name, own)
    return own


def _failure(component: Component, wanted: str, error: Exception) -> EvaluationError:
    result = explain_failure(str(component.component_class), error, _is_own(component))
    result.add_field(wanted)
    result.add_field(component.name)
    result.locate(component._place)
    return result


def _is_own(component: Component) -> bool:
    """Return whether the costs are ours to explain: there is no other model."""
    model = component.component_model
    return hasattr(model, "origin") or (model is None and find("hwcomponents") is None)


def _ask_action(component: Component, action: Any, models: list[Any] | None, wanted: str) -> Any:
    model = find_model(component, models, f"actions.{action.name}.{wanted}")
    # Both may have a name, such as energy_scale; the action's own counts.
    attributes = {
        **component._attributes_for_component_model(),
        **action._attributes_for_component_model(),
    }
    try:
        found = model.try_call_arbitrary_action(
            action_name=action.name, _return_estimation_object=True, **attributes
        )
    except Exception as error:
        raise _failure(component, f"actions.{action.name}.{wanted}", error) from error
    component.component_modeling_log.extend(found.messages)
    return getattr(found.value, wanted)


def _source(component: Component, given: bool) -> str:
    """Return where a number comes from."""
    if given:
        return "given"
    if component._is_dummy():
        return "Dummy"
    model = component.component_model
    kind = type(model)
    origin = f"{kind.__module__.partition('.')[0]}: {kind.__name__}"
    return str(getattr(model, "origin", origin))


def _scaled(
    component: Component, what: str, value: Any, given: bool, scales: dict[str, Any]
) -> Any:
    """Multiply a value by its scales, and log it with its source."""
    component.cost_sources[what] = _source(component, given)
    log = component.component_modeling_log
    log.append(f"{what} is {value}")
    for name, scale in scales.items():
        if scale != 1:
            value = value * scale
            log.append(f"{what} times {name} = {scale} is {value}")
    return value


def calculate_area(component: Component, models: list[Any] | None) -> None:
    """Set the area of one instance, in m^2."""
    area = component.area
    if area is None:
        dummy = component._is_dummy()
        area = 0 if dummy else find_model(component, models, "area").area
    component.__dict__["area"] = _scaled(
        component,
        "area",
        area,
        component.area is not None,
        {
            "area_scale": component.area_scale,
            "n_parallel_instances": component.n_parallel_instances,
        },
    )


def calculate_leak_power(component: Component, models: list[Any] | None) -> None:
    """Set the leak power of one instance, in W."""
    power = component.leak_power
    if power is None:
        dummy = component._is_dummy()
        power = 0 if dummy else find_model(component, models, "leak_power").leak_power
    component.__dict__["leak_power"] = _scaled(
        component,
        "leak_power",
        power,
        component.leak_power is not None,
        {
            "leak_power_scale": component.leak_power_scale,
            "n_parallel_instances": component.n_parallel_instances,
        },
    )


def calculate_energy(component: Component, models: list[Any] | None) -> None:
    """Set the energy of each action, in J."""
    for action in component.actions:
        energy, given = action.energy, action.energy is not None
        if energy is None:
            dummy = component._is_dummy()
            energy = 0 if dummy else _ask_action(component, action, models, "energy")
        action.__dict__["energy"] = _scaled(
            component,
            f"energy of {action.name}",
            energy,
            given,
            {
                "energy_scale of the component": component.energy_scale,
                "energy_scale of the action": action.energy_scale,
            },
        )


def calculate_throughput(component: Component, models: list[Any] | None) -> None:
    """Set the throughput of each action, in actions per second."""
    for action in component.actions:
        throughput, given = action.throughput, action.throughput is not None
        if throughput is None:
            dummy = component._is_dummy()
            throughput = math.inf if dummy else _ask_action(component, action, models, "throughput")
        action.__dict__["throughput"] = _scaled(
            component,
            f"throughput of {action.name}",
            throughput,
            given,
            {
                "throughput_scale of the component": component.throughput_scale,
                "throughput_scale of the action": action.throughput_scale,
                "n_parallel_instances": component.n_parallel_instances,
            },
        )
