# SPDX-License-Identifier: BSD-3-Clause
"""Loaded programs, with the symbols that the host may access."""

from dpu._symbol cimport DpuSymbol
from dpu.libdpu cimport DPU_OK, dpu_elf_symbol_t, dpu_program_t, dpu_symbol_t, dpu_table

__all__ = ["DpuProgram"]


cdef class DpuProgram:
    """A DPU program. Objects come from `DpuSet.load()`.

    Attributes
    ----------
    path : str or None
        The file that it was loaded from, None if it was built from source or passed in memory.
    """

    def __init__(self):
        raise TypeError("a DpuProgram comes from DpuSet.load()")

    def __reduce_ex__(self, protocol):
        raise TypeError("a DpuProgram cannot be pickled: it is loaded into DPUs of this process")

    @property
    def c_program(self):
        """Address of the ``struct dpu_program_t``; valid until the DPUs are loaded or freed."""
        return self._address

    @property
    def symbols(self):
        """The symbols by name."""
        return dict(self._symbols)

    def get_symbol(self, symbol):
        """Find a symbol.

        Parameters
        ----------
        symbol : str
            Its name.

        Returns
        -------
        DpuSymbol or None
            None if the program has no symbol of this name that the host may access.
        """
        return self._symbols.get(symbol)

    def fetch_all_symbols(self):
        """Get all symbols that the host may access.

        Returns
        -------
        dict of str to DpuSymbol
        """
        return dict(self._symbols)

    def _image(self):
        return self._origin if isinstance(self._origin, bytes) else self._origin.read()

    def __repr__(self):
        return f"<DpuProgram {self.path or 'in memory'}, {len(self._symbols)} symbols>"


cdef DpuProgram new_program(const dpu_table *table, dpu_program_t *c, object path,
                            object origin):
    cdef DpuProgram program = DpuProgram.__new__(DpuProgram)
    cdef DpuSymbol symbol
    cdef dpu_elf_symbol_t *entry
    cdef dpu_symbol_t found
    cdef unsigned int i
    program._symbols = {}
    program._address = <size_t>c
    program.path = path
    program._origin = origin
    if c.symbols is NULL:
        return program
    for i in range(c.symbols.nr_symbols):
        entry = &c.symbols.map[i]
        if entry.name is NULL:
            continue
        name = entry.name.decode("utf-8", "surrogateescape")
        if name in program._symbols:
            continue
        symbol = DpuSymbol.__new__(DpuSymbol)
        symbol.name = name
        symbol.c.address = entry.value
        symbol.c.size = entry.size
        # The only symbol whose size the library computes.
        if (name == "__sys_used_mram_end"
                and table.dpu_get_symbol(c, entry.name, &found) == DPU_OK):
            symbol.c = found
        program._symbols[name] = symbol
    return program
