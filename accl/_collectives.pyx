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
    facts_of,
    make_options,
    take_async,
    to_function,
    zero_size,
)
from accl._operand cimport (
    Operand,
    is_apart,
    is_whole_apart,
    sync,
    take_array,
    take_found,
    take_unused,
)
from accl._staging cimport stage, staged
from accl.libaccl cimport (
    ACCL_BARRIER,
    ACCL_BCAST,
    ACCL_KIND_ROOTED,
    ACCL_NONE,
    ACCL_OP0_ARRAY,
    ACCL_OP0_SYNC,
    ACCL_RES_ARRAY,
    ACCL_RES_SYNC,
    ACCL_SHARE_EACH,
    ACCL_SHARE_ONE,
    ACCL_WORK_COMPUTES,
    accl_call,
    accl_operation_facts,
)

import warnings

__all__ = ["Collectives"]


cdef enum:
    # Operand that gives the default of the count: all of it, or a rank's part.
    SOURCE
    RESULT
    PART_OF_SOURCE


@cython.final
cdef class Operation:
    """A collective with a source and a result: its row in accl.h, and what follows from it."""

    cdef str name
    cdef const accl_operation_facts *facts
    cdef bint rooted
    cdef bint computes
    cdef int counted
    cdef bint may_be_empty

    def __init__(self, str name, *, may_be_empty=False):
        self.name = name
        self.facts = facts_of(name)
        self.rooted = self.facts.kind == ACCL_KIND_ROOTED
        self.computes = self.facts.work == ACCL_WORK_COMPUTES
        self.may_be_empty = may_be_empty
        if self.facts.reads == ACCL_SHARE_ONE:
            self.counted = SOURCE
        elif self.facts.writes == ACCL_SHARE_ONE:
            self.counted = RESULT
        else:
            self.counted = PART_OF_SOURCE


cdef Operation _SCATTER = Operation("scatter")
cdef Operation _GATHER = Operation("gather")
cdef Operation _REDUCE = Operation("reduce")
cdef Operation _ALLGATHER = Operation("allgather", may_be_empty=True)
cdef Operation _ALLREDUCE = Operation("allreduce", may_be_empty=True)
cdef Operation _REDUCE_SCATTER = Operation("reduce_scatter")
cdef Operation _ALLTOALL = Operation("alltoall")


cdef inline uint64_t _times(uint32_t share, uint64_t ranks) noexcept:
    return ranks if share == ACCL_SHARE_EACH else share


cdef inline bint _is_now(Options *options):
    return not options.run_async and not <object>options.waitfor


cdef bint _takes_arrays(Options *options):
    """Return whether arrays may be used where they are.

    A later call would find other data there, and the device's own memory may be asked for.
    """
    return _is_now(options) and not options.from_fpga and not options.to_fpga


