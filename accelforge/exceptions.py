# SPDX-License-Identifier: BSD-3-Clause
"""The errors of this package."""

from accelforge.util.exceptions import (
    EvaluationError,
    InvalidMappingError,
    MapperError,
    MapperInterrupt,
    MapperLimitWarning,
    ValidationError,
)

__all__ = [
    "EvaluationError",
    "InvalidMappingError",
    "MapperError",
    "MapperInterrupt",
    "MapperLimitWarning",
    "ValidationError",
]
