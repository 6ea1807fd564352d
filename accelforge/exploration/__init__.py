# SPDX-License-Identifier: BSD-3-Clause
"""Explores how costs depend on numbers of a specification."""

from accelforge.exploration.axes import Range

__all__ = ["Range"]
