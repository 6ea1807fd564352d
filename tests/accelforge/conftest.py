# SPDX-License-Identifier: BSD-3-Clause
"""Lets the tests import what they share."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
