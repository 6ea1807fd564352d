# SPDX-License-Identifier: BSD-3-Clause
"""The collectives, as methods. What all of them take:

comm_id
    Number of the communicator.
from_fpga
    The data is in device memory already: nothing is copied there first.
to_fpga
    The result is to stay in device memory.
compress_dtype
    Type that the data has on the wire: float16, for float32.
run_async, async
    Give a handle instead of waiting; ``async`` is to be written ``**{"async": True}``.
waitfor
    Handles of calls that must have ended before.

Buffers of `allocate()` are operands as they are. Other arrays, of NumPy or with DLPack, are copied
to the device when the call is made, and results back when it has ended.
"""

from libc.stdint cimport uint32_t, uint64_t
from accl._calls cimport Caller, check_elements, take_async, to_function, zero_size
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


cdef class Collectives(Caller):
    """The collective calls of an `accl`."""

    # All with a source and a result. What is in the result of a rank may differ by its role.
    cdef object _two(self, uint32_t operation, str name, object sbuf, object rbuf, object count,
                     object root, object func, object comm_id, bint from_fpga, bint to_fpga,
                     object compress_dtype, bint run_async, object waitfor, dict more):
        cdef accl_call call
        cdef Operand source
        cdef Operand result
        cdef uint64_t reads = 1
        cdef uint64_t writes = 1
        cdef uint64_t ranks
        cdef bint is_root = False
        cdef object _source_stage
        cdef object _result_stage
        if more:
            run_async = take_async(more, run_async, name)
        self.begin(&call, operation, comm_id, name)
        ranks = self.sizes[call.comm]
        if root is not None:
            self.set_root(&call, root, "root", name)
            is_root = call.root_src_dst == self.locals[call.comm]
        if func is not None:
            call.function = to_function(func, name)
        if operation == ACCL_SCATTER:
            reads = ranks if is_root else 0
        elif operation == ACCL_GATHER:
            writes = ranks if is_root else 0
        elif operation == ACCL_REDUCE:
            writes = 1 if is_root else 0
        elif operation == ACCL_ALLGATHER:
            writes = ranks
        elif operation == ACCL_REDUCE_SCATTER:
            reads = ranks
        elif operation == ACCL_ALLTOALL:
            reads = writes = ranks
        if reads:
            if not take_found(self.device, sbuf, False, &source, "sbuf", name):
                _source_stage = stage(self.device, sbuf, False, from_fpga, &source, "sbuf", name)
            call.address[0] = source.address
        else:
            take_unused(sbuf, &source)
        if writes:
            if not take_found(self.device, rbuf, True, &result, "rbuf", name):
                _result_stage = stage(self.device, rbuf, True, to_fpga, &result, "rbuf", name)
            call.address[2] = result.address
        else:
            take_unused(rbuf, &result)
        if operation == ACCL_SCATTER or operation == ACCL_REDUCE_SCATTER:
            self.set_count(&call, count, result.elements, name)
        elif operation == ACCL_ALLTOALL:
            self.set_count(&call, count, source.elements // <Py_ssize_t>ranks, name)
        else:
            self.set_count(&call, count, source.elements, name)
        if source.elements < <Py_ssize_t>(reads * call.count):
            check_elements(&source, reads * call.count, "sbuf", name)
        if result.elements < <Py_ssize_t>(writes * call.count):
            check_elements(&result, writes * call.count, "rbuf", name)
        self.set_types(&call, source.dtype, ACCL_NONE, result.dtype, compress_dtype, name)
        if call.count == 0 and operation != ACCL_ALLGATHER and operation != ACCL_ALLREDUCE:
            warnings.warn(zero_size, stacklevel=1)
        if reads and not from_fpga:
            sync(&source, reads * call.count, True)
        return self.finish(
            &call, &result if writes else NULL, writes * call.count, to_fpga, run_async, waitfor,
            (sbuf, rbuf, staged(&source), staged(&result))
            if run_async or waitfor or source.stage is not NULL or result.stage is not NULL
            else (),
            name
        )

    def bcast(self, buf, count=None, root=0, comm_id=0, from_fpga=False, to_fpga=False,
              compress_dtype=None, run_async=False, waitfor=(), **more):
        """Give all ranks what the root has.

        Parameters
        ----------
        buf : ACCLBuffer
            Is sent at the root, and written elsewhere.
        count : int, optional
            Number of elements; all of `buf` unless given.
        root : int
            The rank that sends.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        cdef accl_call call
        cdef Operand operand
        cdef bint is_root
        cdef bint later = run_async
        cdef object operand_stage
        if more:
            later = take_async(more, later, "bcast")
        self.begin(&call, ACCL_BCAST, comm_id, "bcast")
        self.set_root(&call, root, "root", "bcast")
        is_root = call.root_src_dst == self.locals[call.comm]
        if not take_found(self.device, buf, not is_root, &operand, "buf", "bcast"):
            operand_stage = stage(self.device, buf, not is_root, from_fpga or to_fpga, &operand,
                                  "buf", "bcast")
        call.address[0] = operand.address
        self.set_count(&call, count, operand.elements, "bcast")
        check_elements(&operand, call.count, "buf", "bcast")
        self.set_types(&call, operand.dtype, ACCL_NONE, ACCL_NONE, compress_dtype, "bcast")
        if call.count == 0:
            warnings.warn(zero_size, stacklevel=1)
        if is_root and not from_fpga:
            sync(&operand, operand.elements, True)
        return self.finish(
            &call, NULL if is_root else &operand,
            operand.elements if operand.stage is NULL else <Py_ssize_t>call.count, to_fpga, later,
            waitfor, (buf,) if operand.stage is NULL else (buf, operand_stage), "bcast"
        )

    def scatter(self, sbuf, rbuf, count=None, root=0, comm_id=0, from_fpga=False, to_fpga=False,
                compress_dtype=None, run_async=False, waitfor=(), **more):
        """Give each rank its part of what the root has.

        Parameters
        ----------
        sbuf : ACCLBuffer or None
            A part of `count` elements for each rank; needed at the root only.
        rbuf : ACCLBuffer
            Receives this rank's part.
        count : int, optional
            Number of elements of a part; the size of `rbuf` unless given.
        root : int
            The rank that sends.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        return self._two(ACCL_SCATTER, "scatter", sbuf, rbuf, count, root, None, comm_id,
                         from_fpga, to_fpga, compress_dtype, run_async, waitfor, more)

    def gather(self, sbuf, rbuf, count=None, root=0, comm_id=0, from_fpga=False, to_fpga=False,
               compress_dtype=None, run_async=False, waitfor=(), **more):
        """Collect the parts of all ranks at the root.

        Parameters
        ----------
        sbuf : ACCLBuffer
            This rank's part.
        rbuf : ACCLBuffer or None
            Receives a part from each rank; needed at the root only.
        count : int, optional
            Number of elements of a part; the size of `sbuf` unless given.
        root : int
            The rank that receives.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        return self._two(ACCL_GATHER, "gather", sbuf, rbuf, count, root, None, comm_id, from_fpga,
                         to_fpga, compress_dtype, run_async, waitfor, more)

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
            Number of elements of a part; the size of `sbuf` unless given.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        return self._two(ACCL_ALLGATHER, "allgather", sbuf, rbuf, count, None, None, comm_id,
                         from_fpga, to_fpga, compress_dtype, run_async, waitfor, more)

    def reduce(self, sbuf, rbuf, count=None, root=0, func=0, comm_id=0, from_fpga=False,
               to_fpga=False, compress_dtype=None, run_async=False, waitfor=(), **more):
        """Combine the vectors of all ranks at the root.

        Parameters
        ----------
        sbuf : ACCLBuffer
            This rank's vector.
        rbuf : ACCLBuffer or None
            Receives the result; needed at the root only.
        count : int, optional
            Number of elements; the size of `sbuf` unless given.
        root : int
            The rank that receives.
        func : ACCLReduceFunctions
            SUM or MAX.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        return self._two(ACCL_REDUCE, "reduce", sbuf, rbuf, count, root, func, comm_id, from_fpga,
                         to_fpga, compress_dtype, run_async, waitfor, more)

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
            Number of elements; the size of `sbuf` unless given.
        func : ACCLReduceFunctions
            SUM or MAX.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        return self._two(ACCL_ALLREDUCE, "allreduce", sbuf, rbuf, count, None, func, comm_id,
                         from_fpga, to_fpga, compress_dtype, run_async, waitfor, more)

    def reduce_scatter(self, sbuf, rbuf, count=None, func=0, comm_id=0, from_fpga=False,
                       to_fpga=False, compress_dtype=None, run_async=False, waitfor=(), **more):
        """Combine the vectors of all ranks, and give each rank its part of the result.

        Parameters
        ----------
        sbuf : ACCLBuffer
            This rank's vector, with a part of `count` elements for each rank.
        rbuf : ACCLBuffer
            Receives this rank's part of the result.
        count : int, optional
            Number of elements of a part; the size of `rbuf` unless given.
        func : ACCLReduceFunctions
            SUM or MAX.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        return self._two(ACCL_REDUCE_SCATTER, "reduce_scatter", sbuf, rbuf, count, None, func,
                         comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor, more)

    def alltoall(self, sbuf, rbuf, count=None, comm_id=0, from_fpga=False, to_fpga=False,
                 compress_dtype=None, run_async=False, waitfor=(), **more):
        """Give each rank its part of what every rank has.

        Parameters
        ----------
        sbuf : ACCLBuffer
            A part of `count` elements for each rank.
        rbuf : ACCLBuffer
            Receives a part from each rank.
        count : int, optional
            Number of elements of a part; the size of `sbuf` by the number of ranks unless given.
        comm_id, from_fpga, to_fpga, compress_dtype, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        return self._two(ACCL_ALLTOALL, "alltoall", sbuf, rbuf, count, None, None, comm_id,
                         from_fpga, to_fpga, compress_dtype, run_async, waitfor, more)

    def barrier(self, comm_id=0, run_async=False, waitfor=(), **more):
        """Wait until all ranks are here.

        Parameters
        ----------
        comm_id, run_async, waitfor
            As for all collectives.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        cdef accl_call call
        if more:
            run_async = take_async(more, run_async, "barrier")
        self.begin(&call, ACCL_BARRIER, comm_id, "barrier")
        return self.finish(&call, NULL, 0, True, run_async, waitfor, (), "barrier")
