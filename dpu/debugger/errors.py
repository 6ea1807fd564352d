# SPDX-License-Identifier: BSD-3-Clause
"""Errors that the debuggers report."""

from __future__ import annotations

__all__ = ["DebuggerError"]


class DebuggerError(Exception):
    """A request that cannot be fulfilled; the message is for the user."""
