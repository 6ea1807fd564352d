# SPDX-License-Identifier: BSD-3-Clause
"""The assembler, the linker and the commands on them."""
