# SPDX-License-Identifier: BSD-3-Clause
"""The operands and results of calls: addresses and element types of arrays."""

from cpython.object cimport PyObject
from libc.stdint cimport uint32_t, uint64_t
from accl._device cimport Device
from accl._memory cimport Block


cdef struct Operand:
    uint64_t address
    Py_ssize_t elements
    Py_ssize_t itemsize
    Py_ssize_t offset  # in the block
    uint32_t dtype     # ACCL_NONE: no operand
    # Borrowed from the caller's array; NULL if that is used where it is.
    PyObject *block
    # The Stage of the block, also borrowed; NULL if the array has device memory.
    PyObject *stage


# Examines an array; false if it has no device memory. WHAT and NAME are for messages.
cdef bint take_found(Device device, object array, bint writes, Operand *operand, str what,
                     str name) except -1
# The same for an array without device memory, which a call of the soft engine may use where it is
# until it returns; false if it has to be copied, or is refused.
cdef bint take_array(Device device, object array, bint writes, Operand *operand) noexcept
# The same; it must have device memory.
cdef int take(Device device, object array, bint writes, Operand *operand, str what,
              str name) except -1
# The same for an array that this rank does not need: only its type, if it has one.
cdef int take_unused(object array, Operand *operand) except -1
# The number of an element type; raises for unsupported ones. The low byte is the engine's number.
cdef uint32_t dtype_code(object dtype, str name) except? 0xffffffff
# The same for a type that one number of the engine is enough for; raises for others.
cdef uint32_t whole_code(object dtype, str name) except? 0xffffffff


cdef struct Moved:
    uint32_t units    # numbers of the engine per element
    uint32_t meaning  # accl_call.meaning; 0 for types that the engine knows


cdef int moved(uint32_t code, Moved *found) except -1
cdef inline uint32_t engine_dtype(uint32_t code) noexcept:
    return code & 0xff
cdef object dtype_name(uint32_t code)
# The names of the types that reductions combine.
cdef object reduced_names()
# Their numbers, of those that need no arithmetic configuration: the original has none for them.
cdef object own_codes()


cdef inline int sync(Operand *operand, Py_ssize_t elements, bint to_device) except -1:
    cdef Block block
    if operand.block is NULL:
        return 0

    block = <Block>operand.block
    if not block.shared:
        block.sync(operand.offset, elements * operand.itemsize, to_device)
    return 0


# Bytes up to which two copies around a call take less time than the choice.
cdef enum:
    COPIED_AROUND = 4096


# True if a call that is made at once should copy between host and device itself, which the soft
# engine can.
cdef inline bint is_apart(Device device, Operand *operand) noexcept:
    return (
        operand.elements * operand.itemsize > COPIED_AROUND and operand.block is not NULL
        and not (<Block>operand.block).shared and device.lib.is_soft
    )


# The same for operands of which the whole is copied, whatever the count is.
cdef inline bint is_whole_apart(Device device, Operand *operand, uint64_t count) noexcept:
    return count == <uint64_t>operand.elements and is_apart(device, operand)
