# SPDX-License-Identifier: BSD-3-Clause
"""The C handle of a process.

A handle holds what it depends on, so a context always goes before its process. All fields are
changed with the GIL held only; `users` counts the calls that have let go of it meanwhile, and
nothing is freed under them.
"""

from cpython.object cimport PyObject
from veo._native cimport Library
from veo.libveo cimport veo_proc_handle, veo_table, veo_thr_ctxt, veosoft_table


# What a context is to its process: see CtxHandle.
cdef class ContextBase:
    cdef PyObject *prev_ctx
    cdef PyObject *next_ctx

    # Settles all requests; 0 when done, 1 at the limit.
    cdef int finish(self, long long ns) except -1
    # Whether something is not done for which somebody waited in vain.
    cdef bint has_given_up(self) noexcept
    # Settles what is pending as closed; what it kept lives until the process is gone.
    cdef void bury(self) noexcept


cdef enum:
    # For kernels that somebody gave up.
    GIVEN_UP_NS = 1_500_000_000


cdef class ProcHandle:
    cdef Library library
    cdef const veo_table *table
    cdef const veosoft_table *soft
    cdef veo_proc_handle *handle       # NULL when closed
    cdef veo_thr_ctxt *main            # NULL where the library does not say
    cdef PyObject *main_opened         # the ContextBase of the main context, borrowed, or NULL
    cdef PyObject *first               # list of ContextBases, borrowed
    cdef bint unfinished               # requests were given up
    cdef list grave                    # kept until the process is gone
    cdef unsigned int forks
    cdef int nodeid
    cdef int users
    cdef bint closing
    cdef bint leaving                  # waiters are to come back
    cdef bint opened                   # a context was opened, the main one being the first

    # Usable, or VeoClosedError. Between the two calls the handle stays valid without the GIL.
    cdef veo_proc_handle *enter(self) except NULL
    cdef void leave(self) noexcept
    cdef bint is_open(self) noexcept
    # Waits, with an eye on signals, until the main context's queue is empty. Inside enter/leave.
    cdef int settle_main(self) except -1
    cdef int refuse(self) except -1
    # Settles requests for at most `ns` nanoseconds (negative: no limit), then ends the process.
    # The result of veo_proc_destroy(); 0 when it is closed already.
    cdef int close(self, long long ns) except? -1
    # Ends the worker, where the library says which process it is: its kernels may never end.
    cdef void give_up(self) noexcept
    cdef list contexts(self)
    cdef int wait_for_users(self) except -1


# Starts a process; VeoError if it cannot be.
cdef ProcHandle open_process(Library library, int nodeid, bytes veorun)
# Whether the program ends by an exception: then nobody waits for what is still queued.
cdef bint in_a_hurry() noexcept
# Until when that is waited for, in nanoseconds: not for ever, where nobody will learn the outcome.
cdef long long patience_ends(bint given_up) noexcept


# What a Python object that has a process is, to those who are defined before VeoProc.
cdef class ProcessOwner:
    cdef ProcHandle handle
