# SPDX-License-Identifier: BSD-3-Clause
"""Arithmetic configurations: the types that a CCLO can add and compress, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

__all__ = ["ACCL_DEFAULT_ARITH_CONFIG", "ACCLArithConfig"]


class _Registers(Protocol):
    def write(self, offset: int, val: int, /) -> Any: ...


class ACCLArithConfig:
    """Arithmetic configuration: the datapath's handling of one pair of types.

    Parameters
    ----------
    uncompressed_elem_bytes, compressed_elem_bytes : int
        Size of an element in each form.
    elem_ratio_log : int
        Logarithm of the number of uncompressed elements per compressed one.
    compressor_tdest, decompressor_tdest : int
        Ids of the hardware functions that convert.
    arith_is_compressed : bool
        Whether sums are computed in the compressed form.
    arith_tdest : sequence of int
        Ids of the reduction functions; the first is SUM, a second one MAX.
    """

    def __init__(
        self,
        uncompressed_elem_bytes: int,
        compressed_elem_bytes: int,
        elem_ratio_log: int,
        compressor_tdest: int,
        decompressor_tdest: int,
        arith_is_compressed: int,
        arith_tdest: Sequence[int],
    ) -> None:
        self.uncompressed_elem_bytes = uncompressed_elem_bytes
        self.compressed_elem_bytes = compressed_elem_bytes
        self.elem_ratio_log = elem_ratio_log
        self.compressor_tdest = compressor_tdest
        self.decompressor_tdest = decompressor_tdest
        self.arith_is_compressed = arith_is_compressed
        self.arith_nfunctions = len(arith_tdest)
        self.arith_tdest = list(arith_tdest)
        #: Its address in exchange memory, None until it is written there.
        self.exchmem_addr: int | None = None

    def __str__(self) -> str:
        return (
            f"Arithmetic Config at address {self.exchmem_addr}\n"
            f"Uncompressed dtype B/element: {self.uncompressed_elem_bytes}\n"
            f"Compressed dtype B/element: {self.compressed_elem_bytes}\n"
            f"Ratio of number of compressed to uncompressed elements: {2**self.elem_ratio_log}\n"
            f"Perform arithmetic on compressed dtype: {bool(self.arith_is_compressed)}\n"
            f"Compressor ID: {self.compressor_tdest}\n"
            f"Decompressor ID: {self.decompressor_tdest}\n"
            f"Reduction function IDs: {self.arith_tdest}\n"
        )

    def words(self) -> list[int]:
        """Return the words that describe it in exchange memory."""
        return [
            self.uncompressed_elem_bytes,
            self.compressed_elem_bytes,
            self.elem_ratio_log,
            self.compressor_tdest,
            self.decompressor_tdest,
            self.arith_nfunctions,
            int(self.arith_is_compressed),
            *self.arith_tdest,
        ]

    @property
    def addr(self) -> int:
        """Its address in exchange memory."""
        assert self.exchmem_addr is not None, "the arithmetic configuration is not written yet"
        return self.exchmem_addr

    def write(self, mmio: _Registers, addr: int) -> int:
        """Write it into exchange memory.

        Parameters
        ----------
        mmio : object
            Has ``write(offset, value)``.
        addr : int
            Start address.

        Returns
        -------
        int
            The address after it.
        """
        self.exchmem_addr = addr
        for word in self.words():
            mmio.write(addr, word)
            addr += 4
        return addr


#: By names of the uncompressed and the compressed type.
ACCL_DEFAULT_ARITH_CONFIG: Mapping[tuple[str, str], ACCLArithConfig] = {
    ("float16", "float16"): ACCLArithConfig(2, 2, 0, 0, 0, 0, [4, 9]),
    ("float32", "float16"): ACCLArithConfig(4, 2, 0, 0, 1, 1, [4, 9]),
    ("float32", "float32"): ACCLArithConfig(4, 4, 0, 0, 0, 0, [0, 5]),
    ("float64", "float64"): ACCLArithConfig(8, 8, 0, 0, 0, 0, [1, 6]),
    ("int32", "int32"): ACCLArithConfig(4, 4, 0, 0, 0, 0, [2, 7]),
    ("int64", "int64"): ACCLArithConfig(8, 8, 0, 0, 0, 0, [3, 8]),
}
