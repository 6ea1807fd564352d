# SPDX-License-Identifier: BSD-3-Clause
"""Fuzz targets of what reads bytes of other ranks."""
