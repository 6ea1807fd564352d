# SPDX-License-Identifier: BSD-3-Clause
"""ELF32 files: programs of the DPU, and the output of the C toolchain's linker."""
