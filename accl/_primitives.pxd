# SPDX-License-Identifier: BSD-3-Clause
"""Messages and local operations."""

from accl._calls cimport Calls


cdef class Primitives(Calls):
    pass
