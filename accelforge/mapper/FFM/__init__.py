# SPDX-License-Identifier: BSD-3-Clause
"""The Fast and Fusiest Mapper, which is not part of this version yet, and results."""

from accelforge.frontend.mapper.metrics import Metrics
from accelforge.mapper.FFM.main import join_pmappings, make_pmappings, map_workload_to_arch
from accelforge.mapper.FFM.mappings import Mappings

__all__ = ["Mappings", "Metrics", "join_pmappings", "make_pmappings", "map_workload_to_arch"]
