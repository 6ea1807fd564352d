# SPDX-License-Identifier: BSD-3-Clause
"""The base of all nodes of a mapping."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from accelforge.fields import EvalableModel, Text, field
from accelforge.util.exceptions import ValidationError

__all__ = ["MappingNode"]

T = TypeVar("T", bound="MappingNode")


class MappingNode(EvalableModel):
    """A node of a mapping. This class is abstract."""

    text: str | None = field(Text(optional=True), None)
    """Shown for the node in a picture, instead of its own label."""

    _abstract: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # A class that compares loses its hash, and nodes are told apart by identity.
        cls.__hash__ = object.__hash__  # type: ignore[method-assign, assignment]

    def __init__(self, **data: Any) -> None:
        if vars(type(self)).get("_abstract", False):
            names = sorted(sub.__name__ for sub in type(self).__subclasses__())
            raise ValidationError(
                f"{type(self).__name__} is abstract; there are {', '.join(names)}"
            )
        super().__init__(**data)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__  # type: ignore[assignment]

    def compact_str(self) -> str:
        """Describe the node in a few characters."""
        return str(self)

    def get_nodes_of_type(self, types: type[T] | tuple[type[T], ...]) -> list[T]:
        """Return this node and those in it, as far as they are of one or several classes.

        Parameters
        ----------
        types : type or tuple of types
            The classes.
        """
        return [node for node in self._flatten() if isinstance(node, types)]

    def get_all_children(self) -> list[MappingNode]:
        """Return all nodes in this one."""
        return self._flatten()[1:]

    def _flatten(self) -> list[MappingNode]:
        """Return this node and all nodes in it, from the top."""
        return [self]

    def _merge(self, other: Any) -> Any:
        raise ValueError(f"{type(self).__name__} nodes do not merge")

    def _render_node_shape(self) -> str:
        return "box"

    def _render_node_color(self) -> str:
        return "white"

    def _render_node_label(self, **kwargs: Any) -> str:
        return str(self)

    def _render_node_name(self) -> str:
        return f"{type(self).__name__}_{id(self)}"
