# SPDX-License-Identifier: BSD-3-Clause
"""DWARF, versions 2 to 4: what the debugger reads, and the linker carries over."""
