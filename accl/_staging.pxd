# SPDX-License-Identifier: BSD-3-Clause
"""Arrays without device memory as operands: a block of the device stands for them in a call."""

from accl._device cimport Device
from accl._memory cimport Block
from accl._operand cimport Operand


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
# Finds or makes the block for an array without device memory, and fills it if it is not WRITES.
# OPERAND borrows what is returned. ON_DEVICE: from_fpga or to_fpga, which have no meaning here.
#
# Calls have it in a variable that is assigned only then: counting references to None takes a
# tenth of a short call.
cdef Stage stage(Device device, object given, bint writes, bint on_device, Operand *operand,
                 str what, str name)


cdef inline object staged(Operand *operand):
    return <object>operand.stage if operand.stage is not NULL else None
