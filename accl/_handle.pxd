# SPDX-License-Identifier: BSD-3-Clause
"""Calls that run by themselves."""

from accl.libaccl cimport accl_call, accl_request
from offchip.request cimport Request
from accl._device cimport Device


cdef class ACCLHandle(Request):
    cdef Device device
    cdef accl_request *c
    cdef readonly str operation
    # What the call uses, until it has ended.
    cdef tuple keep
    # What stands for a result without device memory, and how much of it is written.
    cdef object stage
    cdef Py_ssize_t elements

    # Whether the call has ended; never waits.
    cdef bint ended(self) noexcept
    # Waits, with looks at signals, and raises nothing of the call's.
    cdef int wait_for_end(self) except -1


cdef ACCLHandle start_call(Device device, accl_call *call, str name, tuple keep, object waitfor)
