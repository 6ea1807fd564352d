# SPDX-License-Identifier: BSD-3-Clause
"""The printed output of DPUs."""

from dpu._handle cimport SetView

# The text of one DPU, with its header line.
cdef str read_log(SetView view)
