# SPDX-License-Identifier: BSD-3-Clause
"""Configuration, registers, memory, and calls by their bare numbers."""

from libc.stdint cimport uint32_t
from accl._device cimport Device
from accl._primitives cimport Primitives
from accl.libaccl cimport accl_rank


cdef class Control(Primitives):
    cdef Device _enter(self, str name)
    cdef int _leave(self, int status, str name) except -1
    # The first N ranks of a communicator, to be freed by free(); not NULL if there are none.
    cdef accl_rank *get_ranks(self, uint32_t id, uint32_t n) except NULL
