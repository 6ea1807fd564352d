# SPDX-License-Identifier: BSD-3-Clause
"""The engine, called from Python, and the original beside it."""
