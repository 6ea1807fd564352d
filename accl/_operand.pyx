# SPDX-License-Identifier: BSD-3-Clause
"""Converts arrays to device addresses and element types, without calling NumPy."""

from cpython.object cimport PyObject
from libc.stdint cimport uint32_t, uint64_t, uintptr_t
from accl._device cimport Device
from accl._memory cimport Block
from accl._ndarray cimport (
    ACCL_C_CONTIGUOUS,
    ACCL_WRITEABLE,
    accl_ndarray,
    element_count,
    fields,
)
from accl.libaccl cimport (
    ACCL_BITS16,
    ACCL_BITS32,
    ACCL_BITS64,
    ACCL_ARITHMETIC_NONE,
    ACCL_BITS8,
    ACCL_INT64,
    ACCL_INT8,
    ACCL_NONE,
)

from math import gcd
from sys import modules
from zlib import crc32

import numpy as np

# Rejects a NumPy whose arrays have another layout.
import accl._ndarray  # no-cython-lint
from accl.errors import ACCLClosedError, ACCLDtypeError
from offchip.errors import ReadOnlyError

__all__ = ["block_of", "dtype_number"]

cdef object _ndarray = np.ndarray
# The type that was seen last and is not of masked arrays.
cdef object _unmasked = np.ndarray

cdef extern from *:
    """
    #include "accl.h"
    #define NUMBER_ROW(name, value, bytes, text, arithmetic) \
        {text, value, bytes, ACCL_ARITHMETIC_##arithmetic},
    static const struct accl_number {
        const char *name;
        uint32_t code;
        Py_ssize_t bytes;
        int arithmetic;
    } numbers[] = {ACCL_DTYPE_LIST(NUMBER_ROW)};
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    """
    struct accl_number:
        const char *name
        uint32_t code
        Py_ssize_t bytes
        int arithmetic
    const accl_number numbers[]
    const int NUMBERS

# The types of accl.h that have arithmetic, by NumPy's name.
cdef object _codes = {
    numbers[i].name.decode(): numbers[i].code
    for i in range(NUMBERS)
    if numbers[i].arithmetic != ACCL_ARITHMETIC_NONE
}
cdef object _names = {code: name for name, code in _codes.items()}
# NumPy's own, and their places in the table. bfloat16 is not among them.
cdef object _dtypes = []
cdef PyObject *_descrs[32]
cdef int _places[32]


cdef int _list_descrs() except -1:
    cdef int i
    for i in range(NUMBERS):
        name = numbers[i].name.decode()
        if name in _codes and name in np.sctypeDict:
            _places[len(_dtypes)] = i
            _dtypes.append(np.dtype(name))
            _descrs[len(_dtypes) - 1] = <PyObject *>_dtypes[len(_dtypes) - 1]
    return 0


_list_descrs()
cdef int _n_descrs = len(_dtypes)
cdef object _bytes = {ACCL_BITS8: 1, ACCL_BITS16: 2, ACCL_BITS32: 4, ACCL_BITS64: 8}
cdef object _bits = {1: ACCL_BITS8, 2: ACCL_BITS16, 4: ACCL_BITS32, 8: ACCL_BITS64}
# Other element types are only moved, as one or several numbers of the engine. Each has its own
# number above the engine's, so that they do not compare equal.
cdef object _moved = []
cdef object _meanings = []


cdef inline uint32_t _quick_code(PyObject *descr, Py_ssize_t *itemsize) noexcept:
    cdef int i
    for i in range(_n_descrs):
        if descr is _descrs[i]:
            itemsize[0] = numbers[_places[i]].bytes
            return numbers[_places[i]].code

    return ACCL_NONE


cdef object dtype_name(uint32_t code):
    if code >> 8:
        return str(_moved[(code >> 8) - 1])
    return _names.get(code) or f"V{next(size for size, bits in _bits.items() if bits == code)}"


cdef uint32_t dtype_code(object dtype, str name) except? 0xffffffff:
    cdef uint32_t code
    cdef uint32_t bits
    kind = np.dtype(dtype)
    code = _codes.get(kind.name, ACCL_NONE) if kind.isnative else ACCL_NONE
    if code != ACCL_NONE:
        return code
    if kind.hasobject:
        raise ACCLDtypeError(
            f"{name}: elements must not refer to Python objects, as those of type {kind} do"
        )

    if kind.itemsize == 0:
        raise ACCLDtypeError(f"{name}: elements of type {kind!r} have no bytes")

    # The largest number that divides the size: 8 has no larger one.
    bits = _bits[gcd(kind.itemsize, 8)]
    if kind not in _moved:
        _meanings.append(crc32(_description(kind).encode()) or 1)
        _moved.append(kind)

    return bits | <uint32_t>(_moved.index(kind) + 1) << 8


cdef object _description(object kind):
    """Describe a type by what is the same in all processes: names, places and types of fields."""
    if kind.subdtype is not None:
        return f"{kind.shape}{_description(kind.base)}"
    if kind.names is None:
        return f"{kind.name} {kind.str}"
    return str([(name, kind.fields[name][1], _description(kind.fields[name][0]))
                for name in kind.names]) + str(kind.itemsize)


cdef int moved(uint32_t code, Moved *found) except -1:
    found.units = 1
    found.meaning = 0
    if code >> 8:
        found.meaning = _meanings[(code >> 8) - 1]
        found.units = _moved[(code >> 8) - 1].itemsize // _bytes[engine_dtype(code)]

    return 0