cdef object _run(Caller caller, Operation operation, object sbuf, object rbuf, object count,
                 object root, object func, object comm_id, dict more, Options *options):
    """Make a call of any operation; `root` and `func` are used by those that have them."""
    cdef accl_call call
    cdef Operand source
    cdef Operand result
    cdef str name = operation.name
    cdef const accl_operation_facts *facts = operation.facts
    cdef bint is_root = False
    cdef uint64_t ranks
    cdef uint64_t reads
    cdef uint64_t writes
    cdef object _source_stage
    cdef object _result_stage
    if more:
        options.run_async = take_async(more, options.run_async, name)

    caller.begin(&call, facts.operation, comm_id, name)
    if operation.rooted:
        caller.set_root(&call, root, "root", name)
        is_root = call.root_src_dst == caller.locals[call.comm]
    if operation.computes:
        call.function = to_function(func, name)

    ranks = caller.sizes[call.comm]
    reads = _times(facts.root_reads if is_root else facts.reads, ranks)
    writes = _times(facts.root_writes if is_root else facts.writes, ranks)
    if not reads:
        take_unused(sbuf, &source)
    else:
        if not take_found(caller.device, sbuf, False, &source, "sbuf", name):
            if _takes_arrays(options) and take_array(caller.device, sbuf, False, &source):
                call.host_flags |= ACCL_OP0_ARRAY
            else:
                _source_stage = stage(caller.device, sbuf, False, options.from_fpga, &source,
                                      "sbuf", name)
        call.address[0] = source.address

    if not writes:
        take_unused(rbuf, &result)
    else:
        if not take_found(caller.device, rbuf, True, &result, "rbuf", name):
            if _takes_arrays(options) and take_array(caller.device, rbuf, True, &result):
                call.host_flags |= ACCL_RES_ARRAY
            else:
                _result_stage = stage(caller.device, rbuf, True, options.to_fpga, &result, "rbuf",
                                      name)
        call.address[2] = result.address

    if operation.counted == RESULT:
        caller.set_count(&call, count, result.elements, name)
    elif operation.counted == PART_OF_SOURCE:
        caller.set_count(&call, count, source.elements // <Py_ssize_t>ranks, name)
    else:
        caller.set_count(&call, count, source.elements, name)
    if source.elements < <Py_ssize_t>(reads * call.count):
        check_elements(&source, reads * call.count, "sbuf", name)
    if result.elements < <Py_ssize_t>(writes * call.count):
        check_elements(&result, writes * call.count, "rbuf", name)

    caller.set_types(&call, source.dtype, ACCL_NONE, result.dtype, <object>options.compress_dtype,
                     name)
    if call.count == 0 and not operation.may_be_empty:
        warnings.warn(zero_size, stacklevel=1)

    if reads and not options.from_fpga:
        if is_apart(caller.device, &source) and _is_now(options):
            call.host_flags |= ACCL_OP0_SYNC
        else:
            sync(&source, reads * call.count, True)
    if writes and is_apart(caller.device, &result) and not options.to_fpga and _is_now(options):
        call.host_flags |= ACCL_RES_SYNC

    return caller.finish(
        &call, &result if writes else NULL, writes * call.count,
        options.to_fpga or call.host_flags & ACCL_RES_SYNC,
        options.run_async, <object>options.waitfor,
        (sbuf, rbuf, staged(&source), staged(&result))
        if options.run_async or <object>options.waitfor
        or call.host_flags & (ACCL_OP0_ARRAY | ACCL_RES_ARRAY)
        or source.stage is not NULL or result.stage is not NULL
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
            if (
                not later and not waitfor and not from_fpga and not to_fpga
                and take_array(caller.device, buf, not is_root, &operand)
            ):
                call.host_flags = ACCL_OP0_ARRAY | ACCL_RES_ARRAY
            else:
                operand_stage = stage(caller.device, buf, not is_root, from_fpga or to_fpga,
                                      &operand, "buf", "bcast")

        call.address[0] = operand.address
        caller.set_count(&call, count, operand.elements, "bcast")
        check_elements(&operand, call.count, "buf", "bcast")
        caller.set_types(&call, operand.dtype, ACCL_NONE, ACCL_NONE, compress_dtype, "bcast")
        if call.count == 0:
            warnings.warn(zero_size, stacklevel=1)
        if (
            not later and not waitfor and not (from_fpga if is_root else to_fpga)
            and is_whole_apart(caller.device, &operand, call.count)
        ):
            call.host_flags = ACCL_OP0_SYNC
        elif is_root and not from_fpga:
            sync(&operand, operand.elements, True)

        return caller.finish(
            &call, NULL if is_root else &operand,
            operand.elements if operand.stage is NULL else <Py_ssize_t>call.count,
            to_fpga or call.host_flags & ACCL_OP0_SYNC, later,
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
        cdef Options options = make_options(from_fpga, to_fpga, compress_dtype, run_async,
                                            waitfor)
        return _run(self._caller, _SCATTER, sbuf, rbuf, count, root, None, comm_id, more,
                    &options)

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
        cdef Options options = make_options(from_fpga, to_fpga, compress_dtype, run_async,
                                            waitfor)
        return _run(self._caller, _GATHER, sbuf, rbuf, count, root, None, comm_id, more,
                    &options)

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
        cdef Options options = make_options(from_fpga, to_fpga, compress_dtype, run_async,
                                            waitfor)
        return _run(self._caller, _ALLGATHER, sbuf, rbuf, count, None, None, comm_id, more,
                    &options)

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
        cdef Options options = make_options(from_fpga, to_fpga, compress_dtype, run_async,
                                            waitfor)
        return _run(self._caller, _REDUCE, sbuf, rbuf, count, root, func, comm_id, more,
                    &options)

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
        cdef Options options = make_options(from_fpga, to_fpga, compress_dtype, run_async,
                                            waitfor)
        return _run(self._caller, _ALLREDUCE, sbuf, rbuf, count, None, func, comm_id, more,
                    &options)

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
        cdef Options options = make_options(from_fpga, to_fpga, compress_dtype, run_async,
                                            waitfor)
        return _run(self._caller, _REDUCE_SCATTER, sbuf, rbuf, count, None, func, comm_id, more,
                    &options)

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
        cdef Options options = make_options(from_fpga, to_fpga, compress_dtype, run_async,
                                            waitfor)
        return _run(self._caller, _ALLTOALL, sbuf, rbuf, count, None, None, comm_id, more,
                    &options)

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
