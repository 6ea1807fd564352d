# SPDX-License-Identifier: BSD-3-Clause
"""A block of device memory, with the host's view of it as a buffer."""

cimport cython
from cpython.buffer cimport PyBuffer_FillInfo
from accl.libaccl cimport ACCL_OK

from accl.errors import ACCLClosedError

__all__ = ["Block"]

# Shorter copies finish before another thread could take the GIL.
cdef enum:
    LONG_COPY = 16384


@cython.final
@cython.no_gc_clear
cdef class Block:
    """Memory of a device, page-aligned. Objects come from `accl.allocate()`.

    Attributes
    ----------
    address : int
        Its device address.
    nbytes : int
        Its size.
    freed : bool
        Whether it was freed; the memory is released with the last array that uses it.
    shared : bool
        Whether the host's view and the device's memory are the same pages.
    """

    def __init__(self):
        raise TypeError("a Block comes from accl.allocate()")

    def __reduce_ex__(self, protocol):
        raise TypeError("a Block cannot be pickled: it is memory of a device")

    def __dealloc__(self):
        if self.c is not NULL:
            self.library.table.accl_buffer_free(self.c)

    def __getbuffer__(self, Py_buffer *view, int flags):
        PyBuffer_FillInfo(view, self, self.host, self.nbytes, False, flags)

    cdef int sync(self, Py_ssize_t offset, Py_ssize_t nbytes, bint to_device) except -1:
        cdef int status
        if self.freed:
            raise ACCLClosedError("the buffer was freed")
        if self.shared or nbytes == 0:
            return 0
        if nbytes < LONG_COPY:
            if to_device:
                status = self.library.table.accl_buffer_sync_to_device(self.c, offset, nbytes)
            else:
                status = self.library.table.accl_buffer_sync_from_device(self.c, offset, nbytes)
        else:
            with nogil:
                if to_device:
                    status = self.library.table.accl_buffer_sync_to_device(self.c, offset, nbytes)
                else:
                    status = self.library.table.accl_buffer_sync_from_device(
                        self.c, offset, nbytes
                    )

        if status != ACCL_OK:
            self.library.fail(
                status, "sync_to_device" if to_device else "sync_from_device"
            )

        return 0

    def copy(self, Py_ssize_t offset, Py_ssize_t nbytes, bint to_device):
        """Copy a range from the host's pages to the device's, or back."""
        if offset < 0 or nbytes < 0 or nbytes > self.nbytes - offset:
            raise ValueError(
                f"bytes {offset} to {offset + nbytes} of a block of {self.nbytes}"
            )
        self.sync(offset, nbytes, to_device)

    def free(self):
        """Free it: calls then reject it."""
        self.freed = True
