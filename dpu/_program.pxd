# SPDX-License-Identifier: BSD-3-Clause
"""A program that was loaded."""

from dpu.libdpu cimport dpu_program_t, dpu_table


cdef class DpuProgram:
    cdef dict _symbols
    cdef readonly object path
    cdef size_t _address


# Copies what the package needs: the C structure lives only as long as a DPU has the program.
cdef DpuProgram new_program(const dpu_table *table, dpu_program_t *c, object path)
