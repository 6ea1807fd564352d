# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in the memory of a Vector Engine, with the dtype and shape of NumPy's."""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Sequence
from typing import Any, Self, SupportsIndex

import numpy as np
import numpy.typing as npt

from veo._allocation import Allocation
from veo._context import VeoCtxt
from veo._proc import VeoProc
from veo._request import VeoMemRequest
from veo.memptr import VEMemPtr

__all__ = ["DeviceArray", "to_device"]

Array = np.ndarray[Any, Any]

# DLPack's number for memory that the CPU can access.
_DL_CPU = 1


class DeviceArray:
    """An array in the memory of a VE process, in C order.

    It can be an argument of a kernel, which gets its address. Its memory is freed when neither it,
    nor a part of it, nor a request that has it as an argument is left.

    Parameters
    ----------
    proc : VeoProc
        The process whose memory it takes.
    shape : int or sequence of int
        Extents.
    dtype : dtype-like, optional
        Type of the elements, which must not be Python objects.

    Raises
    ------
    VeoMemoryError
        The VE has not as much memory.
    TypeError
        The elements would be Python objects.
    """

    def __init__(
        self,
        proc: VeoProc,
        shape: SupportsIndex | Sequence[SupportsIndex],
        dtype: npt.DTypeLike = np.float64,
    ) -> None:
        self._dtype = np.dtype(dtype)
        if self._dtype.hasobject:
            raise TypeError(f"a Vector Engine has no Python objects, which {self._dtype} has")
        self._shape = _as_shape(shape)
        size = math.prod(self._shape) * self._dtype.itemsize
        self._memory = Allocation(proc, max(size, 1))
        self._offset = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return self._dtype

    @property
    def ndim(self) -> int:
        """How many extents there are."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """How many elements there are."""
        return math.prod(self._shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self._dtype.itemsize

    @property
    def proc(self) -> VeoProc:
        """The process whose memory it is."""
        return self._memory.proc

    @property
    def address(self) -> VEMemPtr:
        """Where it begins on the VE; VeoClosedError if its memory was freed."""
        return VEMemPtr(self.proc, self._memory.address() + self._offset, self.nbytes)

    @property
    def _ve_array(self) -> VEMemPtr:
        """Value that a kernel gets."""
        return self.address

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("an array without extents has no length")
        return self._shape[0]

    def __repr__(self) -> str:
        where = "freed" if self._memory.freed else f"{int(self.address):#x}"
        return f"<DeviceArray {self._shape} of {self._dtype} at {where}>"

    def write(self, values: npt.ArrayLike, *, timeout: float | None = None) -> Self:
        """Copy values to the VE, and wait; they are broadcast and converted as NumPy does it.

        Parameters
        ----------
        values : array-like
            What is copied.
        timeout : float, optional
            As for `VeoProc.read_mem()`.

        Returns
        -------
        DeviceArray
            This array.
        """
        data = self._as_host(values)
        if self.nbytes:
            self.proc.write_mem(self.address, data, self.nbytes, timeout=timeout)
        return self

    def read(self, out: Array | None = None, *, timeout: float | None = None) -> Array:
        """Copy the elements to the host, and wait.

        Parameters
        ----------
        out : numpy.ndarray, optional
            Where they go: of the same shape and dtype, in C order. A new array if None.
        timeout : float, optional
            As for `VeoProc.read_mem()`.

        Returns
        -------
        numpy.ndarray
        """
        target = np.empty(self._shape, self._dtype) if out is None else out
        self._check_target(target)
        if self.nbytes:
            self.proc.read_mem(target, self.address, self.nbytes, timeout=timeout)
        return target

    def write_async(self, context: VeoCtxt, values: npt.ArrayLike) -> VeoMemRequest:
        """Queue a copy of values to the VE in a context."""
        return context.async_write_mem(self.address, self._as_host(values), self.nbytes)

    def read_async(self, context: VeoCtxt, out: Array) -> VeoMemRequest:
        """Queue a copy of the elements to `out` in a context."""
        self._check_target(out)
        return context.async_read_mem(out, self.address, self.nbytes)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("a DeviceArray is in the VE's memory: it cannot be used uncopied")
        data = self.read()
        return data if dtype is None else data.astype(dtype, copy=False)

    def __getitem__(self, key: Any) -> DeviceArray:
        """Give a part that shares this memory: integers, and a slice of step 1 after them."""
        keys = key if isinstance(key, tuple) else (key,)
        keys = tuple(item for item in keys if item is not Ellipsis)
        if len(keys) > self.ndim:
            raise IndexError(f"{len(keys)} indices, but the array has {self.ndim} dimension(s)")
        offset, shape = self._offset, list(self._shape)
        stride = self.nbytes
        for place, item in enumerate(keys):
            extent = shape[0]
            stride = stride // extent if extent else 0
            if isinstance(item, slice):
                start, stop, step = item.indices(extent)
                if step != 1 or any(rest != slice(None) for rest in keys[place + 1 :]):
                    raise IndexError(
                        "a part of a DeviceArray must lie in one piece: integers, then one slice "
                        "with step 1; read() it and take the part of the result"
                    )
                shape[0] = max(stop - start, 0)
                return self._part(offset + start * stride, tuple(shape))
            index = operator.index(item)
            if not -extent <= index < extent:
                raise IndexError(f"index {index} is out of range for an extent of {extent}")
            offset += (index % extent) * stride
            del shape[0]
        return self._part(offset, tuple(shape))

    def __setitem__(self, key: Any, values: npt.ArrayLike) -> None:
        self[key].write(values)

    def reshape(self, *shape: SupportsIndex | Sequence[SupportsIndex]) -> DeviceArray:
        """Give the same memory another shape with as many elements; one extent may be -1."""
        wanted: Any = shape[0] if len(shape) == 1 else shape
        # NumPy decides what fits, without memory for the elements.
        fresh = np.broadcast_to(np.zeros((), np.int8), self._shape)
        return self._part(self._offset, np.empty(fresh.shape, np.int8).reshape(wanted).shape)

    def free(self) -> None:
        """Free the memory now; parts of this array are then freed too."""
        self._memory.free()

    def __dlpack_device__(self) -> tuple[int, int]:
        """Say where DLPack finds the memory: with the soft twin, where the CPU does."""
        self._check_mapped()
        return (_DL_CPU, 0)

    def __dlpack__(self, **options: Any) -> Any:
        """Share the memory by DLPack; BufferError on hardware, where the CPU does not reach it."""
        self._check_mapped()
        return self._mapped().__dlpack__(**options)

    def _check_mapped(self) -> None:
        if self.proc.library.kind != "soft":
            raise BufferError("the memory of a Vector Engine cannot be shared: use read()")

    def _mapped(self) -> Array:
        """Give the memory of the soft twin's heap, which this process has at the same address."""
        buffer: Any = (ctypes.c_char * self.nbytes).from_address(int(self.address))
        buffer._owner = self
        flat: Array = np.frombuffer(buffer, self._dtype)
        return flat.reshape(self._shape)

    def _part(self, offset: int, shape: tuple[int, ...]) -> DeviceArray:
        part = object.__new__(DeviceArray)
        part._memory, part._dtype = self._memory, self._dtype
        part._offset, part._shape = offset, shape
        return part

    def _as_host(self, values: npt.ArrayLike) -> Array:
        data = np.asarray(values, self._dtype)
        if data.shape != self._shape:
            data = np.broadcast_to(data, self._shape)
        return np.ascontiguousarray(data)

    def _check_target(self, out: Array) -> None:
        if out.shape != self._shape or out.dtype != self._dtype:
            raise ValueError(
                f"out must be {self._shape} of {self._dtype}, not {out.shape} of {out.dtype}"
            )
        if not (out.flags.c_contiguous and out.flags.writeable):
            raise ValueError("out must be writable, and its elements in C order")


def _as_shape(shape: SupportsIndex | Sequence[SupportsIndex]) -> tuple[int, ...]:
    extents = (shape,) if isinstance(shape, SupportsIndex) else shape
    result = tuple(operator.index(extent) for extent in extents)
    if any(extent < 0 for extent in result):
        raise ValueError(f"extents cannot be negative: {result}")
    return result


def to_device(proc: VeoProc, values: Any) -> DeviceArray:
    """Copy an array, or whatever NumPy or DLPack makes one of, to a Vector Engine.

    Parameters
    ----------
    proc : VeoProc
        Whose memory is taken.
    values : array-like
        What is copied.

    Returns
    -------
    DeviceArray
        Of the same shape and dtype.
    """
    if hasattr(values, "__dlpack__") and not isinstance(values, np.ndarray):
        values = np.from_dlpack(values)
    data = np.asarray(values)
    array = DeviceArray(proc, data.shape, data.dtype)
    if array.nbytes:
        # Nothing that is queued knows this memory.
        proc._write_new(array.address, np.ascontiguousarray(data), array.nbytes)
    return array
