# SPDX-License-Identifier: BSD-3-Clause
"""Groups of pmappings as tables for the join, and what the join returns."""

from __future__ import annotations

from accelforge._joining.result import Join
from accelforge._joining.tables import GroupError, Tables, flatten

__all__ = ["GroupError", "Join", "Tables", "flatten"]
