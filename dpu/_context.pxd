# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots of a DPU."""

from dpu._handle cimport SetView
from dpu._native cimport Library
from dpu.libdpu cimport dpu_context_t


cdef class DpuContext:
    cdef dpu_context_t c
    cdef Library library
    # The C structure is filled in, and must be freed.
    cdef bint filled


cdef DpuContext save_context(SetView view, int flags)
cdef int restore_context(SetView view, DpuContext context, int flags) except -1
