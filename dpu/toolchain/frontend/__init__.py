# SPDX-License-Identifier: BSD-3-Clause
"""From a C file to an object that can be translated: what is done to the source and to LLVM IR."""
