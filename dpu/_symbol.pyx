# SPDX-License-Identifier: BSD-3-Clause
"""Symbols of DPU programs."""

from libc.stdint cimport uint32_t

from operator import index

__all__ = ["DpuSymbol"]


cdef uint32_t _number(object value, str what) except? 0xffffffff:
    number = index(value)
    if not 0 <= number <= 0xffffffff:
        raise ValueError(f"the {what} of a symbol has 32 bits, which {number} does not fit into")
    return number


cdef class DpuSymbol:
    """A named location in the memory of a DPU.

    Parameters
    ----------
    name : str
        The name, for the reader.
    c_symbol : tuple of int
        Address and size in bytes. Addresses from 0 are WRAM, from 0x08000000 MRAM, from
        0x80000000 IRAM (8 bytes per instruction).

    Attributes
    ----------
    name : str
        The name.
    """

    def __init__(self, name, c_symbol):
        if isinstance(c_symbol, DpuSymbol):
            self.c = (<DpuSymbol>c_symbol).c
        else:
            try:
                address, size = c_symbol
            except (TypeError, ValueError):
                raise TypeError(
                    f"a symbol has an address and a size, such as (0x08000000, 64), not "
                    f"{c_symbol!r}"
                ) from None
            self.c.address = _number(address, "address")
            self.c.size = _number(size, "size")
        self.name = name

    def __reduce__(self):
        return type(self), (self.name, self.c_symbol)

    @property
    def c_symbol(self):
        """Address and size."""
        return (self.c.address, self.c.size)

    def value(self):
        """Get the symbol's value: for a variable, its address.

        Returns
        -------
        int
        """
        return self.c.address

    def size(self):
        """Get the symbol's size in bytes.

        Returns
        -------
        int
        """
        return self.c.size

    def __repr__(self):
        return f"<DpuSymbol {self.name} at {self.c.address:#x}, {self.c.size} bytes>"
