# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the Fast and Fusiest Mapper (FFM)."""

from __future__ import annotations

import math

from accelforge.fields import Choice, EvalableModel, Fixed, field
from accelforge.frontend.mapper.metrics import Metrics

__all__ = ["FFM"]

_FLAG = Fixed(bool)
_COUNT = Fixed(int, float)
_SCALE = Fixed(int, float)


class FFM(EvalableModel):
    """Settings of the mapper."""

    metrics: Metrics = field(Choice(Metrics), Metrics.ENERGY)
    """Metrics that mappings are optimised for."""

    info_metrics: Metrics = field(Choice(Metrics), Metrics.all_metrics())
    """Metrics that are reported of the mappings that are found."""

    force_memory_hierarchy_order: bool = field(_FLAG, True)
    """Storage nodes of a memory stand below those of all memories above it, not only below those
    for the same tensor."""

    out_of_order_hierarchy_explore_removing_spatials_for_more_temporals: bool = field(_FLAG, False)
    """Try also to leave out spatial loops above a memory that does not have their fan-out, for
    temporal loops over the same variables."""

    max_fused_loops_per_rank_variable: int = field(Fixed(int), 1)
    """Fused loops over one rank variable of a pmapping."""

    max_fused_loops: float | int = field(_COUNT, math.inf)
    """Fused loops of a pmapping."""

    max_loops: float | int = field(_COUNT, math.inf)
    """Loops of a pmapping."""

    max_loops_per_spatial_dimension: float | int = field(_COUNT, math.inf)
    """Spatial loops over one dimension of a fan-out."""

    max_loops_minus_ranks: float | int = field(_COUNT, math.inf)
    """Loops of a pmapping beyond the number of ranks."""

    tiling_coarseness: float = field(_SCALE, 1)
    """Skip tile shapes that are less than this many times the next inner one."""

    explore_loop_orders: bool = field(_FLAG, True)
    """Try orders of loops that differ in partial reuse."""

    memory_limit: float | int = field(_COUNT, math.inf)
    """Bytes that the mapper may use."""

    memory_limit_per_process: float | int = field(_COUNT, math.inf)
    """Bytes that each process of the mapper may use."""

    time_limit: float | int = field(_COUNT, math.inf)
    """Seconds that the mapper may take."""

    time_limit_per_pmapping_template: float | int = field(_COUNT, math.inf)
    """Is kept for files that have it, without effect: `time_limit` is for the whole search."""

    max_pmapping_templates_per_einsum: float | int = field(_COUNT, math.inf)
    """Templates of pmappings of one Einsum."""

    explore_imperfect_spatial_loops: bool = field(_FLAG, False)
    """Let tiles of spatial loops not divide what they tile."""

    explore_imperfect_temporal_loops: bool = field(_FLAG, False)
    """Let tiles of temporal loops not divide what they tile."""

    prioritize_reuse_of_unfused_tensors: bool = field(_FLAG, False)
    """Place storage nodes of tensors that are not fused above those that are."""

    objective_tolerance: float = field(_SCALE, 0)
    """Margin by which a mapping may be worse than the best, as a fraction."""

    resource_usage_tolerance: float = field(_SCALE, 0)
    """Share of a resource that may stay unused before usage counts, as a fraction."""
