# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzes what reads the tables of a problem; see ``tests/support/fuzzing.py``."""

from __future__ import annotations

from tests.support.fuzzing import make_test

test_a_reader_survives_damaged_input = make_test(__file__)
