# SPDX-License-Identifier: BSD-3-Clause
"""Configuration, registers, memory, and calls by their bare numbers."""

from accl._device cimport Device
from accl._primitives cimport Primitives


cdef class Control(Primitives):
    cdef Device _enter(self, str name)
    cdef int _leave(self, int status, str name) except -1
