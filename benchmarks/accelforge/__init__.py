# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks of veo."""
