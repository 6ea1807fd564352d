# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzes the linker of VE code; see ``tests/support/fuzzing.py``."""

from __future__ import annotations

from tests.support.fuzzing import make_test

test_the_linker_survives_damaged_files = make_test(__file__)
