# SPDX-License-Identifier: BSD-3-Clause
"""The steps that all calls share."""

cimport cython
from cpython.long cimport PyLong_CheckExact
from cpython.number cimport PyIndex_Check
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset
from accl._handle cimport ACCLHandle, run_call, start_call
from accl._operand cimport (
    Moved,
    Operand,
    dtype_code,
    dtype_name,
    engine_dtype,
    moved,
    own_codes,
    reduced_names,
    sync,
)
from accl._staging cimport Stage
from accl.libaccl cimport (
    ACCL_ETH_COMPRESSED,
    ACCL_INT64,
    ACCL_NONE,
    ACCL_OP0_COMPRESSED,
    ACCL_OP1_COMPRESSED,
    ACCL_PROD,
    ACCL_RES_COMPRESSED,
    ACCL_WORK_COMPUTES,
    accl_call,
    accl_operation_facts,
)

import warnings
from operator import index

import numpy as np

from accl.errors import ACCLArgumentError, ACCLDtypeError, ACCLNotConfiguredError

__all__ = ["Calls"]

cdef extern from "Python.h":
    # Calls __index__() where there is one.
    long long PyLong_AsLongLongAndOverflow(object value, int *overflow) except? -1

cdef extern from *:
    """
    #include "accl.h"
    #define IN_ORDER(value)
    static const struct accl_operation_facts operations[] = {
        ACCL_OPERATION_ROWS(ACCL_OPERATION_FACTS, IN_ORDER)};
    enum { OPERATIONS = sizeof operations / sizeof *operations };
    """
    const accl_operation_facts operations[]
    const int OPERATIONS

_ON_DEVICE = (
    "ACCL: async run returns data on FPGA, user must sync_from_device() after waiting"
)
zero_size = "zero size buffer"


cdef bint take_async(dict more, bint run_async, str name) except -1:
    for key in more:
        if key != "async":
            raise TypeError(f"{name}() got an unexpected keyword argument {key!r}")
    return bool(more["async"]) or run_async


cdef int check_elements(Operand *operand, uint64_t needed, str what, str name) except -1:
    if <uint64_t>operand.elements < needed:
        raise ACCLArgumentError(
            f"{name}: {what} has {operand.elements} elements, but {needed} are required"
        )
    return 0


cdef uint32_t to_function(object func, str name) except? 0xffffffff:
    cdef int overflow = 0
    cdef long long value
    if not PyIndex_Check(func):
        raise TypeError(
            f"{name}: func must be an ACCLReduceFunctions, such as ACCLReduceFunctions.SUM, not "
            f"{type(func).__name__}"
        )
    value = PyLong_AsLongLongAndOverflow(func, &overflow)
    if overflow or not 0 <= value <= ACCL_PROD:
        raise ACCLArgumentError(
            f"{name}: func must be SUM (0), MAX (1), MIN (2) or PROD (3), not {func!r}"
        )
    return <uint32_t>value


