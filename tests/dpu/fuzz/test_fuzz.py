# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzes what reads code, files and memory of DPUs; see ``tests/support/fuzzing.py``."""

from __future__ import annotations

from tests.support.fuzzing import make_test

MACHINE = "csrc/dpu/machine/*.c csrc/dpu/isa/*.c csrc/formats/dpu_elf*.c csrc/formats/lines.c"
LIBRARY = f"csrc/dpu/lib/*/*.c {MACHINE} csrc/common/c*.c"
# What each target is made of.
TARGETS = {
    "decode": "csrc/dpu/isa/forms.c csrc/dpu/isa/decode.c csrc/dpu/isa/encode.c "
    "csrc/dpu/isa/disassemble.c",
    "log": "csrc/dpu/lib/log/log_decode.c",
    "checkpoint": "csrc/dpu/lib/state/checkpoint_format.c",
    "run": LIBRARY,
    "profile": LIBRARY,
}

test_a_reader_survives_damaged_input = make_test(__file__, TARGETS)
