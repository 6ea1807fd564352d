# SPDX-License-Identifier: BSD-3-Clause
"""Python functions in the queue of a set, called by the library."""

from dpu._handle cimport SetView

# `ranks` are the views to pass, one per rank; for a single call or a DPU the one view.
cdef int call_back(SetView view, list views, object fn, object arg, bint asynchronous,
                   bint is_blocking, bint single_call) except -1
# Raises the exceptions of asynchronous callbacks of the view's ranks.
cdef int raise_collected(list errors) except -1
