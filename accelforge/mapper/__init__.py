# SPDX-License-Identifier: BSD-3-Clause
"""The mapper, which looks for the best mappings; it is not part of this version yet."""

from accelforge.frontend.mapper.metrics import Metrics
from accelforge.mapper import FFM

__all__ = ["FFM", "Metrics"]
