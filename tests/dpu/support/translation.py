# SPDX-License-Identifier: BSD-3-Clause
"""For tests of translated programs: whether there is a compiler, as the library looks for one."""

from __future__ import annotations

import shutil

import pytest

__all__ = ["HAS_COMPILER", "needs_compiler"]

HAS_COMPILER = any(map(shutil.which, ("gcc", "clang", "cc")))
needs_compiler = pytest.mark.skipif(not HAS_COMPILER, reason="needs a C compiler")
