# SPDX-License-Identifier: BSD-3-Clause
"""Fuzz targets of the readers of csrc/formats."""
