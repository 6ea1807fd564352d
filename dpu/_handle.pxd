# SPDX-License-Identifier: BSD-3-Clause
"""An allocated set of the C library, and views of it: the whole, a rank, a DPU."""

from libc.stdint cimport uint32_t
from dpu._native cimport Library
from dpu.libdpu cimport dpu_error_t, dpu_set_t, dpu_table, dpusoft_table


cdef class SetHandle:
    cdef object __weakref__
    cdef Library library
    cdef const dpu_table *table
    cdef const dpusoft_table *soft
    # The set is allocated; `closing` while a thread waits to free it.
    cdef bint live
    cdef bint closing
    # Calls in progress inside the library, of all threads.
    cdef int users
    cdef unsigned int forks
    cdef dpu_set_t whole
    # Ranks, DPUs, and the first DPU of each rank (and one more entry, the end).
    cdef uint32_t nr_ranks
    cdef uint32_t nr_dpus
    cdef dpu_set_t *rank_sets
    cdef dpu_set_t *dpu_sets
    cdef uint32_t *first_dpu
    # For each DPU the DpuProgram loaded into it, or None; `loads` counts changes.
    cdef list programs
    cdef unsigned long loads
    # Arguments of asynchronous operations, until these are known to have finished. The list is
    # hidden from the garbage collector, which would empty it when the set is dropped.
    cdef list kept
    cdef unsigned long sequence
    # Exceptions of asynchronous callbacks: [mask of ranks, exception].
    cdef list raised
    # Threads of the library that are in a callback of this set: how deeply.
    cdef dict callback_threads
    # Keeps pairs of dpu_prepare_xfer() and dpu_push_xfer() together.
    cdef object transfer_lock
    # Defaults shared by all views.
    cdef object log
    cdef bint async_mode
    # Limit of waits, in seconds, or None; and whether a long one was told.
    cdef object wait_limit
    cdef bint told

    # Before every use of the C set: rejects sets that were freed, or inherited by a fork.
    cdef int enter(self, str function) except -1
    cdef bint in_callback(self) except -1
    cdef int keep_only(self, list entries) except -1
    # Drops the entry of `kept` for this object.
    cdef int forget(self, object what) except -1
    # Interrupts, waits and frees, without exceptions; the GIL is released. In a callback another
    # thread does it.
    cdef void end(self) noexcept
    cdef int orphan(self) except -1


# Around a callback, including the objects dropped at its end.
cdef int begin_callback() except -1
cdef int end_callback() except -1


# A range of ranks and DPUs of a handle; users see it as a DpuSet.
cdef class SetView:
    cdef object __weakref__
    cdef SetHandle handle
    cdef dpu_set_t c
    cdef uint32_t rank0
    cdef uint32_t rank1
    cdef uint32_t dpu0
    cdef uint32_t dpu1

    # Around uses of the C set.
    cdef int enter(self, str function) except -1
    cdef void leave(self) noexcept
    cdef object mask(self)
    # DpuError if `code` is one.
    cdef int check(self, dpu_error_t code, str function) except -1
    # Waits until the set is idle, checking for signals: for `timeout` seconds, or as long as
    # `wait_limit` says, and then DpuTimeoutError. Only the soft twin can; otherwise, and in a
    # callback, it returns immediately.
    cdef int wait_idle(self, str function, object timeout=*) except -1
    # The same, until asynchronous operations of the set have room in the queues. Returns what is
    # left of `timeout`.
    cdef object wait_room(self, str function, object timeout=*)
    # Operation at the head of its queues, as a sentence; "" if nothing or not known.
    cdef str waits_for(self)
    # The same for at most `ns`; 1 if idle. A library that cannot wait is polled.
    cdef int wait_for(self, long long ns) except -1
    # Keeps `what` for the operation submitted next; its result is the argument of submitted().
    cdef list keep(self, object what)
    cdef void submitted(self, list entry) noexcept
    # Operations submitted before `mark` (a former value of handle.sequence) have finished.
    cdef int settle(self, unsigned long mark) except -1
    cdef list take_raised(self)
