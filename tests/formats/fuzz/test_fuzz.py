# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzes what reads ELF files; see ``tests/support/fuzzing.py``."""

from __future__ import annotations

from tests.support.fuzzing import make_test

test_a_reader_survives_damaged_input = make_test(__file__)
