# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks: one script per question, see README.md."""
