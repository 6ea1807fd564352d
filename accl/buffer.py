# SPDX-License-Identifier: BSD-3-Clause
"""Buffers: arrays whose elements are also in a device's memory."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from accl._operand import block_of
from accl.errors import ACCLArgumentError, ACCLClosedError

if TYPE_CHECKING:
    from accl._memory import Block

__all__ = ["ACCLBuffer"]


class ACCLBuffer(np.ndarray[Any, Any]):
    """An array with device memory. `accl.allocate()` makes it.

    It is the host's view. With separate memory, `sync_to_device()` and `sync_from_device()` copy
    between this view and the device; with unified memory both are the same pages. Slices are
    buffers too, at their own address; so are contiguous reshaped and retyped views. Results of
    computations have no device memory.

    Parameters
    ----------
    shape : int or tuple of int
        Its shape.
    dtype : dtype
        Type of the elements.
    target : accl
        The instance that allocates it.
    zmqsocket : object
        Used as `target` if that is None.
    physical_address, prealloc : int, bool
        Accepted and ignored: the engine chooses addresses, and memory is allocated at once.
    host : bool
        The host's view is the only copy, which the engine accesses.
    """

    def __new__(
        cls,
        shape: Any,
        dtype: Any = np.float32,
        target: Any = None,
        zmqsocket: Any = None,
        physical_address: int | None = None,
        prealloc: bool = True,
        *,
        host: bool = False,
    ) -> ACCLBuffer:
        """Allocate it."""
        owner = target if target is not None else zmqsocket
        if owner is None or not hasattr(owner, "allocate"):
            raise TypeError("a buffer needs an accl: use its allocate()")
        made: ACCLBuffer = owner.allocate(
            shape, dtype, physical_address=physical_address, prealloc=prealloc, host=host
        )
        return made

    @classmethod
    def of_block(cls, block: Block, shape: tuple[int, ...], dtype: np.dtype[Any]) -> ACCLBuffer:
        """Make a buffer of a block of device memory."""
        return np.ndarray.__new__(cls, shape, dtype, buffer=memoryview(block))

    if TYPE_CHECKING:
        # An index gives a buffer, or an element.
        def __getitem__(self, key: Any, /) -> Any: ...

    @property
    def physical_address(self) -> int | None:
        """Device address of its first element; None if it has no device memory."""
        found = block_of(self)
        return None if found is None else found[0].address + found[1]

    @property
    def device_address(self) -> int | None:
        """The same as `physical_address`."""
        return self.physical_address

    def _part(self, what: str) -> tuple[Block, int]:
        found = block_of(self)
        if found is None:
            raise ACCLArgumentError(
                f"{what}: this array has no device memory, as it is the result of a calculation "
                "or a copy"
            )
        if not self.flags.c_contiguous:
            raise ACCLArgumentError(f"{what}: the array is not contiguous")
        return found

    def sync_to_device(self) -> None:
        """Copy the host's view to the device."""
        block, offset = self._part("sync_to_device")
        block.copy(offset, self.nbytes, True)

    def sync_from_device(self) -> None:
        """Copy the device's memory to the host's view."""
        block, offset = self._part("sync_from_device")
        if not self.flags.writeable:
            raise ACCLArgumentError("sync_from_device: the array is read-only")
        block.copy(offset, self.nbytes, False)

    def flush(self) -> None:
        """Call `sync_to_device()`, under PYNQ's name."""
        self.sync_to_device()

    def invalidate(self) -> None:
        """Call `sync_from_device()`, under PYNQ's name."""
        self.sync_from_device()

    def preallocate_memory(self) -> None:
        """Check that the buffer has memory, as it always does until it is freed."""
        if self._part("preallocate_memory")[0].freed:
            raise ACCLClosedError("preallocate_memory: the buffer was freed")

    def freebuffer(self) -> None:
        """Free the whole buffer: calls then reject it and its slices.

        The memory is released when no array refers to it, so that the host's view stays valid.
        """
        self._part("freebuffer")[0].free()

    free_buffer = freebuffer

    def __enter__(self) -> ACCLBuffer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.freebuffer()

    def __reduce__(self) -> Any:
        # A pickle or a deep copy is an ordinary array, without device memory.
        return np.asarray(self).__reduce__()
