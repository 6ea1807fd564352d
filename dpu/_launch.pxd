# SPDX-License-Identifier: BSD-3-Clause
"""Launches, and waiting for them."""

from dpu._handle cimport SetView
from dpu.libdpu cimport dpusoft_report

cdef int launch(SetView view, bint asynchronous, object timeout=*) except -1
cdef int synchronise(SetView view, object timeout=*) except -1
cdef int interrupt(SetView view) except -1
# A list with a DpuReport per DPU of the view.
cdef object get_reports(SetView view)
# The same numbers as a DpuReport.
cdef object report_of(const dpusoft_report *report)
