# SPDX-License-Identifier: BSD-3-Clause
"""Calls that run by themselves."""

from accl.libaccl cimport accl_call, accl_request
from offchip.request cimport Request
from accl._device cimport Device
from accl._native cimport Library


cdef class Pending:
    """A call that may still run: the device has it, also when nobody has the handle."""

    # Whose functions free it. Not the device, which is closed when nobody else has it.
    cdef Library lib
    cdef accl_request *c
    # What the call uses, until it has ended.
    cdef tuple keep

    # Whether the call has ended; never waits.
    cdef bint ended(self) noexcept


cdef class ACCLHandle(Request):
    cdef Device device
    cdef readonly str operation
    cdef Pending pending
    # What stands for a result without device memory, and how much of it is written.
    cdef object stage
    cdef Py_ssize_t elements

    # Waits, with looks at signals, and raises nothing of the call's.
    cdef int wait_for_end(self) except -1


cdef ACCLHandle start_call(Device device, accl_call *call, str name, tuple keep, object waitfor)
