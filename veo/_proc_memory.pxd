# SPDX-License-Identifier: BSD-3-Clause
"""Operations on the memory of a VE process: one half of VeoProc."""

from offchip.buffer cimport Buffer
from veo._process_handle cimport ProcessOwner, ProcHandle


cdef class ProcMemory(ProcessOwner):
    cdef ProcHandle get(self)
    cdef int _copy(self, Buffer buffer, object where, object size, bint reading,
                   object timeout) except -1
