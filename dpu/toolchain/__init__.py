# SPDX-License-Identifier: BSD-3-Clause
"""C for the DPU without the vendor's compiler.

A stock clang compiles C for 32-bit RISC-V with few registers, lld links it at the DPU's addresses,
and `translate` translates the result to DPU instructions, one to one where possible. The output is
a DPU program like that of the vendor's compiler, with the same sections, symbols and boot code.
"""

from .compilers import Toolchain, find_toolchain
from .driver import build, build_cached
from .errors import ToolchainError
from .options import BuildOptions

__all__ = ["BuildOptions", "Toolchain", "ToolchainError", "build", "build_cached", "find_toolchain"]
