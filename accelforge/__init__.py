# SPDX-License-Identifier: BSD-3-Clause
"""Predicts the energy, latency and area of a workload on an accelerator."""

from accelforge import devices, mapper, plotting
from accelforge._registration import register
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
from accelforge.prediction import measure, predict
from accelforge.util import LiteralString, set_n_parallel_jobs, sweep
from accelforge.util.budget import limits
from accelforge.util.exceptions import EvaluationError, InvalidMappingError, ValidationError
from accelforge.util.rivals import warn_of_rivals
from offchip import __version__

__all__ = [
    "Arch",
    "Config",
    "EvaluationError",
    "InvalidMappingError",
    "LiteralString",
    "Mapping",
    "Metrics",
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

register()
warn_of_rivals()
