# SPDX-License-Identifier: BSD-3-Clause
"""An open device of a library."""

from libc.stdint cimport uint32_t, uint64_t
from accl._native cimport Library
from accl.libaccl cimport accl_call, accl_device, accl_table


cdef class Device:
    cdef object __weakref__
    cdef Library lib
    cdef const accl_table *table
    cdef accl_device *c
    # Identifies the device to its blocks.
    cdef object token
    # As one of communicator 0; -1 before there is one.
    cdef int rank
    cdef readonly bint unified
    cdef readonly bint closed
    # Number of threads inside the library with it.
    cdef unsigned int users
    # It is being closed, by the last one to leave if `deferred`.
    cdef bint closing
    cdef bint deferred
    # The thread that checks for signals, and the exception that they raised.
    cdef unsigned long checking
    cdef object interruption
    # The thread whose call it is of.
    cdef unsigned long interrupted
    # Calls that may still run, in order: objects of Pending.
    cdef object outstanding
    # Operands of interrupted calls, until it is closed.
    cdef object abandoned
    # Blocks for arrays without device memory.
    cdef object staging
    # Carries messages to other hosts; `homebound`: only calls of the thread `home` do.
    cdef object carrier
    cdef bint homebound
    cdef unsigned long home
    cdef object hook

    cdef int enter(self, str function) except -1
    cdef void leave(self) noexcept
    # Executes a call; returns its error bits, 0 if `raises`, which raises them. An interrupted
    # call may continue with what is in `keep`.
    cdef uint32_t run(self, accl_call *call, str name, bint raises,
                      tuple keep) except? 0xffffffff
    cdef int raise_interruption(self) except -1
    cdef int fail(self, int status, str function) except -1
