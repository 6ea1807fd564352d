# SPDX-License-Identifier: BSD-3-Clause
"""Traces of what a mapping does, step by step."""
