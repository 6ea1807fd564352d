# SPDX-License-Identifier: BSD-3-Clause
"""The C handle of a process.

A handle holds what it depends on, so a context is always destroyed before its process. Fields
change only with the GIL held; `users` counts the calls that have released it, and nothing that they
use is freed.
"""

from libc.stdint cimport uint64_t
from veo._main_wait cimport main_wait
from veo._native cimport Library
from veo.context_set cimport veopkg_context, veopkg_contexts
from veo.libveo cimport veo_proc_handle, veo_table, veo_thr_ctxt, veosoft_table


# The part of a context that its process uses: see CtxHandle.
cdef class ContextBase:
    cdef veopkg_context context

    # Settles all requests; 0 when done, 1 after a timeout.
    cdef int finish(self, long long ns) except -1
    # True if a request whose wait timed out is still not done.
    cdef bint has_given_up(self) noexcept
    # Queues the freeing of VE memory; whether the library could.
    cdef bint free_later(self, uint64_t address) noexcept
    # Describes the oldest request that is not done.
    cdef str oldest(self)
    # Settles pending requests as closed; what they kept lives until the process is gone.
    cdef void bury(self) noexcept


cdef class ProcHandle:
    cdef Library library
    cdef const veo_table *table
    cdef const veosoft_table *soft
    cdef veo_proc_handle *handle       # NULL when closed
    cdef veo_thr_ctxt *main            # NULL where the library does not say
    cdef veopkg_contexts open_contexts
    cdef bint unfinished               # requests were given up
    cdef bint runs_library             # the code of a library was not waited for
    cdef list grave                    # kept until the process is gone
    cdef object output                 # veo.output.Output if Python gets what it prints
    cdef unsigned int forks
    cdef int nodeid
    cdef int users
    cdef bint closing
    cdef bint leaving                  # waiters must return

    # Usable, or VeoClosedError. Between the two calls the handle stays valid without the GIL.
    cdef veo_proc_handle *enter(self) except NULL
    cdef void leave(self) noexcept
    cdef bint is_open(self) noexcept
    # Before a function that comes after what is queued in the main context. Waits for that if the
    # library would without a limit (NEC's), checking for signals. Inside enter/leave, as go_on().
    cdef main_wait begin(self, object timeout, str function) except *
    # The function was late: to be called again after this.
    cdef int go_on(self, main_wait *wait, str function) except -1
    cdef bint main_has_given_up(self) noexcept
    cdef int refuse(self) except -1
    # Settles requests for at most `ns` nanoseconds (negative: no limit), then ends the process.
    # The result of veo_proc_destroy(); 0 when it is closed already.
    cdef int close(self, long long ns) except? -1
    # Kills the worker, if the library can: its kernels may never return.
    cdef void give_up(self) noexcept
    # True if it still runs at the deadline.
    cdef bint still_loads(self, long long deadline) noexcept
    cdef list contexts(self)
    cdef int wait_for_users(self) except -1


# Starts a process; VeoError if it cannot be.
# OUTPUT: an Output, or None.
cdef ProcHandle open_process(Library library, int nodeid, bytes veorun, object output)
# True if an exception ends the program: then queued requests are not waited for.
cdef bint in_a_hurry() noexcept
# The deadline of that wait, in nanoseconds: finite, as the outcome will never be used.
cdef long long patience_ends(bint given_up) noexcept


# An object that has a process, for modules below VeoProc.
cdef class ProcessOwner:
    cdef ProcHandle handle
