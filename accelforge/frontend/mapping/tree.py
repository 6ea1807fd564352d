# SPDX-License-Identifier: BSD-3-Clause
"""Nodes with nodes of their own: nests, and splits into branches."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

from accelforge.fields import EvalableList, EvalableModel, Items, Nodes, field
from accelforge.frontend.mapping import holders
from accelforge.frontend.mapping.nodes import MappingNode
from accelforge.util.exceptions import ValidationError

__all__ = ["MappingNodeWithChildren", "Nested", "NodeList", "Pipeline", "Sequential", "Split"]

NodeList: TypeAlias = EvalableList[Any]


# Classes of the nodes of a mapping, by tag; the module of the mapping's root fills the table.
NODE_CLASSES: dict[str, type[EvalableModel]] = {}


class MappingNodeWithChildren(MappingNode):
    """A node with nodes of its own. This class is abstract."""

    nodes: NodeList = field(Items(Nodes(NODE_CLASSES)), EvalableList())
    """The nodes."""

    _abstract: ClassVar[bool] = True

    def _flatten(self) -> list[MappingNode]:
        return [self, *(inner for node in self.nodes for inner in node._flatten())]

    def clear_nodes_of_type(self, types: type | tuple[type, ...]) -> None:
        """Remove all nodes of one or several classes.

        Parameters
        ----------
        types : type or tuple of types
            The classes.
        """
        self._remove(lambda node: isinstance(node, types))

    def clear_nodes(self, *nodes: MappingNode) -> None:
        """Remove all nodes that equal one of these.

        Parameters
        ----------
        *nodes : MappingNode
            What to remove.
        """
        self._remove(lambda node: any(node == other for other in nodes))

    def _remove(self, unwanted: Any) -> None:
        self.__dict__["nodes"] = EvalableList(node for node in self.nodes if not unwanted(node))
        for node in self.nodes:
            if isinstance(node, MappingNodeWithChildren):
                node._remove(unwanted)


class Split(MappingNodeWithChildren):
    """The mapping splits into branches, each for other Einsums."""

    _yaml_tag: ClassVar[str] = "Split"

    def __str__(self) -> str:
        return type(self).__name__

    def _render_node_shape(self) -> str:
        return "hexagon"

    def _render_node_color(self) -> str:
        return "#fffbdc"


class Sequential(Split):
    """Branches that are executed one after another."""

    _yaml_tag: ClassVar[str] = "Sequential"


class Pipeline(Split):
    """Branches that are executed at the same time; the model treats them as `Sequential`."""

    _yaml_tag: ClassVar[str] = "Pipeline"


class Nested(MappingNodeWithChildren):
    """Nodes of which each one is inside the one before."""

    _yaml_tag: ClassVar[str] = "Nested"

    def _complete(self) -> None:
        for number, node in enumerate(self.nodes[:-1]):
            if isinstance(node, MappingNodeWithChildren):
                raise ValidationError(
                    f"a {type(node).__name__} is the last node of a nest, and this one is followed "
                    f"by {len(self.nodes) - number - 1} more",
                    source_field=f"nodes.{number}",
                )

    def __str__(self) -> str:
        return self.compact_str()

    def compact_str(self) -> str:
        """Describe the nodes in a few characters each."""
        merged: list[Any] = []
        for node in self.nodes:
            previous = merged[-1] if merged else None
            if isinstance(node, (holders.TensorHolder, holders.Reservation)):
                try:
                    merged[-1] = previous._merge(node)  # type: ignore[union-attr]
                    continue
                except (AttributeError, ValueError):
                    pass
            merged.append(node)
        return " ".join(node.compact_str() for node in merged)
