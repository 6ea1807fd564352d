# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots of a DPU: memories, registers, flags and faults."""

cimport cython
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset
from dpu._handle cimport SetHandle, SetView
from dpu._native cimport Library, get_library
from dpu.libdpu cimport (
    DPU_CHECKPOINT_IRAM,
    DPU_CHECKPOINT_MRAM,
    DPU_CHECKPOINT_WRAM,
    DPU_OK,
    dpu_error_t,
    dpu_set_t,
)
from offchip.buffer cimport Buffer

__all__ = ["DpuContext", "DpuThreadContext"]


cdef class DpuThreadContext:
    """One tasklet in a `DpuContext`.

    Attributes
    ----------
    idx : int
        Its number.
    """

    cdef DpuContext _context
    cdef readonly int idx

    def __init__(self, DpuContext ctx not None, int idx):
        if not 0 <= idx < <int>ctx.c.info.nr_threads:
            raise IndexError(f"there are {ctx.c.info.nr_threads} threads, but no thread {idx}")
        self._context = ctx
        self.idx = idx

    def regs(self):
        """Get a copy of the work registers, as unsigned numbers.

        Returns
        -------
        list of int
        """
        cdef uint32_t count = self._context.c.info.nr_registers
        cdef uint32_t first = self.idx * count
        cdef uint32_t i
        return [self._context.c.registers[first + i] for i in range(count)]

    def pc(self):
        """Get the program counter, the index of an instruction."""
        return self._context.c.pcs[self.idx]

    def zf(self):
        """Get the zero flag."""
        return bool(self._context.c.zero_flags[self.idx])

    def cf(self):
        """Get the carry flag."""
        return bool(self._context.c.carry_flags[self.idx])

    def __repr__(self):
        return f"<DpuThreadContext {self.idx} at pc {self.pc()}>"


