# SPDX-License-Identifier: BSD-3-Clause
"""Copies between host buffers and symbols of DPUs."""

from dpu._handle cimport SetView
from dpu._symbol cimport DpuSymbol

# `dst` or `src` is a symbol (str or DpuSymbol), the other a buffer or a list of buffers.
cdef int copy_buffers(SetView view, object dst, object src, object size, object offset,
                      bint asynchronous) except -1
cdef int check_symbol(DpuSymbol symbol) except -1
