# SPDX-License-Identifier: BSD-3-Clause
"""A debugger for DPU programs with the commands of lldb: ``dpu-lldb``, ``python -m dpu.lldb``."""
