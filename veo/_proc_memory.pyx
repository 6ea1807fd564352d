# SPDX-License-Identifier: BSD-3-Clause
"""Operations on the memory of a VE process: one half of VeoProc."""

from libc.stdint cimport uint64_t
from offchip.buffer cimport Buffer, get_buffer
from veo._context cimport destination
from veo._convert cimport to_address, to_bits, to_size
from veo._log cimport log_info, log_on
from veo._main_wait cimport limit_wait, main_wait, was_late
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

    def alloc_mem(self, size, *, timeout=None):
        """Allocate VE memory.

        Parameters
        ----------
        size : int
            Number of bytes.
        timeout : float, optional
            NEC's library, not the soft twin, executes what is queued in the main context before.
            Timeout in seconds for that, as for `read_mem()`.

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
            proc.begin(timeout, "veo_alloc_mem")
            with nogil:
                rc = proc.table.veo_alloc_mem(handle, &address, <size_t>nbytes)
            if rc != 0:
                _fail_allocation(proc, handle, "veo_alloc_mem", nbytes, rc)
        finally:
            proc.leave()
        if log_on():
            log_info(f"alloc_mem addr={address:#x} size={nbytes}")
        return VEMemPtr(self, address, nbytes)

    def free_mem(self, addr, *, timeout=None):
        """Free VE memory, after the requests queued in the main context.

        Parameters
        ----------
        addr : VEMemPtr or int
            From `alloc_mem()`.
        timeout : float, optional
            As for `read_mem()`.

        Raises
        ------
        ValueError
            The pointer belongs to another process.
        VeoError
            It could not be freed. It is a RuntimeError.
        VeoTimeoutError
            The wait timed out; it says for which request. It is a TimeoutError.
        """
        cdef ProcHandle proc = self.get()
        cdef uint64_t address
        cdef veo_proc_handle *handle
        cdef main_wait wait
        cdef bint late
        cdef int rc
        to_address(addr, self, &address)
        handle = proc.enter()
        try:
            wait = proc.begin(timeout, "veo_free_mem")
            while True:
                with nogil:
                    limit_wait(proc.soft, &wait)
                    rc = proc.table.veo_free_mem(handle, address)
                    late = was_late(proc.soft, &wait, rc != 0)
                if not late:
                    break
                proc.go_on(&wait, "veo_free_mem")
            if rc != 0:
                proc.library.fail(
                    f"veo_free_mem of {address:#x} failed", "veo_free_mem", handle, rc
                )
        finally:
            proc.leave()
        if log_on():
            log_info(f"free_mem addr={address:#x}")

    def read_mem(self, dst, src, size, *, timeout=None):
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
        timeout : float, optional
            Timeout in seconds for what is queued in the main context before. None waits without
            limit, or 1.5 s once a wait for a request there has timed out; `math.inf` in any case.

        Raises
        ------
        TypeError, ValueError
            `dst` has no buffer, is not contiguous, or is smaller than `size`.
        VeoError
            The transfer failed. It is a RuntimeError.
        VeoTimeoutError
            The wait timed out; it says for which request. It is a TimeoutError.
        """
        to_size(size, "size")
        self._copy(destination(dst), src, size, True, timeout)

    def write_mem(self, dst, src, size, *, timeout=None):
        """Copy a Python object's memory to the VE, after the requests queued in the main context.

        Parameters
        ----------
        dst : VEMemPtr or int
            VE address.
        src : object with the buffer protocol
            Contiguous memory with the bytes.
        size : int
            Number of bytes; `src` may be larger.
        timeout : float, optional
            As for `read_mem()`.

        Raises
        ------
        TypeError, ValueError
            `src` has no buffer, is not contiguous, or is smaller than `size`.
        VeoError
            The transfer failed. It is a RuntimeError.
        VeoTimeoutError
            The wait timed out; it says for which request. It is a TimeoutError.
        """
        to_size(size, "size")
        self._copy(get_buffer(src, False), dst, size, False, timeout)

    def _write_new(self, dst, src, size):
        """Write to memory that no queued request uses, without waiting for those."""
        cdef ProcHandle proc = self.get()
        cdef Buffer buffer = get_buffer(src, False)
        cdef uint64_t address
        cdef Py_ssize_t nbytes = to_size(size, "size")
        cdef veo_proc_handle *handle
        cdef int rc
        if proc.soft.veosoft_write_at_once is NULL:
            self._copy(buffer, dst, size, False, None)
            return
        to_address(dst, self, &address)
        handle = proc.enter()
        try:
            with nogil:
                rc = proc.soft.veosoft_write_at_once(handle, address, buffer.ptr, <size_t>nbytes)
            if rc != 0:
                proc.library.fail(
                    f"a write of {nbytes} bytes at {address:#x} failed", "veo_write_mem", handle, rc
                )
        finally:
            proc.leave()

    cdef int _copy(self, Buffer buffer, object where, object size, bint reading,
                   object timeout) except -1:
        cdef ProcHandle proc = self.get()
        cdef Py_ssize_t nbytes = to_size(size, "size")
        cdef uint64_t address
        cdef veo_proc_handle *handle
        cdef main_wait wait
        cdef bint late
        cdef int rc
        if buffer.nbytes < nbytes:
            raise ValueError(
                f"the {'destination' if reading else 'source'} buffer is smaller than required "
                f"size ({buffer.nbytes} < {nbytes})"
            )
        to_address(where, self, &address)
        name = "veo_read_mem" if reading else "veo_write_mem"
        handle = proc.enter()
        try:
            wait = proc.begin(timeout, name)
            while True:
                with nogil:
                    limit_wait(proc.soft, &wait)
                    if reading:
                        rc = proc.table.veo_read_mem(handle, buffer.ptr, address, <size_t>nbytes)
                    else:
                        rc = proc.table.veo_write_mem(handle, address, buffer.ptr, <size_t>nbytes)
                    late = was_late(proc.soft, &wait, rc != 0)
                if not late:
                    break
                proc.go_on(&wait, name)
            if rc != 0:
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

    def alloc_hmem(self, size, *, timeout=None):
        """Allocate VE memory with a tagged address; see `VEO_HMEM`.

        Parameters
        ----------
        size : int
            Number of bytes.
        timeout : float, optional
            As for `alloc_mem()`.

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
            proc.begin(timeout, "veo_alloc_hmem")
            with nogil:
                rc = proc.table.veo_alloc_hmem(handle, &address, <size_t>nbytes)
            if rc != 0:
                _fail_allocation(proc, handle, "veo_alloc_hmem", nbytes, rc)
        finally:
            proc.leave()
        return VEMemPtr(self, <uint64_t>address, nbytes)

    def free_hmem(self, addr, *, timeout=None):
        """Free memory from `alloc_hmem()`, after the requests queued in the main context.

        Parameters
        ----------
        addr : VEMemPtr or int
            From `alloc_hmem()`.
        timeout : float, optional
            As for `read_mem()`.

        Raises
        ------
        VeoError
            It is not such an address. It is a RuntimeError.
        VeoTimeoutError
            The wait timed out; it says for which request. It is a TimeoutError.
        """
        cdef ProcHandle proc = self.get()
        cdef uint64_t address
        cdef veo_proc_handle *handle
        cdef main_wait wait
        cdef bint late
        cdef int rc
        to_address(addr, self, &address)
        handle = proc.enter()
        try:
            proc.library.need(<const void *>proc.table.veo_free_hmem, "veo_free_hmem")
            if not address >> 63:
                # libveo would treat it as memory from this process's malloc().
                raise VeoError(f"{address:#x} is not a tagged VE address", function="veo_free_hmem")
            wait = proc.begin(timeout, "veo_free_hmem")
            while True:
                with nogil:
                    limit_wait(proc.soft, &wait)
                    rc = proc.table.veo_free_hmem(<void *>address)
                    late = was_late(proc.soft, &wait, rc != 0)
                if not late:
                    break
                proc.go_on(&wait, "veo_free_hmem")
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
