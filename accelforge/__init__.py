# SPDX-License-Identifier: BSD-3-Clause
"""Predicts the energy, latency and area of a workload on an accelerator."""

import importlib
from typing import TYPE_CHECKING, Any

from accelforge import mapper
from accelforge.examples import examples
from accelforge.frontend import arch, config, mapping, renames, spec, variables, workload
from accelforge.frontend.arch import Arch
from accelforge.frontend.config import Config
from accelforge.frontend.mapper.metrics import Metrics
from accelforge.frontend.mapping import Mapping
from accelforge.frontend.renames import Renames
from accelforge.frontend.spec import Spec
from accelforge.frontend.variables import Variables
from accelforge.frontend.workload import Workload
from accelforge.util import LiteralString, set_n_parallel_jobs, sweep
from accelforge.util.budget import limits
from accelforge.util.conflicts import warn_of_conflicts
from accelforge.util.exceptions import EvaluationError, InvalidMappingError, ValidationError
from offchip import __version__

if TYPE_CHECKING:
    from accelforge import devices, plotting
    from accelforge.exploration import Range
    from accelforge.prediction import measure, predict

__all__ = [
    "Arch",
    "Config",
    "EvaluationError",
    "InvalidMappingError",
    "LiteralString",
    "Mapping",
    "Metrics",
    "Range",
    "Renames",
    "Spec",
    "ValidationError",
    "Variables",
    "Workload",
    "__version__",
    "arch",
    "config",
    "devices",
    "examples",
    "limits",
    "mapper",
    "mapping",
    "measure",
    "plotting",
    "predict",
    "renames",
    "set_n_parallel_jobs",
    "spec",
    "sweep",
    "variables",
    "workload",
]

# Names that an evaluation does without, which are imported when they are used, and their modules.
_LATER = {
    "Range": "accelforge.exploration",
    "devices": "accelforge.devices",
    "measure": "accelforge.prediction",
    "plotting": "accelforge.plotting",
    "predict": "accelforge.prediction",
    "prediction": "accelforge.prediction",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(_LATER[name])
    value = getattr(module, name, module)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


warn_of_conflicts()
