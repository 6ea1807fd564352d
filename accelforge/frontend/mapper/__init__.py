# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the mapper, which looks for mappings."""

from accelforge.frontend.mapper.ffm import FFM
from accelforge.frontend.mapper.mapper import Mapper
from accelforge.frontend.mapper.metrics import Metrics

__all__ = ["FFM", "Mapper", "Metrics"]
