# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a specification: architecture, workload, mapping and settings."""

from accelforge.frontend import arch, config, mapping, renames, spec, variables, workload
from accelforge.frontend.spec import Spec, Specification

__all__ = [
    "Spec",
    "Specification",
    "arch",
    "config",
    "mapping",
    "renames",
    "spec",
    "variables",
    "workload",
]
