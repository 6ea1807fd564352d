# SPDX-License-Identifier: BSD-3-Clause
"""The structure of an architecture: branches and leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from accelforge.drawing.pydot_node import make_node
from accelforge.fields import (
    EvalableList,
    EvalableModel,
    Fixed,
    Items,
    Nodes,
    Text,
    field,
)
from accelforge.frontend.arch.flattened import FlattenedArch
from accelforge.frontend.arch.spatial import Spatialable
from accelforge.util.exceptions import EvaluationError, ValidationError

__all__ = ["ArchNode", "ArchNodes", "Array", "Branch", "Fork", "Hierarchical", "Leaf"]

_NOT_GIVEN: Any = object()


class ArchNode(EvalableModel):
    """A node of an architecture."""

    _expression_names: ClassVar[frozenset[str]] = EvalableModel._expression_names | {
        "find",
        "get_fanout",
        "get_fanout_along",
    }

    def find(self, name: str, default: Any = _NOT_GIVEN) -> Any:
        """Return the node with a name.

        Parameters
        ----------
        name : str
            Name of a node.
        default : object, optional
            Returned if there is no such node.

        Raises
        ------
        ValueError
            There is none, and no default.
        """
        for node, _ in self.iterate_hierarchically():
            if node.name == name:
                return node
        if default is not _NOT_GIVEN:
            return default
        names = ", ".join(node.name for node, _ in self.iterate_hierarchically())
        raise ValueError(f"no node {name} in the architecture; there are: {names or 'none'}")

    def is_above(self, node_a: str, node_b: str) -> bool:
        """Say whether one node is above another.

        Parameters
        ----------
        node_a, node_b : str
            Names of the nodes.
        """
        self.find(node_a)
        self.find(node_b)
        return any(
            parent.name == node_a
            for node, parents in self.iterate_hierarchically()
            if node.name == node_b
            for parent in parents
        )

    def find_first_of_type_above(
        self, node_type: type, name: str, default: Any = _NOT_GIVEN
    ) -> Any:
        """Return the nearest node of a class above another node.

        Parameters
        ----------
        node_type : type
            The class.
        name : str
            Name of the node below.
        default : object, optional
            Returned if there is no such node.
        """
        self.find(name)
        for node, parents in self.iterate_hierarchically():
            if node.name == name:
                for parent in reversed(parents):
                    if isinstance(parent, node_type):
                        return parent
        if default is not _NOT_GIVEN:
            return default
        raise ValueError(f"no {node_type.__name__} is above {name}")

    def iterate_hierarchically(
        self, _parents: list[Any] | None = None
    ) -> Iterator[tuple[Any, list[Any]]]:
        """Yield each node that has a name, with the nodes above it."""
        parents = [] if _parents is None else _parents
        if "name" in type(self)._fields:
            yield self, list(parents)
            parents.append(self)


# Classes of the nodes of a branch, by tag; the module of the components fills the table.
NODE_CLASSES: dict[str, type[EvalableModel]] = {}


class ArchNodes(EvalableList[Any]):
    """The nodes of a branch."""


def _add_node(node: Any, symbols: dict[str, Any]) -> None:
    """Let expressions of later nodes see the values of earlier ones."""
    if isinstance(node, (Leaf, Array)):
        symbols[node.name] = node


class Leaf(ArchNode):
    """A node without nodes of its own."""

    name: str = field(Text())
    """Its name, which no other node has."""

    _shape: ClassVar[str] = "box"
    _color: ClassVar[str] = "white"
    _is_compute: ClassVar[bool] = False

    def __str__(self) -> str:
        fanout = getattr(self, "_spatial_str", str)()
        return self.name + (f" [{fanout}]" if fanout else "")

    def _render_node_name(self) -> str:
        return f"{type(self).__name__}_{id(self)}"

    def _render_node_label(self) -> str:
        fanout = getattr(self, "_spatial_str", str)()
        return f"{self.name}\n{fanout}".rstrip()

    def _render_node_shape(self) -> str:
        return self._shape

    def _render_node_color(self) -> str:
        return self._color

    def _render_node(self) -> Any:
        return make_node(self, self._render_node_label())


class Branch(ArchNode):
    """A node with nodes of its own."""

    nodes: ArchNodes = field(Items(Nodes(NODE_CLASSES), ArchNodes, after=_add_node), ArchNodes())
    """The nodes, from the top."""

    def __init__(self, **data: Any) -> None:
        if type(self) is Branch:
            raise ValidationError("Branch is abstract; there are Hierarchical, Fork and Array")
        super().__init__(**data)

    def get_nodes_of_type(self, types: type | tuple[type, ...]) -> Iterator[Any]:
        """Yield the nodes of one or several classes, also those of branches.

        Parameters
        ----------
        types : type or tuple of types
            The classes.
        """
        for node in self.nodes:
            if isinstance(node, types):
                yield node
            elif isinstance(node, Branch):
                yield from node.get_nodes_of_type(types)

    def _contains(self, name: str) -> bool:
        return any(
            node._contains(name) if isinstance(node, Branch) else node.name == name
            for node in self.nodes
        )


class Hierarchical(Branch):
    """Nodes of which each is above the next."""

    _yaml_tag: ClassVar[str] = "Hierarchical"

    def iterate_hierarchically(
        self, _parents: list[Any] | None = None
    ) -> Iterator[tuple[Any, list[Any]]]:
        """Yield each node that has a name, with the nodes above it."""
        parents = [] if _parents is None else _parents
        if isinstance(self, Fork):
            parents = list(parents)
        for node in self.nodes:
            yield from node.iterate_hierarchically(parents)

    def _flatten(self, compute_node: str) -> FlattenedArch:
        """Return the path to a compute; if there is none, all nodes that are not computes."""
        nodes: list[Any] = []
        self._collect(compute_node, nodes)
        return FlattenedArch(nodes)

    def _collect(self, compute_node: str, nodes: list[Any]) -> bool:
        for node in self.nodes:
            if isinstance(node, Fork) and not node._contains(compute_node):
                continue
            if isinstance(node, Hierarchical):
                if node._collect(compute_node, nodes):
                    return True
            elif isinstance(node, Array):
                found = node._collect(compute_node, nodes)
                nodes.append(node)
                if found:
                    return True
            elif node._is_compute:
                if node.name == compute_node:
                    nodes.append(node)
                    return True
            else:
                nodes.append(node)
        return False


class Fork(Hierarchical):
    """A side branch: its nodes are below the nodes before the fork, and above no others.

    It is on the way to a compute only if the compute is inside.
    """

    _yaml_tag: ClassVar[str] = "Fork"

    forked_power_gateable: bool = field(Fixed(bool), False)
    """True if the nodes inside do not leak while a compute elsewhere is used."""

    non_forked_power_gateable: bool = field(Fixed(bool), False)
    """True if the nodes after the fork do not leak while a compute inside is used."""


class Array(Branch, Spatialable):
    """Units that are distributed over an array; mappings cannot be evaluated on one yet."""

    _yaml_tag: ClassVar[str] = "Array"

    name: str = field(Text())
    """Its name."""

    def _complete(self) -> None:
        for node in self.nodes:
            if isinstance(node, Fork):
                raise EvaluationError("an Array has no forks inside", source_field="nodes")

    def iterate_hierarchically(
        self, _parents: list[Any] | None = None
    ) -> Iterator[tuple[Any, list[Any]]]:
        """Yield this node and those inside, each with the nodes above it."""
        parents = [] if _parents is None else _parents
        yield self, list(parents)
        parents.append(self)
        for node in self.nodes:
            yield from node.iterate_hierarchically(list(parents))

    def _collect(self, compute_node: str, nodes: list[Any]) -> bool:
        for node in self.nodes:
            if isinstance(node, Branch):
                raise EvaluationError("an Array has no branches inside", source_field=self.name)
            nodes.append(node)
        return any(node._is_compute and node.name == compute_node for node in self.nodes)