@cython.no_gc_clear
cdef class DpuContext:
    """A snapshot of a DPU. Objects come from `DpuSet.checkpoint()` and `from_buffer()`."""

    def __cinit__(self):
        memset(&self.c, 0, sizeof(self.c))
        self.filled = False

    def __init__(self):
        raise TypeError("a DpuContext comes from DpuSet.checkpoint() or DpuContext.from_buffer()")

    def __dealloc__(self):
        if self.filled:
            self.library.table.dpu_checkpoint_free(&self.c)

    def __reduce__(self):
        return DpuContext.from_buffer, (self.serialize(),)

    @property
    def threads(self):
        """The state of each tasklet: a list of `DpuThreadContext`."""
        cdef uint32_t i
        return [DpuThreadContext(self, i) for i in range(self.c.info.nr_threads)]

    def atomic_bits(self):
        """Get a copy of the atomic bits.

        Returns
        -------
        list of bool
        """
        cdef uint32_t i
        return [bool(self.c.atomic_register[i]) for i in range(self.c.info.nr_atomic_bits)]

    def bkp_fault(self):
        """Tell whether a fault instruction was reached.

        Returns
        -------
        tuple of int or None
            The tasklet and the number in the instruction.
        """
        return (self.c.bkp_fault_thread_index, self.c.bkp_fault_id) if self.c.bkp_fault else None

    def dma_fault(self):
        """Tell whether a transfer between memories failed.

        Returns
        -------
        int or None
            The tasklet.
        """
        return self.c.dma_fault_thread_index if self.c.dma_fault else None

    def mem_fault(self):
        """Tell whether an access to WRAM failed.

        Returns
        -------
        int or None
            The tasklet.
        """
        return self.c.mem_fault_thread_index if self.c.mem_fault else None

    def iram(self):
        """Get a copy of the instructions, None if they were not saved.

        Returns
        -------
        list of int or None
        """
        cdef uint32_t i
        if self.c.iram is NULL:
            return None
        return [self.c.iram[i] for i in range(self.c.info.iram_size)]

    def mram(self):
        """Get a copy of MRAM, None if it was not saved.

        `mram_bytes()` takes less memory than a list of 67,108,864 numbers.

        Returns
        -------
        list of int or None
        """
        data = self.mram_bytes()
        return None if data is None else list(data)

    def wram(self):
        """Get a copy of the words of WRAM, None if they were not saved.

        Returns
        -------
        list of int or None
        """
        cdef uint32_t i
        if self.c.wram is NULL:
            return None
        return [self.c.wram[i] for i in range(self.c.info.wram_size)]

    def mram_bytes(self):
        """Get a copy of MRAM as bytes, None if it was not saved."""
        if self.c.mram is NULL:
            return None
        return (<const char *>self.c.mram)[:self.c.info.mram_size]

    def wram_bytes(self):
        """Get a copy of WRAM as bytes, None if it was not saved."""
        if self.c.wram is NULL:
            return None
        return (<const char *>self.c.wram)[:4 * self.c.info.wram_size]

    def serialize(self):
        """Convert it to bytes in the vendor's format.

        Returns
        -------
        bytearray
        """
        cdef uint32_t size = self.library.table.dpu_checkpoint_get_serialized_context_size(&self.c)
        cdef dpu_error_t rc
        cdef uint8_t *target
        data = bytearray(size)
        target = data
        rc = self.library.table.dpu_checkpoint_serialize(&self.c, &target, &size)
        if rc != DPU_OK:
            self.library.fail(rc, "dpu_checkpoint_serialize")
        return data

    @staticmethod
    def from_buffer(buf):
        """Make a snapshot from the bytes of `serialize()`.

        Parameters
        ----------
        buf : bytes-like
            The bytes.

        Returns
        -------
        DpuContext

        Raises
        ------
        DpuError
            The bytes are not a snapshot.
        """
        cdef Library library = get_library(None)
        cdef DpuContext context = DpuContext.__new__(DpuContext)
        cdef dpu_error_t rc
        cdef Buffer buffer = Buffer(buf)
        context.library = library
        with buffer:
            if buffer.nbytes > 0xffffffff:
                raise ValueError("larger than any snapshot")
            rc = library.table.dpu_checkpoint_deserialize(
                <const uint8_t *>(buffer.ptr if buffer.nbytes else &_nothing),
                <uint32_t>buffer.nbytes, &context.c,
            )
            if rc != DPU_OK:
                library.fail(rc, "dpu_checkpoint_deserialize")
            context.filled = True
        return context

    def __repr__(self):
        saved = [
            name for name, there in (
                ("IRAM", self.c.iram is not NULL), ("MRAM", self.c.mram is not NULL),
                ("WRAM", self.c.wram is not NULL),
            ) if there
        ]
        return f"<DpuContext with {', '.join(saved) or 'no memory'}>"


cdef uint8_t _nothing = 0


cdef DpuContext save_context(SetView view, int flags):
    cdef DpuContext context = DpuContext.__new__(DpuContext)
    cdef SetHandle handle
    cdef dpu_set_t c = view.c
    cdef dpu_error_t rc
    view.enter("dpu_checkpoint_save")
    handle = view.handle
    try:
        context.library = handle.library
        view.wait_idle("dpu_checkpoint_save")
        with nogil:
            rc = handle.table.dpu_checkpoint_save(c, flags, &context.c)
        view.check(rc, "dpu_checkpoint_save")
        context.filled = True
    finally:
        view.leave()
    return context


cdef int restore_context(SetView view, DpuContext context, int flags) except -1:
    cdef SetHandle handle
    cdef dpu_set_t c = view.c
    cdef dpu_error_t rc
    if not context.filled:
        raise ValueError("this DpuContext is empty")
    if context.c.iram is NULL:
        flags &= ~DPU_CHECKPOINT_IRAM
    if context.c.mram is NULL:
        flags &= ~DPU_CHECKPOINT_MRAM
    if context.c.wram is NULL:
        flags &= ~DPU_CHECKPOINT_WRAM
    view.enter("dpu_checkpoint_restore")
    handle = view.handle
    try:
        view.wait_idle("dpu_checkpoint_restore")
        with nogil:
            rc = handle.table.dpu_checkpoint_restore(c, flags, &context.c)
        view.check(rc, "dpu_checkpoint_restore")
    finally:
        view.leave()
    return 0
