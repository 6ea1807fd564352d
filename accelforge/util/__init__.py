# SPDX-License-Identifier: BSD-3-Clause
"""Shared by all parts of the package: errors, sets, parallel execution."""

from accelforge.util.exceptions import EvaluationError, ValidationError
from accelforge.util.literal import LiteralString
from accelforge.util.oset import fzs, oset
from accelforge.util.parallel import (
    delayed,
    get_n_parallel_jobs,
    is_using_parallel_processing,
    parallel,
    set_n_parallel_jobs,
    sweep,
)

__all__ = [
    "EvaluationError",
    "LiteralString",
    "ValidationError",
    "delayed",
    "fzs",
    "get_n_parallel_jobs",
    "is_using_parallel_processing",
    "oset",
    "parallel",
    "set_n_parallel_jobs",
    "sweep",
]