@cython.final
cdef class Caller:
    """The device of an `accl`, and the configuration that calls use."""

    def __cinit__(self):
        self.check_return_value_flag = True

    def __dealloc__(self):
        free(self.sizes)
        free(self.locals)

    cdef int add_communicator(self, uint32_t size, uint32_t local_rank) except -1:
        cdef size_t bytes = (self.n_comms + 1) * sizeof(uint32_t)
        cdef uint32_t *sizes = <uint32_t *>realloc(self.sizes, bytes)
        cdef uint32_t *ranks
        if sizes is NULL:
            raise MemoryError()

        self.sizes = sizes
        ranks = <uint32_t *>realloc(self.locals, bytes)
        if ranks is NULL:
            raise MemoryError()

        self.locals = ranks
        sizes[self.n_comms] = size
        ranks[self.n_comms] = local_rank
        self.n_comms += 1
        return 0

    cdef int remove_communicator(self, uint32_t comm) except -1:
        self.sizes[comm] = 0
        return 0

    cdef int set_configs(self, object configs) except -1:
        cdef set singles = set(own_codes())
        cdef uint32_t code
        for pair in configs:
            if pair[0] == pair[1]:
                code = dtype_code(pair[0], "configure_arithmetic")
                if code >> 8:
                    raise ACCLDtypeError(
                        f"configure_arithmetic: no arithmetic for {pair[0]}"
                    )
                singles.add(code)

        self.configs = configs
        for code in range(256):
            self.singles[code] = code in singles
        return 0

    cdef int begin(self, accl_call *call, uint32_t operation, object comm_id,
                   str name) except -1:
        cdef long long comm
        cdef int overflow = 0
        if not self.config_rdy:
            if self.device is not None and self.device.closing:
                self.device.enter(name)
            raise ACCLNotConfiguredError(
                f"{name}: CCLO not configured, cannot call; set up rx buffers and a communicator"
            )

        comm = PyLong_AsLongLongAndOverflow(comm_id, &overflow)
        if overflow or comm < 0 or comm >= self.n_comms:
            raise ACCLArgumentError(
                f"{name}: no communicator {comm_id}; there are {self.n_comms}"
            )
        if self.sizes[comm] == 0:
            raise ACCLArgumentError(f"{name}: communicator {comm_id} was freed")

        memset(call, 0, sizeof(accl_call))
        call.size = sizeof(accl_call)
        call.operation = operation
        call.comm = <uint32_t>comm
        return 0

    cdef int set_root(self, accl_call *call, object root, str what, str name) except -1:
        cdef int overflow = 0
        cdef long long rank = PyLong_AsLongLongAndOverflow(root, &overflow)
        if overflow or rank < 0 or rank >= self.sizes[call.comm]:
            raise ACCLArgumentError(
                f"{name}: {what} is {root}, and communicator {call.comm} has the ranks 0 to "
                f"{self.sizes[call.comm] - 1}"
            )
        call.root_src_dst = <uint32_t>rank
        return 0

    cdef int set_count(self, accl_call *call, object count, Py_ssize_t whole,
                       str name) except -1:
        cdef int overflow = 0
        cdef long long value
        if count is None:
            call.count = whole
            return 0
        if not PyLong_CheckExact(count):
            if isinstance(count, float) and count.is_integer():
                count = int(count)
            else:
                try:
                    count = index(count)
                except TypeError:
                    raise TypeError(
                        f"{name}: count must be a whole number of elements, not {count!r}"
                    ) from None

        value = PyLong_AsLongLongAndOverflow(count, &overflow)
        if overflow or value < 0 or value > 1 << 48:
            raise ACCLArgumentError(f"{name}: count must not be negative, but is {count}")

        call.count = value
        return 0

    cdef int set_types(self, accl_call *call, uint32_t op0, uint32_t op1, uint32_t res,
                       object compress, str name) except -1:
        cdef uint32_t one = op0 if op0 != ACCL_NONE else op1 if op1 != ACCL_NONE else res
        cdef Moved known
        if (
            compress is None
            and (op1 == one or op1 == ACCL_NONE)
            and (res == one or res == ACCL_NONE)
            and one != ACCL_NONE
        ):
            if one < 256 and self.singles[one]:
                call.dtype = one
                return 0
            if _moves(call.operation):
                moved(one, &known)
                call.meaning = known.meaning
                # finish() counts in numbers of the engine.
                call.dtype = engine_dtype(one) | known.units << 8
                return 0

        return _set_mixed(self, call, op0, op1, res, compress, name)

    cdef object finish(self, accl_call *call, Operand *result, Py_ssize_t elements, bint to_fpga,
                       bint run_async, object waitfor, tuple keep, str name):
        cdef ACCLHandle handle
        cdef uint32_t retcode
        if call.dtype >> 8:
            if call.count > (<uint64_t>1 << 56) // (call.dtype >> 8):
                raise ACCLArgumentError(f"{name}: {call.count} elements are too many")
            call.count *= call.dtype >> 8
            call.dtype = engine_dtype(call.dtype)
        if run_async:
            if result is not NULL and result.stage is not NULL:
                handle = start_call(self.device, call, name, keep, waitfor)
                handle.elements = elements
                handle.stage = <object>result.stage
                return handle
            if not to_fpga and result is not NULL and not self.device.unified:
                warnings.warn(_ON_DEVICE, stacklevel=1)
            return start_call(self.device, call, name, keep, waitfor)

        if not waitfor:
            retcode = run_call(self.device, call, name, self.check_return_value_flag, keep)
        else:
            handle = start_call(self.device, call, name, keep, waitfor)
            if self.check_return_value_flag:
                handle.wait()
            else:
                handle.exception()
            retcode = handle.retcode

        if result is NULL:
            return None
        if result.stage is not NULL:
            if retcode == 0:
                (<Stage><object>result.stage).copy_back(elements)
        elif not to_fpga:
            sync(result, elements, False)

        return None


