# SPDX-License-Identifier: BSD-3-Clause
"""The state that all calls use: the device, the communicators' sizes, the element types."""

from cpython.object cimport PyObject
from libc.stdint cimport uint32_t, uint64_t
from accl._device cimport Device
from accl._operand cimport Operand
from accl.libaccl cimport accl_call, accl_operation_facts


cdef class Caller:
    cdef Device device
    # Ranks of each communicator (0: it was freed), and which is this one.
    cdef uint32_t *sizes
    cdef uint32_t *locals
    cdef uint32_t n_comms
    # Bits of element types that have an arithmetic configuration of their own.
    # By number of accl.h: whether calls of one type may have it.
    cdef bint singles[256]
    cdef object configs
    cdef bint check_return_value_flag
    cdef bint config_rdy

    cdef int add_communicator(self, uint32_t size, uint32_t local_rank) except -1
    cdef int remove_communicator(self, uint32_t comm) except -1
    cdef int set_configs(self, object configs) except -1

    cdef int begin(self, accl_call *call, uint32_t operation, object comm_id, str name) except -1
    cdef int set_root(self, accl_call *call, object root, str what, str name) except -1
    cdef int set_count(self, accl_call *call, object count, Py_ssize_t whole, str name) except -1
    # From the types of the operands and the result (ACCL_NONE: absent).
    cdef int set_types(self, accl_call *call, uint32_t op0, uint32_t op1, uint32_t res,
                       object compress, str name) except -1
    # Executes or starts it; RESULT (may be NULL) of ELEMENTS is copied back to the host.
    cdef object finish(self, accl_call *call, Operand *result, Py_ssize_t elements, bint to_fpga,
                       bint run_async, object waitfor, tuple keep, str name)


cdef class Calls:
    cdef object __weakref__
    cdef readonly Caller _caller


# The keyword arguments of a call, borrowed from the method.
cdef struct Options:
    bint from_fpga
    bint to_fpga
    bint run_async
    PyObject *compress_dtype
    PyObject *waitfor


cdef inline Options make_options(bint from_fpga, bint to_fpga, object compress_dtype,
                                 bint run_async, object waitfor) noexcept:
    cdef Options options
    options.from_fpga = from_fpga
    options.to_fpga = to_fpga
    options.run_async = run_async
    options.compress_dtype = <PyObject *>compress_dtype
    options.waitfor = <PyObject *>waitfor
    return options


# Of the operation that accl.h names like the method NAME.
cdef const accl_operation_facts *facts_of(str name) except NULL
# Removes `async` from the further keywords; any other one is an error.
cdef bint take_async(dict more, bint run_async, str name) except -1
cdef int check_elements(Operand *operand, uint64_t needed, str what, str name) except -1
cdef uint32_t to_function(object func, str name) except? 0xffffffff
cdef object zero_size
