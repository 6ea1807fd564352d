# SPDX-License-Identifier: BSD-3-Clause
"""Arrays without device memory as operands: a block of device memory replaces them in a call.

Operands are copied when the call is made, results when it has finished. A few blocks per device
are kept for later calls.
"""

cimport cython
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.object cimport PyObject
from accl._device cimport Device
from accl._memory cimport Block
from accl._operand cimport Operand, dtype_code
from offchip.buffer cimport has_array, shared_array

from threading import Lock

import numpy as np

from accl.errors import ACCLMemoryError
from offchip.errors import ReadOnlyError

__all__ = ["Stage", "as_array"]

# Limits of the blocks that are kept: their number, and their bytes.
cdef enum:
    KEPT_BLOCKS = 4
    KEPT_BYTES = 64 * 1024 * 1024
    SMALLEST = 4096


@cython.final
@cython.no_gc_clear
cdef class Stage:
    """A block that replaces an array in one call."""

    def __init__(self):
        raise TypeError("a Stage comes from a call")

    def __reduce_ex__(self, protocol):
        raise TypeError("a Stage cannot be pickled: it is memory of a device")

    def __dealloc__(self):
        # The call has finished, as it keeps the blocks of its operands.
        if self.block is not None and not self.device.closing:
            _put_back(self.device, self.block)

    cdef int copy_back(self, Py_ssize_t elements) except -1:
        cdef object whole
        with self.lock:
            if self.copied:
                return 0
            self.block.sync(0, elements * self.array.itemsize, False)
            if elements == self.array.size:
                np.copyto(self.array, self.view)
            else:
                whole = self.view.reshape(-1)
                self.array.flat[:elements] = whole[:elements]
            self.copied = True

        return 0


cdef int _put_back(Device device, Block block) except -1:
    cdef object kept = device.staging
    kept.append(block)
    kept.sort(key=_size)
    while len(kept) > KEPT_BLOCKS:
        del kept[0]

    while kept and sum(map(_size, kept)) > KEPT_BYTES:
        kept.pop()

    return 0


def _size(Block block):
    return block.nbytes


cdef Block _get_block(Device device, Py_ssize_t nbytes):
    cdef object kept = device.staging
    cdef Py_ssize_t i
    for i in range(len(kept)):
        if (<Block>kept[i]).nbytes >= nbytes:
            return kept.pop(i)

    # The soft engine reaches memory of the host as it reaches its own: nothing is copied twice.
    cdef bint host_only = device.lib.is_soft
    # Rounded up, so that slowly growing calls find one.
    try:
        return device.allocate(max(SMALLEST, nbytes + nbytes // 8), host_only=host_only)
    except ACCLMemoryError:
        kept.clear()
        return device.allocate(max(nbytes, 1), host_only=host_only)


cdef bint _repeats(object array):
    return any(
        stride == 0 and length > 1
        for stride, length in zip(array.strides, array.shape, strict=True)
    )


cpdef object as_array(object given, bint writes, str what, str name):
    cdef object array
    if isinstance(given, np.ndarray):
        array = given
    elif has_array(given) and not isinstance(given, np.generic):
        array = shared_array(given, writes, f"{name}: {what}")
    elif PyObject_CheckBuffer(given) and not isinstance(given, np.generic):
        array = np.asarray(memoryview(given))
    elif isinstance(given, (np.number, np.bool_, int, float, complex)):
        raise TypeError(
            f"{name}: {what} must be an array, not the number {given}: a number is an array of one "
            "element, np.array([number])"
        )
    else:
        raise TypeError(
            f"{name}: {what} must be an array: a buffer of allocate(), a NumPy array, or an object "
            f"with DLPack, __array_interface__ or a buffer, not {type(given).__name__}"
        )

    if writes and not array.flags.writeable:
        raise ReadOnlyError(f"{name}: {what} is read-only, but receives the result")
    if writes and array.size > 1 and 0 in array.strides and _repeats(array):
        raise ValueError(
            f"{name}: several elements of {what} are at the same place (a stride is 0, as after "
            "broadcast_to()), but it receives the result: pass an array of its own"
        )

    return array


cdef Stage stage(Device device, object given, bint writes, bint on_device, Operand *operand,
                 str what, str name):
    cdef Stage made
    cdef object array = as_array(given, writes, what, name)
    if on_device:
        raise ValueError(
            f"{name}: {what} has no device memory, so its data cannot already be there, nor stay "
            "there: leave from_fpga and to_fpga out, or use a buffer of allocate()"
        )

    operand.dtype = dtype_code(array.dtype, name)
    operand.itemsize = array.itemsize
    operand.elements = array.size
    operand.offset = 0
    made = Stage.__new__(Stage)
    made.device = device
    made.array = array
    if device is None:
        raise TypeError(f"{name}: this accl was not initialised")

    made.block = _get_block(device, array.nbytes)
    made.view = np.ndarray(array.shape, array.dtype, buffer=made.block)
    made.lock = Lock()
    if not writes:
        np.copyto(made.view, array)

    operand.address = made.block.address
    operand.block = <PyObject *>made.block
    operand.stage = <PyObject *>made
    return made
