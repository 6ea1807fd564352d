# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzes what reads ELF files; see ``tests/support/fuzzing.py``."""

from __future__ import annotations

from tests.support.fuzzing import make_test

# What each target is made of.
TARGETS = {
    "dwarf": "csrc/formats/dwarf*.c",
    "dpu_elf": "csrc/formats/dpu_elf*.c csrc/formats/lines.c",
}

test_a_reader_survives_damaged_input = make_test(__file__, TARGETS)
