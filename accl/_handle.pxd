# SPDX-License-Identifier: BSD-3-Clause
"""Asynchronous calls."""

from libc.stdint cimport uint32_t
from accl.libaccl cimport accl_call
from offchip.request cimport Request
from accl._device cimport Device
from accl._pending cimport Pending


cdef class ACCLHandle(Request):
    cdef Device device
    cdef readonly str operation
    cdef Pending pending
    # The block of a result without device memory, and how much of it is written.
    cdef object stage
    cdef Py_ssize_t elements

    # Waits, checking for signals; does not raise the error of the call.
    cdef int wait_for_end(self) except -1


# Executes a call; returns its error bits, 0 if `raises`, which raises them.
cdef uint32_t run_call(Device device, accl_call *call, str name, bint raises,
                       tuple keep) except? 0xffffffff
# Queues a call that uses the objects in `keep` and begins after the handles in `waitfor`.
cdef ACCLHandle start_call(Device device, accl_call *call, str name, tuple keep, object waitfor)
