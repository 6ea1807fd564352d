# SPDX-License-Identifier: BSD-3-Clause
"""RV32 instructions to DPU instructions."""
