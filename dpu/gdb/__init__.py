# SPDX-License-Identifier: BSD-3-Clause
"""A gdb server for DPU programs: ``python -m dpu.gdb PROGRAM``, or ``-- ./host``."""
