# SPDX-License-Identifier: BSD-3-Clause
"""Extent of a run: everything with ``OFFCHIP_FULL=1``, as `make test-full` has it, else a share.

A test that the share leaves out has the marker ``full``; others take fewer cases of the same kind.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

import pytest

__all__ = ["FULL", "rest_if_full", "share"]

FULL = os.environ.get("OFFCHIP_FULL", "0") not in ("", "0")
T = TypeVar("T")


def share(usual: T, full: T) -> T:
    """Choose a number of cases."""
    return full if FULL else usual


def rest_if_full(values: Iterable[object], usual: int) -> list[object]:
    """List parameters of a test, of which all but the first have the marker."""
    return [
        value if number < usual else pytest.param(value, marks=pytest.mark.full)
        for number, value in enumerate(values)
    ]
