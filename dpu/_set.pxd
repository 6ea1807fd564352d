# SPDX-License-Identifier: BSD-3-Clause
"""Sets of DPUs."""

from dpu._program_set cimport ProgramSet


cdef class DpuSet(ProgramSet):
    cdef dict __dict__
    cdef bint is_top
    cdef list _rank_list
    cdef list _dpu_list
    # A DPU has a weak reference to its rank.
    cdef object _rank_ref