cdef class Calls:
    """The state that the classes with the methods of an `accl` share.

    They are extension types, as a call of four bytes takes less than a microsecond, and have
    methods only, so that a class can derive from several.
    """

    def __cinit__(self):
        self._caller = Caller()

    def __reduce_ex__(self, protocol):
        raise TypeError("an accl cannot be pickled")

    @property
    def config_rdy(self):
        """True if calls can be made."""
        return self._caller.config_rdy

    @config_rdy.setter
    def config_rdy(self, bint value):
        self._caller.config_rdy = value

    @property
    def check_return_value_flag(self):
        """True if failed calls raise an exception."""
        return self._caller.check_return_value_flag

    @check_return_value_flag.setter
    def check_return_value_flag(self, bint value):
        self._caller.check_return_value_flag = value


cdef const accl_operation_facts *facts_of(str name) except NULL:
    """Find an operation of accl.h by the name of its method."""
    cdef bytes wanted = name.upper().encode()
    cdef int i
    for i in range(OPERATIONS):
        if operations[i].name == wanted:
            return &operations[i]
    raise LookupError(f"accl.h has no operation {name}")


cdef bint _moves(uint32_t operation) noexcept:
    """Tell whether an operation accepts elements of any type: it has some, and adds none."""
    cdef const accl_operation_facts *facts
    cdef int i
    for i in range(OPERATIONS):
        facts = &operations[i]
        if facts.operation == operation:
            return facts.work != ACCL_WORK_COMPUTES and (
                facts.root_reads or facts.reads or facts.writes
            )
    return False


cdef int _refuse_moved(Caller caller, accl_call *call, set types, object compress,
                       str name) except -1:
    """Raise the error for elements that a call does not support."""
    unknown = sorted(dtype_name(code) for code in types if code >> 8)
    if unknown and not _moves(call.operation):
        raise ACCLDtypeError(
            f"{name}: no arithmetic for {', '.join(unknown)}: reductions are of "
            f"{', '.join(reduced_names())}, in the machine's byte order"
        )

    names = sorted(dtype_name(code) for code in types)
    if compress is not None:
        raise ACCLDtypeError(
            f"{name}: no compression of {', '.join(names)}, only of float32 to float16"
        )

    raise ACCLDtypeError(f"{name}: no conversion between {' and '.join(names)}")


cdef int _set_mixed(Caller caller, accl_call *call, uint32_t op0, uint32_t op1, uint32_t res,
                    object compress, str name) except -1:
    """Find the configuration for two types, or for compression on the wire."""
    cdef uint32_t small
    cdef uint32_t big
    types = {op0, op1, res} - {ACCL_NONE}
    if any(code > ACCL_INT64 for code in types):
        _refuse_moved(caller, call, types, compress, name)

    types = sorted(types, key=lambda code: np.dtype(dtype_name(code)).itemsize)
    if compress is not None:
        small = dtype_code(compress, name)
        if small not in types:
            types.insert(0, small)
        elif len(types) == 2 and types[1] == small:
            types.reverse()
        call.compression_flags = ACCL_ETH_COMPRESSED

    names = [dtype_name(code) for code in types]
    if len(types) > 2:
        raise ACCLDtypeError(
            f"{name}: Unsupported data type combination: {', '.join(names)}"
        )

    small, big = types[0], types[len(types) - 1]
    if (names[len(names) - 1], names[0]) not in caller.configs:
        raise ACCLDtypeError(
            f"{name}: no arithmetic configuration for {names[len(names) - 1]}"
            + (f" with {names[0]}" if len(names) > 1 else "")
        )

    call.dtype = big
    if big == small:
        return 0

    call.compressed_dtype = small
    if op0 == small:
        call.compression_flags |= ACCL_OP0_COMPRESSED
    if op1 == small:
        call.compression_flags |= ACCL_OP1_COMPRESSED
    if res == small:
        call.compression_flags |= ACCL_RES_COMPRESSED

    return 0
