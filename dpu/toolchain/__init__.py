# SPDX-License-Identifier: BSD-3-Clause
"""C for the DPU without the vendor's compiler.

A stock clang compiles C for 32-bit RISC-V with few registers, lld links it at the DPU's addresses,
and `translate` turns what it linked into instructions of the DPU, one for one as far as it goes.
What comes out is a DPU program like the vendor's compiler makes, with the same sections and symbols
and the same boot.
"""

from .compilers import Toolchain, find_toolchain
from .driver import build, build_cached
from .errors import ToolchainError
from .options import BuildOptions

__all__ = ["BuildOptions", "Toolchain", "ToolchainError", "build", "build_cached", "find_toolchain"]
