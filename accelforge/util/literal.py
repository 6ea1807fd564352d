# SPDX-License-Identifier: BSD-3-Clause
"""Text that is not evaluated."""

from __future__ import annotations

__all__ = ["LiteralString"]


class LiteralString(str):
    """Text that is not evaluated, as if it stood in quotes in a file."""

    __slots__ = ()
