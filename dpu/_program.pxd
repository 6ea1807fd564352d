# SPDX-License-Identifier: BSD-3-Clause
"""Loaded programs."""

from dpu.libdpu cimport dpu_program_t, dpu_table


cdef class DpuProgram:
    cdef dict _symbols
    cdef readonly object path
    cdef size_t _address
    # bytes, or a `dpu.images.ProgramImage`
    cdef object _origin
    # a `dpu.dtypes.ProgramTypes`, once someone asked
    cdef public object _types


# Copies the symbols: the C structure is freed when no DPU has the program any more.
cdef DpuProgram new_program(const dpu_table *table, dpu_program_t *c, object path,
                            object origin)
