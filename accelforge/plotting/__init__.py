# SPDX-License-Identifier: BSD-3-Clause
"""Plots of results and specifications; they need matplotlib, the extra ``plot``."""

from accelforge.plotting import explorations, mappings, roofline, skislope, specs

__all__ = ["explorations", "mappings", "roofline", "skislope", "specs"]
