# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks of what several systems share."""
