# SPDX-License-Identifier: BSD-3-Clause
"""Arrays without device memory as operands: a block of the device stands for them in a call."""

from accl._device cimport Device
from accl._memory cimport Block
from accl._operand cimport Operand, take_found


cdef class Stage:
    cdef Device device
    cdef Block block
    # What the caller gave, and the block seen as the same array.
    cdef object array
    cdef object view
    cdef object lock
    cdef bint copied

    # Copies the first ELEMENTS of the result from the device into the caller's array, once.
    cdef int copy_back(self, Py_ssize_t elements) except -1


# An array for anything that has one. WRITES: it must be possible to write to it.
cdef object as_array(object given, bint writes, str what, str name)
# Finds or makes the block for an array, and fills it if it is not WRITES.
cdef Stage stage(Device device, object given, bint writes, Operand *operand, str what, str name)
# Refuses from_fpga and to_fpga where they have no meaning.
cdef int refuse_flag(str what, str name) except -1


# Looks at the operand of a call; what stands for it, None if it has device memory itself. The
# operand borrows it.
cdef inline object take(Device device, object array, bint writes, Operand *operand, str what,
                        str name):
    if take_found(device, array, writes, operand, what, name):
        return None
    return stage(device, array, writes, operand, what, name)


cdef inline int check_flag(Operand *operand, bint on_device, str what, str name) except -1:
    if on_device and operand.stage is not NULL:
        refuse_flag(what, name)
    return 0
