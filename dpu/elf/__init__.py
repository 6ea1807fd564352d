# SPDX-License-Identifier: BSD-3-Clause
"""ELF32 files: programs of the DPU, and what the linker of the C toolchain writes."""
