# SPDX-License-Identifier: BSD-3-Clause
"""The program of a set and its variables."""

from dpu._handle cimport SetView


cdef class ProgramSet(SetView):
    # The result of _program(), and the number of loads then.
    cdef object _found_program
    cdef unsigned long _found_at

    cdef object _chip(self)
    cdef object _program(self)
