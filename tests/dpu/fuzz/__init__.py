# SPDX-License-Identifier: BSD-3-Clause
"""Fuzz targets of libdpu and the machine, and damaged assembler texts."""
