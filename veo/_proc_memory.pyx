# SPDX-License-Identifier: BSD-3-Clause
"""Operations on the memory of a VE process: one half of VeoProc."""

from libc.stdint cimport uint64_t
from offchip.buffer cimport Buffer, get_buffer
from veo._context cimport destination
from veo._convert cimport to_address, to_bits, to_size
from veo._log cimport log_info, log_on
from veo._process_handle cimport ProcessOwner, ProcHandle
from veo.libveo cimport veo_proc_handle

from operator import index

from veo.errors import VeoClosedError, VeoError, VeoMemoryError
from veo.memptr import VEMemPtr

__all__ = ["ProcMemory"]


cdef int _fail_allocation(ProcHandle proc, veo_proc_handle *handle, str function,
                          uint64_t nbytes, int rc) except -1:
    # -1 means out of memory; veo_alloc_mem() returns -2 if the process is gone.
    if rc == -1:
        return proc.library.fail(
            f"Out of memory on VE: {nbytes} bytes requested", function, handle, rc,
            VeoMemoryError,
        )
    return proc.library.fail(f"{function} failed", function, handle, rc)


cdef class ProcMemory(ProcessOwner):
    """The memory of a `VeoProc`."""

    cdef ProcHandle get(self):
        if self.handle is None:
            raise VeoClosedError("the VeoProc was not initialised")
        return self.handle

    def alloc_mem(self, size):
        """Allocate VE memory.

        Parameters
        ----------
        size : int
            Number of bytes.

        Returns
        -------
        VEMemPtr

        Raises
        ------
        VeoMemoryError
            Out of memory. It is a MemoryError and a RuntimeError.
        """
        cdef ProcHandle proc = self.get()
        cdef uint64_t nbytes
        cdef uint64_t address = 0
        cdef veo_proc_handle *handle
        cdef int rc
        to_bits(c"L", size, &nbytes)
        handle = proc.enter()
        try:
            proc.settle_main()
            with nogil:
                rc = proc.table.veo_alloc_mem(handle, &address, <size_t>nbytes)
            if rc != 0:
                _fail_allocation(proc, handle, "veo_alloc_mem", nbytes, rc)
        finally:
            proc.leave()
        if log_on():
            log_info(f"alloc_mem addr={address:#x} size={nbytes}")
        return VEMemPtr(self, address, nbytes)

    def free_mem(self, addr):
        """Free VE memory.

        Parameters
        ----------
        addr : VEMemPtr or int
            From `alloc_mem()`.

        Raises
        ------
        ValueError
            The pointer belongs to another process.
        VeoError
            It could not be freed. It is a RuntimeError.
        """
        cdef ProcHandle proc = self.get()
        cdef uint64_t address
        cdef veo_proc_handle *handle
        cdef int rc
        to_address(addr, self, &address)
        handle = proc.enter()
        try:
            proc.settle_main()
            with nogil:
                rc = proc.table.veo_free_mem(handle, address)
            if rc != 0:
                proc.library.fail(
                    f"veo_free_mem of {address:#x} failed", "veo_free_mem", handle, rc
                )
        finally:
            proc.leave()
        if log_on():
            log_info(f"free_mem addr={address:#x}")

    def read_mem(self, dst, src, size):
        """Copy VE memory into a Python object, after the requests queued in the main context.

        Parameters
        ----------
        dst : object with the buffer protocol
            Contiguous memory that receives the bytes. Read-only memory is written too, with a
            DeprecationWarning.
        src : VEMemPtr or int
            VE address.
        size : int
            Number of bytes; `dst` may be larger.

        Raises
        ------
        TypeError, ValueError
            `dst` has no buffer, is not contiguous, or is smaller than `size`.
        VeoError
            The transfer failed. It is a RuntimeError.
        """
        to_size(size, "size")
        self._copy(destination(dst), src, size, True)

    def write_mem(self, dst, src, size):
        """Copy a Python object's memory to the VE, after the requests queued in the main context.

        Parameters
        ----------
        dst : VEMemPtr or int
            VE address.
        src : object with the buffer protocol
            Contiguous memory with the bytes.
        size : int
            Number of bytes; `src` may be larger.

        Raises
        ------
        TypeError, ValueError
            `src` has no buffer, is not contiguous, or is smaller than `size`.
        VeoError
            The transfer failed. It is a RuntimeError.
        """
        to_size(size, "size")
        self._copy(get_buffer(src, False), dst, size, False)

    cdef int _copy(self, Buffer buffer, object where, object size, bint reading) except -1:
        cdef ProcHandle proc = self.get()
        cdef Py_ssize_t nbytes = to_size(size, "size")
        cdef uint64_t address
        cdef veo_proc_handle *handle
        cdef int rc
        if buffer.nbytes < nbytes:
            raise ValueError(
                f"the {'destination' if reading else 'source'} buffer is smaller than required "
                f"size ({buffer.nbytes} < {nbytes})"
            )
        to_address(where, self, &address)
        handle = proc.enter()
        try:
            if (proc.soft.veosoft_transfers_are_ordered is NULL
                    or proc.soft.veosoft_transfers_are_ordered(handle)):
                proc.settle_main()
            with nogil:
                if reading:
                    rc = proc.table.veo_read_mem(handle, buffer.ptr, address, <size_t>nbytes)
                else:
                    rc = proc.table.veo_write_mem(handle, address, buffer.ptr, <size_t>nbytes)
            if rc != 0:
                name = "veo_read_mem" if reading else "veo_write_mem"
                proc.library.fail(
                    f"{name} of {nbytes} bytes at {address:#x} failed", name, handle, rc
                )
        finally:
            proc.leave()
        if log_on():
            log_info(f"{'read_mem' if reading else 'write_mem'} nodeid={proc.nodeid} size={nbytes}")
        return 0

    def i64_to_addr(self, x):
        """Return the address in a 64-bit result, as an unsigned integer."""
        cdef uint64_t bits
        to_bits(c"l" if x < 0 else c"L", x, &bits)
        return bits

    def i64_to_memptr(self, x):
        """Return the address in a 64-bit result, as a `VEMemPtr`."""
        return VEMemPtr(self, self.i64_to_addr(x))

    # --- tagged addresses --------------------------------------------------------------------

    def alloc_hmem(self, size):
        """Allocate VE memory with a tagged address; see `VEO_HMEM`.

        Returns
        -------
        VEMemPtr

        Raises
        ------
        VeoMemoryError
            Out of memory, or the number of the process is above 15.
        """
        cdef ProcHandle proc = self.get()
        cdef uint64_t nbytes
        cdef void *address = NULL
        cdef veo_proc_handle *handle
        cdef int rc
        to_bits(c"L", size, &nbytes)
        handle = proc.enter()
        try:
            proc.library.need(<const void *>proc.table.veo_alloc_hmem, "veo_alloc_hmem")
            proc.settle_main()
            with nogil:
                rc = proc.table.veo_alloc_hmem(handle, &address, <size_t>nbytes)
            if rc != 0:
                _fail_allocation(proc, handle, "veo_alloc_hmem", nbytes, rc)
        finally:
            proc.leave()
        return VEMemPtr(self, <uint64_t>address, nbytes)

    def free_hmem(self, addr):
        """Free memory from `alloc_hmem()`.

        Raises
        ------
        VeoError
            It is not such an address. It is a RuntimeError.
        """
        cdef ProcHandle proc = self.get()
        cdef uint64_t address
        cdef veo_proc_handle *handle
        cdef int rc
        to_address(addr, self, &address)
        handle = proc.enter()
        try:
            proc.library.need(<const void *>proc.table.veo_free_hmem, "veo_free_hmem")
            if not address >> 63:
                # libveo would treat it as memory from this process's malloc().
                raise VeoError(f"{address:#x} is not a tagged VE address", function="veo_free_hmem")
            proc.settle_main()
            with nogil:
                rc = proc.table.veo_free_hmem(<void *>address)
            if rc != 0:
                proc.library.fail(
                    f"veo_free_hmem of {address:#x} failed", "veo_free_hmem", handle, rc
                )
        finally:
            proc.leave()

    def set_proc_identifier(self, addr, ident):
        """Return an address with the tag of process number `ident`.

        Raises
        ------
        VeoError
            `ident` is not in 0..15. It is a RuntimeError.
        """
        cdef ProcHandle proc = self.get()
        cdef uint64_t address
        cdef int number = index(ident)
        cdef void *tagged
        to_address(addr, None, &address)
        proc.library.need(
            <const void *>proc.table.veo_set_proc_identifier, "veo_set_proc_identifier"
        )
        tagged = proc.table.veo_set_proc_identifier(<void *>address, number)
        if tagged is NULL:
            proc.library.fail(
                f"veo_set_proc_identifier({address:#x}, {number}) failed",
                "veo_set_proc_identifier",
            )
        return <uint64_t>tagged
