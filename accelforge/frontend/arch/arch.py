# SPDX-License-Identifier: BSD-3-Clause
"""The root of an architecture."""

from __future__ import annotations

from typing import Any, ClassVar

from accelforge.fields import EvalExtras, Part, field
from accelforge.frontend.arch.component import GLOBAL_ATTRIBUTES, Component
from accelforge.frontend.arch.spatial import Spatial, Spatialable
from accelforge.frontend.arch.structure import Hierarchical, Leaf
from accelforge.util.exceptions import ValidationError

__all__ = ["Arch"]


class Arch(Hierarchical):
    """An architecture: nodes of which each is above the next.

    Its expressions can use the variables of the specification and, as they are evaluated for each
    Einsum, the names of the Einsum's tensors and rank variables.
    """

    _yaml_tag: ClassVar[str] = ""

    variables: EvalExtras = field(Part(EvalExtras), EvalExtras())
    """Variables that are evaluated for each Einsum."""

    extra_attributes_for_all_component_models: EvalExtras = field(Part(EvalExtras), EvalExtras())
    """Further attributes for all component models, such as a technology node."""

    _evaluate_first: ClassVar[tuple[str, ...]] = (
        "variables",
        "extra_attributes_for_all_component_models",
    )
    _expression_names: ClassVar[frozenset[str]] = Hierarchical._expression_names | {
        "find_spatial",
        "per_component_total_area",
        "per_component_total_leak_power",
        "total_area",
        "total_leak_power",
    }

    def _complete(self) -> None:
        names: set[str] = set()
        for leaf in self.get_nodes_of_type(Leaf):
            if leaf.name in names:
                error = ValidationError(
                    f"Duplicate name {leaf.name} found in architecture", source_field="nodes"
                )
                error.locate(leaf._place)
                raise error
            names.add(leaf.name)

    def __getitem__(self, key: str) -> Any:
        """Get a field, or the node with a name."""
        if key in type(self)._fields:
            return self.__dict__[key]
        try:
            return self.find(key)
        except ValueError as error:
            if isinstance(key, str) and not key.startswith("_") and hasattr(self, key):
                return getattr(self, key)
            raise KeyError(f"{key} is not a field of the architecture, and {error}") from None

    def _evaluate(self, symbols: dict[str, Any], must: bool = False) -> Arch:
        scope = dict(symbols)
        for leaf in self.get_nodes_of_type(Leaf):
            scope[leaf.name] = leaf
        return super()._evaluate(scope, must)

    def _evaluated_value(self, name: str, value: Any, scope: dict[str, Any]) -> Any:
        if name == "variables":
            merged = {**dict(scope.get("variables") or {}), **value.shallow_model_dump()}
            scope.update(merged)
        elif name == "extra_attributes_for_all_component_models":
            scope[GLOBAL_ATTRIBUTES] = value.shallow_model_dump()
        return value

    def find_spatial(
        self, name: str, return_spatialable: bool = False
    ) -> Spatial | tuple[Spatialable, Spatial]:
        """Return the dimension with a name.

        Parameters
        ----------
        name : str
            Name of the dimension.
        return_spatialable : bool
            Whether to return the node that has it, too.

        Raises
        ------
        ValueError
            There is none, or more than one.
        """
        found = [
            (node, spatial)
            for node in self.get_nodes_of_type(Spatialable)
            for spatial in node.spatial
            if spatial.name == name
        ]
        if not found:
            raise ValueError(f"No spatial dimension with name '{name}' found in the architecture")
        if len(found) > 1:
            nodes = ", ".join(node.name for node, _ in found)
            raise ValueError(f"Multiple spatials with name '{name}' found, in: {nodes}")
        return found[0] if return_spatialable else found[0][1]

    # --- results of calculate_component_costs ---------------------------------------------------

    @property
    def per_component_total_area(self) -> dict[str, float]:
        """Area of all instances of each component, in m^2."""
        return self._totals("total_area", "Area")

    @property
    def per_component_total_leak_power(self) -> dict[str, float]:
        """Power that all instances of each component leak, in W."""
        return self._totals("total_leak_power", "Leak power")

    @property
    def total_area(self) -> float:
        """Area of the architecture, in m^2."""
        return sum(self.per_component_total_area.values())

    @property
    def total_leak_power(self) -> float:
        """Power that the architecture leaks, in W."""
        return sum(self.per_component_total_leak_power.values())

    def _totals(self, name: str, what: str) -> dict[str, float]:
        totals = {node.name: node[name] for node in self.get_nodes_of_type(Component)}
        for component, value in totals.items():
            if value is None:
                raise ValueError(
                    f"{what} of {component} is not set. Call calculate_component_costs() of the "
                    f"Spec, and use the Spec that it returns"
                )
        return totals

    def render(self) -> str:
        """Draw the nodes; the result is the text of an SVG picture."""
        from accelforge.frontend.arch.picture import render_arch

        return render_arch(self)

    def _repr_svg_(self) -> str:
        return self.render()
