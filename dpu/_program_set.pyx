# SPDX-License-Identifier: BSD-3-Clause
"""The program of a set and its variables: loading, copies, attributes."""

from cpython.object cimport PyObject_GenericSetAttr
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset
from dpu._copy cimport check_symbol, copy_buffers
from dpu._handle cimport SetHandle, SetView
from dpu._program cimport DpuProgram, new_program
from dpu._symbol cimport DpuSymbol
from dpu.libdpu cimport dpu_description_t, dpu_error_t, dpu_program_t, dpu_set_t, dpusoft_report
from offchip.buffer cimport Buffer

import os
import warnings

from dpu.errors import DpuError
from dpu.images import ProgramImage
from dpu.symbols import ProgramSymbols
from dpu.variable import DpuVariable

__all__ = ["ProgramSet"]

cdef uint8_t _nothing = 0


cdef class ProgramSet(SetView):
    """The operations of a `DpuSet` on programs."""

    def load(self, binary=None, c_source=None, asm_source=None):
        """Load a program into the DPUs.

        Parameters
        ----------
        binary : str, path or bytes-like, optional
            Its file, or the contents of the file.
        c_source, asm_source : str, path, text stream or list of them, optional
            Sources to build it from. Both may be given, but not together with `binary`.

        Returns
        -------
        DpuProgram

        Raises
        ------
        DpuError
            It is not a DPU program, or does not fit.
        """
        from_source = c_source is not None or asm_source is not None
        if (binary is not None) == from_source:
            raise DpuError("one and only one source or binary program must be defined")
        if from_source:
            from dpu.sources import building

            with building(c_source, asm_source, self._chip()) as path:
                with open(path, "rb") as built:
                    return self._load_file(path, None, built.read())
        if isinstance(binary, (str, os.PathLike)):
            path = os.fspath(binary)
            return self._load_file(path, path, ProgramImage(path))
        return self._load_memory(binary)

    cdef object _chip(self):
        """Return the chip that programs are built for, the profile's; None for real DPUs."""
        cdef dpu_description_t found = NULL
        cdef dpusoft_report report
        cdef SetHandle handle
        self.enter("dpu_load")
        handle = self.handle
        try:
            if handle.soft.dpusoft_get_report is not NULL:
                found = handle.table.dpu_get_description(handle.whole.list.ranks[0])
            if found is NULL:
                return None
            self.wait_idle("dpu_load")
            memset(&report, 0, sizeof(report))
            report.size = sizeof(report)
            self.check(handle.soft.dpusoft_get_report(handle.dpu_sets[0], &report), "dpu_load")
            return {
                "chip_id": found.hw.signature.chip_id,
                "tasklets": found.hw.dpu.nr_of_threads,
                "instructions": found.hw.memories.iram_size,
                "wram": 4 * found.hw.memories.wram_size,
                "mram": found.hw.memories.mram_size,
                "cache": report.cache_bytes,
            }
        finally:
            self.leave()

    def _load_file(self, path, shown, origin):
        cdef dpu_program_t *program = NULL
        cdef dpu_error_t rc
        cdef dpu_set_t c = self.c
        cdef const char *name
        cdef SetHandle handle
        encoded = os.fsencode(path)
        if b"\0" in encoded:
            raise ValueError("the path contains a NUL character")
        name = encoded
        self.enter("dpu_load")
        handle = self.handle
        try:
            self.wait_idle("dpu_load")
            with nogil:
                rc = handle.table.dpu_load(c, name, &program)
            self.check(rc, "dpu_load")
            return self._loaded(new_program(handle.table, program, shown, origin))
        finally:
            self.leave()

    def _load_memory(self, image):
        cdef dpu_program_t *program = NULL
        cdef dpu_error_t rc
        cdef dpu_set_t c = self.c
        cdef SetHandle handle
        cdef Buffer buffer = Buffer(image)
        cdef bytes content = image if type(image) is bytes else bytes(memoryview(image))
        cdef uint8_t *data = <uint8_t *>buffer.ptr if buffer.nbytes > 0 else &_nothing
        cdef size_t size = <size_t>buffer.nbytes
        self.enter("dpu_load_from_memory")
        handle = self.handle
        try:
            self.wait_idle("dpu_load_from_memory")
            with nogil:
                rc = handle.table.dpu_load_from_memory(c, data, size, &program)
            self.check(rc, "dpu_load_from_memory")
            return self._loaded(new_program(handle.table, program, None, content))
        finally:
            self.leave()
            buffer.release()

    def _loaded(self, DpuProgram program):
        cdef SetHandle handle = self.handle
        cdef uint32_t i
        for i in range(self.dpu0, self.dpu1):
            handle.programs[i] = program
        handle.loads += 1
        hidden = sorted(name for name in program._symbols if hasattr(type(self), name))
        if hidden:
            warnings.warn(
                f"the program has variables or functions with names of DpuSet's own attributes: "
                f"{', '.join(hidden)}; use dpu_set.symbols[name] for them",
                RuntimeWarning,
                stacklevel=1,
            )
        return program

    cdef object _program(self):
        """Find the program that one call loaded into all DPUs of this set, or None."""
        cdef SetHandle handle = self.handle
        cdef uint32_t i
        if handle is None or self.dpu0 == self.dpu1:
            return None
        if self._found_at != handle.loads:
            program = handle.programs[self.dpu0]
            for i in range(self.dpu0 + 1, self.dpu1):
                if handle.programs[i] is not program:
                    program = None
                    break
            self._found_program = program
            self._found_at = handle.loads
        return self._found_program

    @property
    def program(self):
        """The `DpuProgram` that one call loaded into all DPUs of the set, or None."""
        return self._program()

    @property
    def symbols(self):
        """The variables of the program, by name: a mapping to `DpuVariable`.

        Assigning an item copies it to the DPUs. It also has names that are methods of DpuSet.
        """
        return ProgramSymbols(self, self._program())

    def _read_symbol(self, symbol):
        cdef uint32_t i
        cdef uint32_t count = self.dpu1 - self.dpu0
        cdef size_t size = (<DpuSymbol>symbol).c.size
        check_symbol(<DpuSymbol>symbol)
        data = memoryview(bytearray(count * size))
        views = [data[i * size:(i + 1) * size] for i in range(count)]
        copy_buffers(self, views, symbol, None, 0, False)
        return DpuVariable(views, symbol, self._program())

    def __getattr__(self, name):
        program = self._program()
        symbol = program.get_symbol(name) if program is not None else None
        if symbol is None:
            reason = (
                "no program was loaded into all of its DPUs" if program is None
                else "its program has no variable of this name"
            )
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}, and {reason}",
                name=name, obj=self,
            )
        return self._read_symbol(symbol)

    def __setattr__(self, name, value):
        program = self._program()
        symbol = program.get_symbol(name) if program is not None else None
        if symbol is None:
            PyObject_GenericSetAttr(self, name, value)
        elif hasattr(type(self), name):
            raise AttributeError(
                f"{name!r} is an attribute of DpuSet and a variable of the program; use "
                f"dpu_set.symbols[{name!r}] for the variable", name=name, obj=self
            )
        else:
            self.copy(symbol, value)

    def __dir__(self):
        program = self._program()
        own = object.__dir__(self)
        return sorted({*own, *(program.symbols if program is not None else ())})

    def copy(self, dst, src, size=None, offset=0, async_mode=None):
        """Copy between the host and the DPUs.

        One side is a symbol. The other is a buffer for all DPUs, or a list with one buffer per
        DPU, all of the same size; None skips a DPU.

        Parameters
        ----------
        dst, src : str, DpuSymbol, bytes-like or list
            Destination and source. Buffers are objects with contiguous memory: bytes,
            bytearray, memoryview, array.array, numpy arrays.
        size : int, optional
            Number of bytes; by default the size of the buffer.
        offset : int
            Offset in the symbol, in bytes.
        async_mode : bool, optional
            Whether to return at once. Until the next `sync()` the buffers must not be changed;
            the set keeps them alive.

        Raises
        ------
        DpuError
            The symbol does not exist, or the range is outside it or not aligned.
        TypeError, BufferError
            An object is not a buffer, or not writable.
        """
        copy_buffers(self, dst, src, size, offset, self._is_async(async_mode))

    def _is_async(self, async_mode):
        if async_mode is not None:
            return bool(async_mode)
        return self.handle is not None and bool(self.handle.async_mode)
