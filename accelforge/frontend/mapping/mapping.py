# SPDX-License-Identifier: BSD-3-Clause
"""The root of a mapping."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

from accelforge.fields import EvalableList, Text, field
from accelforge.frontend.mapping.holders import (
    Compute,
    Reservation,
    Storage,
    TensorHolder,
    TextBox,
    Toll,
)
from accelforge.frontend.mapping.loops import Loop, Spatial, Temporal, TilePattern
from accelforge.frontend.mapping.nodes import MappingNode
from accelforge.frontend.mapping.tree import (
    NODE_CLASSES,
    MappingNodeWithChildren,
    Nested,
    NodeList,
    Pipeline,
    Sequential,
    Split,
)
from accelforge.frontend.renames import EinsumName, RankVariable, TensorName

__all__ = [
    "Compute",
    "Loop",
    "Mapping",
    "MappingNode",
    "MappingNodeTypes",
    "MappingNodeWithChildren",
    "Nested",
    "NodeList",
    "Pipeline",
    "RankVariable",
    "Reservation",
    "Sequential",
    "Spatial",
    "Split",
    "Storage",
    "Temporal",
    "TensorHolder",
    "TensorName",
    "TextBox",
    "TilePattern",
    "Toll",
]

MappingNodeTypes: TypeAlias = (
    Temporal | Spatial | Storage | Pipeline | Sequential | Compute | Reservation | TensorHolder
)


class Mapping(Nested):
    """Execution of a workload on an architecture."""

    title: str | None = field(Text(optional=True), None)
    """Shown above a picture of the mapping."""

    _yaml_tag: ClassVar[str] = ""

    @property
    def loops(self) -> list[Loop]:
        """All loops."""
        return self.get_nodes_of_type(Loop)

    def split_reservations(self) -> None:
        """Make one reservation for each tensor."""
        self._split_nodes(Reservation, "purposes")

    def split_tensor_holders_with_multiple_tensors(self) -> None:
        """Make one storage or toll node for each tensor."""
        self._split_nodes(TensorHolder, "tensors")

    def _split_nodes(self, kind: Any, name: str) -> None:
        result = EvalableList[Any]()
        for node in self.nodes:  # type: Any
            if not isinstance(node, kind) or len(node[name]) < 2:
                result.append(node)
                continue
            for entry in node[name]:
                part = node.model_copy()
                part[name] = [entry]
                result.append(part)
        self.__dict__["nodes"] = result

    def split_loop_with_multiple_rank_variables(self, einsum_name: EinsumName) -> None:
        """Replace the sets of rank variables of fused loops by what one Einsum calls them.

        Parameters
        ----------
        einsum_name : str
            The Einsum.
        """
        for number, node in enumerate(self.nodes):
            if isinstance(node, Loop) and isinstance(node.rank_variable, set):
                if einsum_name not in node._einsum_to_rank_variable:
                    raise ValueError(
                        f"the loop {node.compact_str()} does not say what {einsum_name} calls its "
                        f"rank variable"
                    )
                new = node.model_copy()
                new.rank_variable = node._einsum_to_rank_variable[einsum_name]
                self.nodes[number] = new

    def remove_reservations(self) -> None:
        """Remove all reservations."""
        self.clear_nodes_of_type(Reservation)

    def clear_irrelevant_reservations(self, relevant_tensors: set[TensorName]) -> None:
        """Remove reservations and storage of other tensors.

        Parameters
        ----------
        relevant_tensors : set of str
            The tensors to leave in.
        """
        for node in self.get_nodes_of_type(MappingNodeWithChildren):
            kept = EvalableList[Any]()
            for inner in node.nodes:
                name = {Reservation: "purposes", Storage: "tensors", Toll: "tensors"}.get(
                    type(inner)
                )
                if name is not None:
                    inner[name] = [entry for entry in inner[name] if entry in relevant_tensors]
                    if not inner[name]:
                        continue
                kept.append(inner)
            node.__dict__["nodes"] = kept

    # Names of these in today's package.
    _split_reservations = split_reservations
    _split_tensor_holders_with_multiple_tensors = split_tensor_holders_with_multiple_tensors
    _split_loop_with_multiple_rank_variables = split_loop_with_multiple_rank_variables
    _clear_reservations = remove_reservations
    _clear_irrelevant_reservations = clear_irrelevant_reservations

    def render(self, with_reservations: bool = True, with_tile_shape: bool = True) -> str:
        """Draw the mapping; the result is the text of an SVG picture.

        Parameters
        ----------
        with_reservations : bool
            Whether to draw reservations.
        with_tile_shape : bool
            Whether to write tile shapes into loops.
        """
        from accelforge.frontend.mapping.picture import render_mapping

        return render_mapping(self, with_reservations, with_tile_shape)

    def render_pydot(self, with_reservations: bool = True, with_tile_shape: bool = True) -> Any:
        """Draw the mapping as a graph of the package pydot.

        Parameters
        ----------
        with_reservations : bool
            Whether to draw reservations.
        with_tile_shape : bool
            Whether to write tile shapes into loops.
        """
        from accelforge.frontend.mapping.picture import mapping_to_pydot

        return mapping_to_pydot(self, with_reservations, with_tile_shape)

    def _repr_svg_(self) -> str:
        return self.render()


NODE_CLASSES.update(
    {
        "Compute": Compute,
        "Storage": Storage,
        "Toll": Toll,
        "Reservation": Reservation,
        "TextBox": TextBox,
        "Temporal": Temporal,
        "Spatial": Spatial,
        "Sequential": Sequential,
        "Pipeline": Pipeline,
        "Split": Split,
        "Mapping": Mapping,
        "Nested": Nested,
    }
)
