# SPDX-License-Identifier: BSD-3-Clause
"""The Fast and Fusiest Mapper: searches Einsums one by one, and joins what it finds."""

from typing import TYPE_CHECKING, Any

from accelforge.frontend.mapper.metrics import Metrics
from accelforge.mapper.FFM.main import join_pmappings, make_pmappings, map_workload_to_arch
from accelforge.mapper.FFM.mappings import Mappings

if TYPE_CHECKING:
    from accelforge.mapper.FFM.pmappings import MultiEinsumPmappings

__all__ = [
    "Mappings",
    "Metrics",
    "MultiEinsumPmappings",
    "join_pmappings",
    "make_pmappings",
    "map_workload_to_arch",
]


def __getattr__(name: str) -> Any:
    # It needs numpy, and importing the package does not.
    if name == "MultiEinsumPmappings":
        from accelforge.mapper.FFM.pmappings import MultiEinsumPmappings

        return MultiEinsumPmappings
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
