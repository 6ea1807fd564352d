# SPDX-License-Identifier: BSD-3-Clause
"""Arrays without device memory as operands: a block of device memory replaces them in a call."""

from accl._device cimport Device
from accl._memory cimport Block
from accl._operand cimport Operand


cdef class Stage:
    cdef Device device
    cdef Block block
    # The caller's array, and the block as an array of the same shape.
    cdef object array
    cdef object view
    cdef object lock
    cdef bint copied

    # Copies the first ELEMENTS of the result from the device into the caller's array, once.
    cdef int copy_back(self, Py_ssize_t elements) except -1


# Converts to an array. WRITES: it must be writable.
cpdef object as_array(object given, bint writes, str what, str name)
# Finds or makes the block for an array without device memory, and fills it if it is not WRITES.
# OPERAND borrows the result. ON_DEVICE: from_fpga or to_fpga, which is an error here.
#
# Calls have it in a variable that is assigned only then: counting references to None takes a
# tenth of a short call.
cdef Stage stage(Device device, object given, bint writes, bint on_device, Operand *operand,
                 str what, str name)


cdef inline object staged(Operand *operand):
    return <object>operand.stage if operand.stage is not NULL else None
