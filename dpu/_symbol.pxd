# SPDX-License-Identifier: BSD-3-Clause
"""Symbols of DPU programs."""

from dpu.libdpu cimport dpu_symbol_t


cdef class DpuSymbol:
    cdef public object name
    cdef dpu_symbol_t c
