# SPDX-License-Identifier: BSD-3-Clause
"""Runs the C unit tests of this folder; see ``tests/support/c_units.py``."""

from __future__ import annotations

from tests.support.c_units import make_test

test_program = make_test(__file__)
