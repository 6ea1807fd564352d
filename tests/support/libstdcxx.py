# SPDX-License-Identifier: BSD-3-Clause
"""Marker of tests that show names of C++ as sources have them."""

from __future__ import annotations

import ctypes

import pytest

__all__ = ["needs_libstdcxx"]


def _is_installed() -> bool:
    try:
        ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return False
    return True


needs_libstdcxx = pytest.mark.skipif(
    not _is_installed(), reason="there is no libstdc++ to read the names"
)
