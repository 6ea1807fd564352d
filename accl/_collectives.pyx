# SPDX-License-Identifier: BSD-3-Clause
"""The collectives, as methods. Parameters of all of them:

comm_id
    Number of the communicator.
from_fpga
    The data is already in device memory: it is not copied there.
to_fpga
    The result stays in device memory.
compress_dtype
    Type of the data on the wire: float16, for float32.
run_async, async
    Return a handle instead of waiting; ``async`` is to be written ``**{"async": True}``.
waitfor
    Handles of calls that must finish first.

Buffers of `allocate()` are used directly. Other arrays, of NumPy or with DLPack, are copied to the
device when the call is made, and results back when it has finished.
"""

cimport cython
from libc.stdint cimport uint32_t, uint64_t
from accl._calls cimport (
    Caller,
    Calls,
    Options,
    check_elements,
    make_options,
    take_async,
    to_function,
    zero_size,
)
from accl._operand cimport Operand, sync, take_found, take_unused
from accl._staging cimport stage, staged
from accl.libaccl cimport (
    ACCL_ALLGATHER,
    ACCL_ALLREDUCE,
    ACCL_ALLTOALL,
    ACCL_BARRIER,
    ACCL_BCAST,
    ACCL_GATHER,
    ACCL_NONE,
    ACCL_REDUCE,
    ACCL_REDUCE_SCATTER,
    ACCL_SCATTER,
    accl_call,
)

import warnings

__all__ = ["Collectives"]


cdef enum:
    # For how many times its count an operation reads or writes: once per rank.
    EACH = -1

cdef enum:
    # Which operand has the default of the count: all of it, or a rank's part.
    SOURCE
    RESULT
    PART_OF_SOURCE


@cython.final
cdef class Operation:
    """A row of the table of operations that have a source and a result."""

    cdef str name
    cdef uint32_t code
    # How many times the count the root and the others read and write. Without a root all are
    # others.
    cdef int root_reads
    cdef int root_writes
    cdef int reads
    cdef int writes
    cdef int counted
    cdef bint may_be_empty

    def __init__(self, name, code, *, reads, writes, root_reads=0, root_writes=0, counted=SOURCE,
                 may_be_empty=False):
        self.name = name
        self.code = code
        self.root_reads = root_reads
        self.root_writes = root_writes
        self.reads = reads
        self.writes = writes
        self.counted = counted
        self.may_be_empty = may_be_empty


cdef Operation _SCATTER = Operation(
    "scatter", ACCL_SCATTER, root_reads=EACH, root_writes=1, reads=0, writes=1, counted=RESULT
)
cdef Operation _GATHER = Operation(
    "gather", ACCL_GATHER, root_reads=1, root_writes=EACH, reads=1, writes=0
)
cdef Operation _REDUCE = Operation(
    "reduce", ACCL_REDUCE, root_reads=1, root_writes=1, reads=1, writes=0
)
cdef Operation _ALLGATHER = Operation(
    "allgather", ACCL_ALLGATHER, reads=1, writes=EACH, may_be_empty=True
)
cdef Operation _ALLREDUCE = Operation(
    "allreduce", ACCL_ALLREDUCE, reads=1, writes=1, may_be_empty=True
)
cdef Operation _REDUCE_SCATTER = Operation(
    "reduce_scatter", ACCL_REDUCE_SCATTER, reads=EACH, writes=1, counted=RESULT
)
cdef Operation _ALLTOALL = Operation(
    "alltoall", ACCL_ALLTOALL, reads=EACH, writes=EACH, counted=PART_OF_SOURCE
)


cdef inline uint64_t _times(int multiple, uint64_t ranks) noexcept:
    return ranks if multiple == EACH else <uint64_t>multiple


