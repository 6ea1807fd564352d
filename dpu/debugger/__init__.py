# SPDX-License-Identifier: BSD-3-Clause
"""The core of the debuggers: programs as their sources have them, over a DPU that stands still."""
