# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the model that evaluates mappings."""

from __future__ import annotations

from accelforge.fields import Choice, EvalableModel, field
from accelforge.frontend.mapper.metrics import Metrics

__all__ = ["Model"]


class Model(EvalableModel):
    """Settings of the model."""

    metrics: Metrics = field(Choice(Metrics), Metrics.all_metrics())
    """Metrics to evaluate."""
