# SPDX-License-Identifier: BSD-3-Clause
"""Fan-outs: nodes that there are several of, side by side."""

from __future__ import annotations

import math
from typing import Any

from accelforge.expressions import TENSORS, InvertibleSet
from accelforge.fields import (
    EvalableList,
    EvalableModel,
    Expression,
    Items,
    Members,
    Part,
    Text,
    field,
)
from accelforge.frontend.arch.constraints import Comparison

__all__ = ["Spatial", "Spatialable"]

_SAME_AS_REUSE = "<the same as reuse if that is given, else All>"
_NO_REUSE = "<Nothing>"


class Spatial(EvalableModel):
    """One dimension of a fan-out."""

    name: str = field(Text())
    """Its name, such as X."""

    fanout: int | str = field(Expression(int))
    """Number of instances in this dimension."""

    may_reuse: str | InvertibleSet = field(Members(TENSORS), _SAME_AS_REUSE)
    """Set expression for the tensors that the hardware sends to several instances at once, or adds
    up on the way from them. Without it, `reuse` if that is given, else All."""

    loop_bounds: EvalableList[Comparison] = field(Items(Part(Comparison)), EvalableList())
    """Conditions on the loops over this dimension."""

    min_usage: float | str = field(Expression(int, float), 0.0)
    """Share of the instances, 0 to 1, that mappings use at least."""

    reuse: str | InvertibleSet = field(Members(TENSORS), _NO_REUSE)
    """Set expression for the tensors that every loop over this dimension must reuse."""

    usage_scale: float | str = field(Expression(int, float), 1)
    """Factor for the usage that is reported."""

    power_gateable: bool | str = field(Expression(bool), False)
    """True if instances that an Einsum does not use do not leak."""

    def _evaluate(self, symbols: dict[str, Any], must: bool = False) -> Spatial:
        draft = self.model_copy()
        reuse, may_reuse = self.__dict__["reuse"], self.__dict__["may_reuse"]
        if may_reuse == _SAME_AS_REUSE:
            draft.__dict__["may_reuse"] = "All" if reuse == _NO_REUSE else reuse
        if reuse == _NO_REUSE:
            draft.__dict__["reuse"] = "Nothing"
        return EvalableModel._evaluate(draft, symbols, must)


class Spatialable(EvalableModel):
    """Something that there can be several of."""

    spatial: EvalableList[Spatial] = field(Items(Part(Spatial)), EvalableList())
    """Its fan-out: there are as many instances of this node, and of all nodes below it, as the
    product of the dimensions."""

    def get_fanout(self) -> int:
        """Return the product of the dimensions."""
        return math.prod(int(spatial.fanout) for spatial in self.spatial)

    def get_fanout_along(self, dim_name: str, default: int = 1) -> int:
        """Return the fan-out in one dimension.

        Parameters
        ----------
        dim_name : str
            Name of the dimension.
        default : int
            For a node without that dimension.
        """
        found = self.spatial.get_by_name(dim_name)
        return default if found is None else int(found.fanout)

    def _spatial_str(self) -> str:
        return ", ".join(f"{spatial.fanout}x {spatial.name}" for spatial in self.spatial)
