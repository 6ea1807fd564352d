# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that hold tensors, compute, or reserve memory."""

from __future__ import annotations

from typing import Any, ClassVar

from accelforge.fields import EvalableDict, EvalableList, Fixed, Items, Kind, Text, field
from accelforge.frontend.mapping.nodes import MappingNode
from accelforge.util.exceptions import ValidationError

__all__ = ["Compute", "Reservation", "Storage", "TensorHolder", "TextBox", "Toll"]


class TensorHolder(MappingNode):
    """A node from which on a component holds tensors. This class is abstract."""

    tensors: EvalableList[str] = field(Items(Text()), EvalableList())
    """The tensors. Their order matters to capacity: only the last one's tile shrinks with the
    loops below."""

    component: str | None = field(Text(optional=True), None)
    """The component."""

    component_object: Any = field(Kind(), None)
    """The component itself; it is a result."""

    persistent: bool = field(Fixed(bool), False)
    """True if the tensors stay there while the whole workload runs."""

    einsums: EvalableList[str] = field(Items(Text()), EvalableList())
    """The Einsums that it is for, if it is not for all below."""

    _abstract: ClassVar[bool] = True
    _verb: ClassVar[str] = "reuses"
    _shown_verb: ClassVar[str] = "holds"
    _backing: Any = frozenset()
    _lower: bool = True

    @property
    def tensor(self) -> str:
        """The tensor, if it is one."""
        if len(self.tensors) != 1:
            raise ValueError(f"{self} has {len(self.tensors)} tensors; see tensors")
        return self.tensors[0]

    def __str__(self) -> str:
        return f"{self.component} {self._verb} {', '.join(self.tensors)}"

    def compact_str(self) -> str:
        """Describe the node in a few characters."""
        return f"[{','.join(self.tensors)} in {self.component}]"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TensorHolder)
            and set(self.tensors) == set(other.tensors)
            and self.component == other.component
        )

    def _merge(self, other: Any) -> Any:
        if type(other) is not type(self):
            raise ValueError(f"{type(self).__name__} and {type(other).__name__} do not merge")
        if self.component != other.component:
            raise ValueError(f"the components differ: {self.component}, {other.component}")
        new = self.model_copy()
        new.tensors = EvalableList([*self.tensors, *other.tensors])
        return new

    def _render_node_label(self, **kwargs: Any) -> str:
        return f"{self.component} {self._shown_verb} {', '.join(self.tensors)}"

    def _render_node_shape(self) -> str:
        return "cylinder"

    def _render_node_color(self) -> str:
        return "#dff3df"


class _Binding(Kind):
    def accept(self, value: Any) -> Any:
        """Take a mapping; it is not evaluated."""
        if isinstance(value, dict) or value in (None, [], ()):
            return EvalableDict(value or {})
        raise ValidationError(f"expected a mapping of Einsums to spatial loops, not {value!r}")


class Storage(TensorHolder):
    """A memory holds the tensors from here on, and supplies the nodes below."""

    binding: EvalableDict[str, Any] = field(_Binding(), EvalableDict())
    """For distributed memories: where the tensor lies. It is accepted, and has no effect yet."""

    _yaml_tag: ClassVar[str] = "Storage"


class Toll(TensorHolder):
    """The tensors pass through a toll."""

    _yaml_tag: ClassVar[str] = "Toll"
    _verb: ClassVar[str] = "passes"
    _shown_verb: ClassVar[str] = "passes"

    def _render_node_shape(self) -> str:
        return "rarrow"

    def _render_node_color(self) -> str:
        return "#ffe3c4"


class Compute(MappingNode):
    """An Einsum is computed here."""

    einsum: str | None = field(Text(optional=True), None)
    """The Einsum."""

    component: str | None = field(Text(optional=True), None)
    """The component that computes it."""

    component_object: Any = field(Kind(), None)
    """The component itself; it is a result."""

    _yaml_tag: ClassVar[str] = "Compute"

    def __str__(self) -> str:
        return f"{self.component} computes {self.einsum}"

    def _render_node_shape(self) -> str:
        return "ellipse"

    def _render_node_color(self) -> str:
        return "#e3eefc"


class TextBox(MappingNode):
    """Text for a picture of the mapping."""

    text: str = field(Text())
    """The text."""

    _yaml_tag: ClassVar[str] = "TextBox"

    def __str__(self) -> str:
        return self.text

    def _render_node_shape(self) -> str:
        return "none"


class Reservation(MappingNode):
    """Memory is reserved from here on. The model adds these; in an input they count for nothing."""

    purposes: EvalableList[str] = field(Items(Text()))
    """The tensors that it is for."""

    resource: str = field(Text())
    """The memory."""

    persistent: bool = field(Fixed(bool), False)
    """True if it is reserved while the whole workload runs."""

    _yaml_tag: ClassVar[str] = "Reservation"
    _backing: Any = frozenset()

    @property
    def purpose(self) -> str:
        """The tensor, if it is one."""
        if len(self.purposes) != 1:
            raise ValueError(f"{self} has {len(self.purposes)} purposes; see purposes")
        return self.purposes[0]

    def __str__(self) -> str:
        return f"{self.resource} reserved for {', '.join(self.purposes)}"

    def compact_str(self) -> str:
        """Describe the node in a few characters."""
        return f"{','.join(self.purposes)} reserves {self.resource}"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Reservation)
            and self.purposes == other.purposes
            and self.resource == other.resource
        )

    def _render_node_shape(self) -> str:
        return "component"

    def _render_node_color(self) -> str:
        return "#e8e8e8"
