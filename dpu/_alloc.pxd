# SPDX-License-Identifier: BSD-3-Clause
"""Allocating and freeing."""

from dpu._handle cimport SetHandle
from dpu._native cimport Library

# DPUs for `nr_dpus`, or ranks for `nr_ranks`; the other is None.
cdef SetHandle allocate(Library library, object nr_dpus, object nr_ranks, bytes profile)
cdef int release(SetHandle handle) except -1
