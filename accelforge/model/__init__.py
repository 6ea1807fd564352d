# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates mappings."""

from accelforge.model.main import InvalidMappingError, evaluate_mapping

__all__ = ["InvalidMappingError", "evaluate_mapping"]
