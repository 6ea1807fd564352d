# SPDX-License-Identifier: BSD-3-Clause
"""Pointers into the memory of a VE process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Self, SupportsIndex

if TYPE_CHECKING:
    from veo._proc import VeoProc

__all__ = ["VEMemPtr"]


class VEMemPtr(int):
    """A VE address: an integer that knows its size and its process.

    It can be used wherever a plain integer address can; arithmetic gives plain integers.

    Parameters
    ----------
    proc : VeoProc
        Process that the address belongs to.
    addr : int
        The address.
    size : int, optional
        Bytes of memory there, 0 if not known.
    """

    _proc: VeoProc | None
    _size: int

    def __new__(cls, proc: VeoProc | None, addr: SupportsIndex, size: int = 0) -> Self:
        self = super().__new__(cls, addr)
        if self < 0:
            raise ValueError(f"an address cannot be negative: {int(self)}")
        if size < 0:
            raise ValueError(f"a size cannot be negative: {size}")
        self._proc = proc
        self._size = size
        return self

    @property
    def addr(self) -> int:
        """The address as a plain integer."""
        return int(self)

    @property
    def size(self) -> int:
        """Bytes of memory at the address, 0 if not known."""
        return self._size

    @property
    def proc(self) -> VeoProc | None:
        """Process that the address belongs to."""
        return self._proc

    def __repr__(self) -> str:
        return (
            f"<VEMemPtr object VE addr: {int(self):#x} , size: {self._size}bytes, "
            f"owner {self._proc!r}>"
        )

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            "a VEMemPtr cannot be pickled: it is only meaningful to the VeoProc that it "
            "belongs to; pickle int(pointer) for the bare number"
        )
