# SPDX-License-Identifier: BSD-3-Clause
"""Plots of results and specifications; they need matplotlib, the extra ``plot``."""

from accelforge.plotting import mappings, roofline, skislope, specs

__all__ = ["mappings", "roofline", "skislope", "specs"]
