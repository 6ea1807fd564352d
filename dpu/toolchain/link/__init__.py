# SPDX-License-Identifier: BSD-3-Clause
"""Layout, boot code, run time, and the final DPU program."""
