# SPDX-License-Identifier: BSD-3-Clause
"""Tensors that a memory or toll may hold, and how mappings may treat them there."""

from __future__ import annotations

from typing import Any

from accelforge.expressions import TENSORS, InvertibleSet
from accelforge.fields import (
    EvalableList,
    EvalableModel,
    Fixed,
    Items,
    Members,
    Part,
    field,
)
from accelforge.frontend.arch.constraints import Comparison
from accelforge.util.exceptions import EvaluationError

__all__ = ["Tensors"]

_KEEP_NOTHING = "<Nothing>"
_MAY_KEEP_REST = "<Nothing if keep is given, else All>"


class Tensors(EvalableModel):
    """Conditions on the tensors that a memory or toll holds. All are set expressions."""

    keep: str | InvertibleSet = field(Members(TENSORS), _KEEP_NOTHING)
    """The tensors that it must hold."""

    may_keep: str | InvertibleSet = field(Members(TENSORS), _MAY_KEEP_REST)
    """The tensors that it may hold. Without it, all if `keep` is not given, else none."""

    back: str | InvertibleSet = field(Members(TENSORS), "Nothing")
    """The tensors whose outermost holder it must be."""

    tile_shape: EvalableList[Comparison] = field(Items(Part(Comparison)), EvalableList())
    """Conditions on the tile shape of each rank variable."""

    no_refetch_from_above: str | InvertibleSet = field(Members(TENSORS), "~All")
    """The tensors of which no piece may be fetched from above more than once."""

    no_resend_to_below: str | InvertibleSet = field(Members(TENSORS), "~All")
    """The tensors of which no piece may be sent below more than once."""

    tensor_order_options: EvalableList[EvalableList[str | InvertibleSet]] = field(
        Items(Items(Members(TENSORS))), EvalableList()
    )
    """Orders that the storage nodes may have: lists of sets, from the top."""

    force_memory_hierarchy_order: bool = field(Fixed(bool), True)
    """True if its storage nodes stand above those of all memories below it."""

    def _evaluate(self, symbols: dict[str, Any], must: bool = False) -> Tensors:
        draft = self.model_copy()
        keep, may_keep = self.__dict__["keep"], self.__dict__["may_keep"]
        if may_keep == _MAY_KEEP_REST:
            draft.__dict__["may_keep"] = "All" if keep == _KEEP_NOTHING else "~All"
        if keep == _KEEP_NOTHING:
            draft.__dict__["keep"] = "Nothing"
        new = EvalableModel._evaluate(draft, symbols, must)
        values = new.__dict__
        if isinstance(values["back"], InvertibleSet):
            if isinstance(values["keep"], InvertibleSet):
                values["keep"] = values["keep"] | values["back"]
            if isinstance(values["may_keep"], InvertibleSet):
                values["may_keep"] = values["may_keep"] - values["back"]

        for order in values["tensor_order_options"]:
            sets = [entry for entry in order if isinstance(entry, InvertibleSet)]
            for number, first in enumerate(sets):
                for second in sets[number + 1 :]:
                    if first & second:
                        raise EvaluationError(
                            f"{list(first & second)} stand twice in one order",
                            source_field="tensor_order_options",
                        )

        return new