cdef uint32_t whole_code(object dtype, str name) except? 0xffffffff:
    cdef uint32_t code = dtype_code(dtype, name)
    cdef Moved found
    moved(code, &found)
    if found.units > 1:
        kind = np.dtype(dtype)
        raise ACCLDtypeError(
            f"{name}: elements must have 1, 2, 4 or 8 bytes here, and {kind} has {kind.itemsize}"
        )
    return code


cdef object reduced_names():
    return list(_codes)


cdef object own_codes():
    return [code for code in _names if code > ACCL_INT64 or code == ACCL_INT8]


def dtype_number(dtype):
    """Return the number of an element type, 0 for one unknown to the engine."""
    return _codes.get(dtype.name, ACCL_NONE)


cdef Block _find_block(accl_ndarray *array):
    """Follow the bases of an array to its block; return None if it has none."""
    cdef PyObject *base = array.base
    cdef object owner
    while base is not NULL:
        owner = <object>base
        if type(owner) is Block:
            return owner
        if isinstance(owner, memoryview):
            owner = (<object>owner).obj
            if type(owner) is Block:
                return owner
        if not isinstance(owner, _ndarray):
            return None
        base = fields(owner).base

    return None


def block_of(array):
    """Find the block of device memory that an array is in.

    Returns
    -------
    tuple of (Block, int) or None
        The block, and the array's offset in it.
    """
    cdef Block block
    if not isinstance(array, _ndarray):
        return None

    block = _find_block(fields(array))
    if block is None:
        return None

    return block, <Py_ssize_t>(fields(array).data - block.host)


cdef bint _is_masked(object array) except -1:
    """Tell whether it is a masked array. There is none before somebody imports numpy.ma."""
    global _unmasked
    masked = getattr(modules.get("numpy.ma.core"), "MaskedArray", ())
    if isinstance(array, masked):
        return True
    _unmasked = type(array)
    return False


cdef bint take_found(Device device, object array, bint writes, Operand *operand, str what,
                     str name) except -1:
    cdef accl_ndarray *a
    cdef Block block
    cdef PyObject *base
    operand.stage = NULL
    if not isinstance(array, _ndarray):
        return False
    if type(array) is not _unmasked and _is_masked(array):
        raise TypeError(
            f"{name}: {what} is a masked array, and the engine does not support masks: pass "
            "x.filled(value) to send, or x.data to use all elements as they are"
        )

    a = fields(array)
    base = a.base
    if base is not NULL and type(<object>base) is Block:
        block = <Block>base
    else:
        block = _find_block(a)
        if block is None:
            return False
    if block.owner is not device.token:
        raise ValueError(f"{name}: {what} belongs to another accl; allocate it with this one")
    if block.freed:
        raise ACCLClosedError(f"{name}: {what} was freed")
    if not a.flags & ACCL_C_CONTIGUOUS:
        raise ValueError(
            f"{name}: {what} is not contiguous: the engine accesses contiguous memory only"
        )
    if writes and not a.flags & ACCL_WRITEABLE:
        raise ReadOnlyError(f"{name}: {what} is read-only, but receives the result")

    operand.dtype = _quick_code(a.descr, &operand.itemsize)
    if operand.dtype == ACCL_NONE:
        operand.dtype = dtype_code(<object>a.descr, name)
        operand.itemsize = (<object>a.descr).itemsize

    operand.elements = element_count(a)
    operand.offset = a.data - block.host
    if operand.elements == 0:
        operand.offset = 0

    operand.address = block.address + operand.offset
    operand.block = <PyObject *>block
    return True


cdef bint take_array(Device device, object array, bint writes, Operand *operand) noexcept:
    cdef accl_ndarray *a
    # MPI may carry messages still after a call that failed.
    if (
        device is None or not device.lib.is_soft or device.carrier is not None
        or not isinstance(array, _ndarray)
    ):
        return False

    a = fields(array)
    if not a.flags & ACCL_C_CONTIGUOUS or (writes and not a.flags & ACCL_WRITEABLE):
        return False

    operand.dtype = _quick_code(a.descr, &operand.itemsize)
    operand.elements = element_count(a)
    if (
        operand.dtype == ACCL_NONE or operand.elements == 0
        or <uintptr_t>a.data % <uintptr_t>operand.itemsize
    ):
        return False

    operand.offset = 0
    operand.address = <uint64_t><uintptr_t>a.data
    operand.block = NULL
    operand.stage = NULL
    return True


cdef int take(Device device, object array, bint writes, Operand *operand, str what,
              str name) except -1:
    if take_found(device, array, writes, operand, what, name):
        return 0
    if not isinstance(array, _ndarray):
        raise TypeError(
            f"{name}: {what} must be an ACCLBuffer from allocate(), not "
            f"{type(array).__name__}"
        )
    raise TypeError(
        f"{name}: {what} has no device memory: it is a NumPy array that was not made by "
        "allocate(), or the result of a calculation. Copy it into a buffer: buf[:] = x"
    )


cdef int take_unused(object array, Operand *operand) except -1:
    operand.dtype = ACCL_NONE
    operand.elements = 0
    operand.address = 0
    operand.block = NULL
    operand.stage = NULL
    if array is None or not isinstance(array, _ndarray):
        return 0

    operand.dtype = _quick_code(fields(array).descr, &operand.itemsize)
    return 0
