# SPDX-License-Identifier: BSD-3-Clause
"""The errors of this package."""

from accelforge.util.exceptions import EvaluationError, InvalidMappingError, ValidationError

__all__ = ["EvaluationError", "InvalidMappingError", "ValidationError"]
