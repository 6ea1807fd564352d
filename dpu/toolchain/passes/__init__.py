# SPDX-License-Identifier: BSD-3-Clause
"""Passes over translated code: expansion of products, and optimisation."""
