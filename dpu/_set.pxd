# SPDX-License-Identifier: BSD-3-Clause
"""Sets of DPUs."""

from dpu._handle cimport SetView


cdef class DpuSet(SetView):
    cdef dict __dict__
    cdef bint is_top
    cdef list _rank_list
    cdef list _dpu_list
    # A DPU knows its rank without keeping it.
    cdef object _rank_ref
    cdef object _found_program
    cdef unsigned long _found_at

    cdef object _program(self)
