# SPDX-License-Identifier: BSD-3-Clause
"""The collectives."""

from accl._calls cimport Calls


cdef class Collectives(Calls):
    pass
