# SPDX-License-Identifier: BSD-3-Clause
"""Commands that `pip` installs; those that are modules too (`python -m dpu.objdump`) are beside."""
