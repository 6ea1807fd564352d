# SPDX-License-Identifier: BSD-3-Clause
"""Commands that `pip` installs; modules that are commands (`python -m dpu.objdump`) are in dpu."""
