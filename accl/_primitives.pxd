# SPDX-License-Identifier: BSD-3-Clause
"""Messages, copies and the combination of two vectors."""

from libc.stdint cimport uint32_t
from accl._collectives cimport Collectives
from accl._operand cimport Operand


cdef class Primitives(Collectives):
    cdef bint _typed(self, object buffer, bint stream, bint writes, Operand *operand, str what,
                     str name) except -1
    cdef object _copy(self, object srcbuf, object dstbuf, object count, bint from_fpga,
                      bint to_fpga, bint run_async, object waitfor, uint32_t flags, str name)
