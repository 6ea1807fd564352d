# SPDX-License-Identifier: BSD-3-Clause
"""Compiles C files to objects that can be translated: rewrites of the source and of LLVM IR."""
