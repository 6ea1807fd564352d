# SPDX-License-Identifier: BSD-3-Clause
"""The collectives."""

from libc.stdint cimport uint32_t
from accl._calls cimport Caller


cdef class Collectives(Caller):
    cdef object _two(self, uint32_t operation, str name, object sbuf, object rbuf, object count,
                     object root, object func, object comm_id, bint from_fpga, bint to_fpga,
                     object compress_dtype, bint run_async, object waitfor, dict more)
