# SPDX-License-Identifier: BSD-3-Clause
"""Behaviour of the debuggers."""