cdef object _run(Caller caller, Operation operation, accl_call *call, bint is_root, object sbuf,
                 object rbuf, object count, Options *options):
    """Execute `call`, whose root and function are set, for any operation of the table."""
    cdef Operand source
    cdef Operand result
    cdef str name = operation.name
    cdef uint64_t ranks = caller.sizes[call.comm]
    cdef uint64_t reads = _times(operation.root_reads if is_root else operation.reads, ranks)
    cdef uint64_t writes = _times(operation.root_writes if is_root else operation.writes, ranks)
    cdef object _source_stage
    cdef object _result_stage

    if not reads:
        take_unused(sbuf, &source)
    else:
        if not take_found(caller.device, sbuf, False, &source, "sbuf", name):
            _source_stage = stage(caller.device, sbuf, False, options.from_fpga, &source, "sbuf",
                                  name)
        call.address[0] = source.address

    if not writes:
        take_unused(rbuf, &result)
    else:
        if not take_found(caller.device, rbuf, True, &result, "rbuf", name):
            _result_stage = stage(caller.device, rbuf, True, options.to_fpga, &result, "rbuf",
                                  name)
        call.address[2] = result.address

    if operation.counted == RESULT:
        caller.set_count(call, count, result.elements, name)
    elif operation.counted == PART_OF_SOURCE:
        caller.set_count(call, count, source.elements // <Py_ssize_t>ranks, name)
    else:
        caller.set_count(call, count, source.elements, name)
    if source.elements < <Py_ssize_t>(reads * call.count):
        check_elements(&source, reads * call.count, "sbuf", name)
    if result.elements < <Py_ssize_t>(writes * call.count):
        check_elements(&result, writes * call.count, "rbuf", name)

    caller.set_types(call, source.dtype, ACCL_NONE, result.dtype, <object>options.compress_dtype,
                     name)
    if call.count == 0 and not operation.may_be_empty:
        warnings.warn(zero_size, stacklevel=1)

    if reads and not options.from_fpga:
        sync(&source, reads * call.count, True)

    return caller.finish(
        call, &result if writes else NULL, writes * call.count, options.to_fpga,
        options.run_async, <object>options.waitfor,
        (sbuf, rbuf, staged(&source), staged(&result))
        if options.run_async or <object>options.waitfor or source.stage is not NULL
        or result.stage is not NULL
        else (),
        name
    )


cdef class Collectives(Calls):
    """The collective calls of an `accl`."""

    def bcast(self, buf, count=None, root=0, comm_id=0, from_fpga=False, to_fpga=False,
              compress_dtype=None, run_async=False, waitfor=(), **more):
        """Send the root's data to all ranks.

        Parameters
        ----------
        buf : ACCLBuffer
            Sent at the root, written elsewhere.
        count : int, optional
            Number of elements; all of `buf` by default.
        root : int
            The rank that sends.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        cdef Caller caller = self._caller
        cdef accl_call call
        cdef Operand operand
        cdef bint is_root
        cdef bint later = run_async
        cdef object operand_stage
        if more:
            later = take_async(more, later, "bcast")

        caller.begin(&call, ACCL_BCAST, comm_id, "bcast")
        caller.set_root(&call, root, "root", "bcast")
        is_root = call.root_src_dst == caller.locals[call.comm]
        if not take_found(caller.device, buf, not is_root, &operand, "buf", "bcast"):
            operand_stage = stage(caller.device, buf, not is_root, from_fpga or to_fpga, &operand,
                                  "buf", "bcast")

        call.address[0] = operand.address
        caller.set_count(&call, count, operand.elements, "bcast")
        check_elements(&operand, call.count, "buf", "bcast")
        caller.set_types(&call, operand.dtype, ACCL_NONE, ACCL_NONE, compress_dtype, "bcast")
        if call.count == 0:
            warnings.warn(zero_size, stacklevel=1)
        if is_root and not from_fpga:
            sync(&operand, operand.elements, True)

        return caller.finish(
            &call, NULL if is_root else &operand,
            operand.elements if operand.stage is NULL else <Py_ssize_t>call.count, to_fpga, later,
            waitfor, (buf,) if operand.stage is NULL else (buf, operand_stage), "bcast"
        )

    def scatter(self, sbuf, rbuf, count=None, root=0, comm_id=0, from_fpga=False, to_fpga=False,
                compress_dtype=None, run_async=False, waitfor=(), **more):
        """Send each rank its part of the root's data.

        Parameters
        ----------
        sbuf : ACCLBuffer or None
            A part of `count` elements per rank; required at the root only.
        rbuf : ACCLBuffer
            Receives this rank's part.
        count : int, optional
            Number of elements of a part; the size of `rbuf` by default.
        root : int
            The rank that sends.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        cdef Caller caller = self._caller
        cdef accl_call call
        cdef Options options
        cdef bint is_root
        if more:
            run_async = take_async(more, run_async, "scatter")

        options = make_options(from_fpga, to_fpga, compress_dtype, run_async, waitfor)
        caller.begin(&call, ACCL_SCATTER, comm_id, "scatter")
        caller.set_root(&call, root, "root", "scatter")
        is_root = call.root_src_dst == caller.locals[call.comm]
        return _run(caller, _SCATTER, &call, is_root, sbuf, rbuf, count, &options)

    def gather(self, sbuf, rbuf, count=None, root=0, comm_id=0, from_fpga=False, to_fpga=False,
               compress_dtype=None, run_async=False, waitfor=(), **more):
        """Collect the parts of all ranks at the root.

        Parameters
        ----------
        sbuf : ACCLBuffer
            This rank's part.
        rbuf : ACCLBuffer or None
            Receives a part from each rank; required at the root only.
        count : int, optional
            Number of elements of a part; the size of `sbuf` by default.
        root : int
            The rank that receives.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        cdef Caller caller = self._caller
        cdef accl_call call
        cdef Options options
        cdef bint is_root
        if more:
            run_async = take_async(more, run_async, "gather")

        options = make_options(from_fpga, to_fpga, compress_dtype, run_async, waitfor)
        caller.begin(&call, ACCL_GATHER, comm_id, "gather")
        caller.set_root(&call, root, "root", "gather")
        is_root = call.root_src_dst == caller.locals[call.comm]
        return _run(caller, _GATHER, &call, is_root, sbuf, rbuf, count, &options)

    def allgather(self, sbuf, rbuf, count=None, comm_id=0, from_fpga=False, to_fpga=False,
                  compress_dtype=None, run_async=False, waitfor=(), **more):
        """Collect the parts of all ranks at every rank.

        Parameters
        ----------
        sbuf : ACCLBuffer
            This rank's part.
        rbuf : ACCLBuffer
            Receives a part from each rank.
        count : int, optional
            Number of elements of a part; the size of `sbuf` by default.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        cdef Caller caller = self._caller
        cdef accl_call call
        cdef Options options
        if more:
            run_async = take_async(more, run_async, "allgather")

        options = make_options(from_fpga, to_fpga, compress_dtype, run_async, waitfor)
        caller.begin(&call, ACCL_ALLGATHER, comm_id, "allgather")
        return _run(caller, _ALLGATHER, &call, False, sbuf, rbuf, count, &options)

    def reduce(self, sbuf, rbuf, count=None, root=0, func=0, comm_id=0, from_fpga=False,
               to_fpga=False, compress_dtype=None, run_async=False, waitfor=(), **more):
        """Combine the vectors of all ranks at the root.

        Parameters
        ----------
        sbuf : ACCLBuffer
            This rank's vector.
        rbuf : ACCLBuffer or None
            Receives the result; required at the root only.
        count : int, optional
            Number of elements; the size of `sbuf` by default.
        root : int
            The rank that receives.
        func : ACCLReduceFunctions
            SUM, MAX, MIN or PROD.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        cdef Caller caller = self._caller
        cdef accl_call call
        cdef Options options
        cdef bint is_root
        if more:
            run_async = take_async(more, run_async, "reduce")

        options = make_options(from_fpga, to_fpga, compress_dtype, run_async, waitfor)
        caller.begin(&call, ACCL_REDUCE, comm_id, "reduce")
        caller.set_root(&call, root, "root", "reduce")
        is_root = call.root_src_dst == caller.locals[call.comm]
        call.function = to_function(func, "reduce")
        return _run(caller, _REDUCE, &call, is_root, sbuf, rbuf, count, &options)

    def allreduce(self, sbuf, rbuf, count=None, func=0, comm_id=0, from_fpga=False, to_fpga=False,
                  compress_dtype=None, run_async=False, waitfor=(), **more):
        """Combine the vectors of all ranks at every rank.

        Parameters
        ----------
        sbuf : ACCLBuffer
            This rank's vector.
        rbuf : ACCLBuffer
            Receives the result.
        count : int, optional
            Number of elements; the size of `sbuf` by default.
        func : ACCLReduceFunctions
            SUM, MAX, MIN or PROD.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        cdef Caller caller = self._caller
        cdef accl_call call
        cdef Options options
        if more:
            run_async = take_async(more, run_async, "allreduce")

        options = make_options(from_fpga, to_fpga, compress_dtype, run_async, waitfor)
        caller.begin(&call, ACCL_ALLREDUCE, comm_id, "allreduce")
        call.function = to_function(func, "allreduce")
        return _run(caller, _ALLREDUCE, &call, False, sbuf, rbuf, count, &options)

    def reduce_scatter(self, sbuf, rbuf, count=None, func=0, comm_id=0, from_fpga=False,
                       to_fpga=False, compress_dtype=None, run_async=False, waitfor=(), **more):
        """Combine the vectors of all ranks, and send each rank its part of the result.

        Parameters
        ----------
        sbuf : ACCLBuffer
            This rank's vector, with a part of `count` elements per rank.
        rbuf : ACCLBuffer
            Receives this rank's part of the result.
        count : int, optional
            Number of elements of a part; the size of `rbuf` by default.
        func : ACCLReduceFunctions
            SUM, MAX, MIN or PROD.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        cdef Caller caller = self._caller
        cdef accl_call call
        cdef Options options
        if more:
            run_async = take_async(more, run_async, "reduce_scatter")

        options = make_options(from_fpga, to_fpga, compress_dtype, run_async, waitfor)
        caller.begin(&call, ACCL_REDUCE_SCATTER, comm_id, "reduce_scatter")
        call.function = to_function(func, "reduce_scatter")
        return _run(caller, _REDUCE_SCATTER, &call, False, sbuf, rbuf, count, &options)

    def alltoall(self, sbuf, rbuf, count=None, comm_id=0, from_fpga=False, to_fpga=False,
                 compress_dtype=None, run_async=False, waitfor=(), **more):
        """Send each rank its part of every rank's data.

        Parameters
        ----------
        sbuf : ACCLBuffer
            A part of `count` elements per rank.
        rbuf : ACCLBuffer
            Receives a part from each rank.
        count : int, optional
            Number of elements of a part; by default the size of `sbuf` divided by the number of
            ranks.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        cdef Caller caller = self._caller
        cdef accl_call call
        cdef Options options
        if more:
            run_async = take_async(more, run_async, "alltoall")

        options = make_options(from_fpga, to_fpga, compress_dtype, run_async, waitfor)
        caller.begin(&call, ACCL_ALLTOALL, comm_id, "alltoall")
        return _run(caller, _ALLTOALL, &call, False, sbuf, rbuf, count, &options)

    def barrier(self, comm_id=0, run_async=False, waitfor=(), **more):
        """Wait until all ranks have called it.

        Parameters
        ----------
        comm_id, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        cdef Caller caller = self._caller
        cdef accl_call call
        if more:
            run_async = take_async(more, run_async, "barrier")
        caller.begin(&call, ACCL_BARRIER, comm_id, "barrier")
        return caller.finish(&call, NULL, 0, True, run_async, waitfor, (), "barrier")
