# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzes what reads code, files and memory of DPUs; see ``tests/support/fuzzing.py``."""

from __future__ import annotations

from tests.support.fuzzing import make_test

# What each target is made of.
TARGETS = {
    "decode": "@dpu_isa",
    "log": "csrc/dpu/lib/log/log_decode.c",
    "checkpoint": "csrc/dpu/lib/state/checkpoint_format.c",
    "run": "@libdpu",
    "profile": "@libdpu",
    "observe": "csrc/dpu/lib/observe/options.c",
    "debug": "@libdpu",
}

test_a_reader_survives_damaged_input = make_test(__file__, TARGETS)
