# SPDX-License-Identifier: BSD-3-Clause
"""Messages, copies, and combining two vectors, as methods."""

from libc.stdint cimport uint32_t
from libc.string cimport memset
from accl._calls cimport (
    Caller,
    Calls,
    Options,
    check_elements,
    make_options,
    take_async,
    to_function,
)
from accl._device cimport Device
from accl._operand cimport Operand, dtype_code, is_whole_apart, sync, take_array, take_found
from accl._staging cimport as_array, stage, staged
from accl.libaccl cimport (
    ACCL_COMBINE,
    ACCL_COPY,
    ACCL_NONE,
    ACCL_NOP,
    ACCL_OP0_ARRAY,
    ACCL_OP0_SYNC,
    ACCL_OP0_STREAM,
    ACCL_RECV,
    ACCL_RES_ARRAY,
    ACCL_RES_SYNC,
    ACCL_RES_STREAM,
    ACCL_SEND,
    accl_call,
)

from operator import index

import numpy as np

from accl.constants import TAG_ANY
from accl.errors import ACCLArgumentError

__all__ = ["Primitives"]

cdef object _any = TAG_ANY
STREAM_ID_MAX = 246


cdef uint32_t _tag(object tag, str name) except? 0xfffffffe:
    if tag is _any:
        return 0xffffffff
    value = index(tag)
    if not 0 <= value <= 0xffffffff:
        raise ACCLArgumentError(f"{name}: a tag has 32 bits, which {tag} does not fit into")
    return value


cdef uint32_t _flags(object flags, str name) except? 0xffffffff:
    value = index(flags)
    if not 0 <= value <= 3:
        raise ACCLArgumentError(f"{name}: stream_flags must be 0 to 3, not {flags!r}")
    return value


cdef bint _typed(Device device, object buffer, bint stream, bint writes, Operand *operand,
                 str what, str name) except -1:
    """Examine a buffer, or the element type of a stream in its place.

    False if it is an array without device memory.
    """
    memset(operand, 0, sizeof(Operand))
    if stream and not isinstance(buffer, np.ndarray):
        if buffer is None:
            raise TypeError(f"{name}: in place of {what}, the type of its elements is required")
        operand.dtype = dtype_code(buffer, name)
        operand.elements = 0
        return True

    if not stream:
        return take_found(device, buffer, writes, operand, what, name)
    if not take_found(device, buffer, False, operand, what, name):
        operand.dtype = dtype_code(buffer.dtype, name)
        operand.elements = buffer.size

    return True


cdef object _copy(Caller caller, object srcbuf, object dstbuf, object count, Options *options,
                  uint32_t flags, str name):
    cdef accl_call call
    cdef Operand source
    cdef Operand result
    cdef bint reads = not flags & ACCL_OP0_STREAM
    cdef bint writes = not flags & ACCL_RES_STREAM
    cdef object _source_stage
    cdef object _result_stage

    caller.begin(&call, ACCL_COPY, 0, name)
    call.stream_flags = flags

    if not _typed(caller.device, srcbuf, not reads, False, &source, "srcbuf", name):
        _source_stage = stage(caller.device, srcbuf, False, options.from_fpga, &source, "srcbuf",
                              name)
    if not _typed(caller.device, dstbuf, not writes, True, &result, "dstbuf", name):
        _result_stage = stage(caller.device, dstbuf, True, options.to_fpga, &result, "dstbuf", name)

    caller.set_count(&call, count, source.elements if reads else result.elements, name)
    if reads:
        check_elements(&source, call.count, "srcbuf", name)
        call.address[0] = source.address
    if writes:
        check_elements(&result, call.count, "dstbuf", name)
        call.address[2] = result.address

    caller.set_types(&call, source.dtype, ACCL_NONE, result.dtype, None, name)

    if reads and not options.from_fpga:
        sync(&source, source.elements, True)

    return caller.finish(
        &call, &result if writes else NULL,
        result.elements if result.stage is NULL else <Py_ssize_t>call.count,
        options.to_fpga, options.run_async, <object>options.waitfor,
        (srcbuf, dstbuf) if source.stage is NULL and result.stage is NULL
        else (srcbuf, dstbuf, staged(&source), staged(&result)),
        name
    )


cdef class Primitives(Calls):
    """The calls of an `accl` that are not collectives."""

    def nop(self, run_async=False, waitfor=(), **more):
        """Do nothing, to measure the time of a call, or to chain calls.

        Parameters
        ----------
        run_async : bool
            Return a handle instead of waiting.
        waitfor : sequence of ACCLHandle
            Calls that must finish first.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        cdef Caller caller = self._caller
        cdef accl_call call
        if more:
            run_async = take_async(more, run_async, "nop")
        caller.begin(&call, ACCL_NOP, 0, "nop")
        return caller.finish(&call, NULL, 0, True, run_async, waitfor, (), "nop")

    def send(self, srcbuf, count=None, dst=None, tag=TAG_ANY, comm_id=0, from_fpga=False,
             compress_dtype=None, stream_flags=0, run_async=False, waitfor=(), **more):
        """Send a message to a rank.

        It returns when the data is in rx buffers of the receiver, or was received: data that fits
        into the pool is sent without waiting for a receive.

        Parameters
        ----------
        srcbuf : ACCLBuffer
            The data; with ``OP0_STREAM``, which only uses its type, may be a dtype.
        count : int, optional
            Number of elements; all of `srcbuf` by default.
        dst : int
            The receiver, as a rank of the communicator.
        tag : int
            Compared by the receiver; TAG_ANY matches every receive.
        comm_id : int
            Number of the communicator.
        from_fpga : bool
            The data is already in device memory.
        compress_dtype : dtype, optional
            Type of the data on the wire.
        stream_flags : ACCLStreamFlags
            ``OP0_STREAM``: the data comes from the stream. ``RES_STREAM``: it goes into stream
            number `tag` of the receiver, which makes no call.
        run_async : bool
            Return a handle instead of waiting.
        waitfor : sequence of ACCLHandle
            Calls that must finish first.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        cdef Caller caller = self._caller
        cdef accl_call call
        cdef Operand source
        cdef object _operand_stage
        cdef bint found
        if more:
            run_async = take_async(more, run_async, "send")
        if dst is None:
            raise TypeError("send: dst is missing, the rank that receives")

        caller.begin(&call, ACCL_SEND, comm_id, "send")
        caller.set_root(&call, dst, "dst", "send")
        call.tag = _tag(tag, "send")
        if stream_flags:
            call.stream_flags = _flags(stream_flags, "send")

        if call.stream_flags == 0:
            found = take_found(caller.device, srcbuf, False, &source, "srcbuf", "send")
        else:
            found = _typed(caller.device, srcbuf, call.stream_flags & ACCL_OP0_STREAM, False,
                           &source, "srcbuf", "send")
        if not found:
            if (
                not run_async and not waitfor and not from_fpga and call.stream_flags == 0
                and take_array(caller.device, srcbuf, False, &source)
            ):
                call.host_flags = ACCL_OP0_ARRAY
            else:
                _operand_stage = stage(caller.device, srcbuf, False, from_fpga, &source, "srcbuf",
                                       "send")
        if call.stream_flags & ACCL_RES_STREAM and call.tag > <uint32_t>STREAM_ID_MAX:
            raise ACCLArgumentError(
                f"send: streams have numbers 0 to {STREAM_ID_MAX}, passed as the tag"
            )

        caller.set_count(&call, count, source.elements, "send")
        if not call.stream_flags & ACCL_OP0_STREAM:
            if source.elements < <Py_ssize_t>call.count:
                check_elements(&source, call.count, "srcbuf", "send")
            call.address[0] = source.address
            if not from_fpga:
                if (
                    not run_async and not waitfor and call.stream_flags == 0
                    and is_whole_apart(caller.device, &source, call.count)
                ):
                    call.host_flags = ACCL_OP0_SYNC
                else:
                    sync(&source, source.elements, True)

        caller.set_types(&call, source.dtype, ACCL_NONE, ACCL_NONE, compress_dtype, "send")
        return caller.finish(&call, NULL, 0, True, run_async, waitfor,
                             (srcbuf, staged(&source))
                             if run_async or waitfor or source.block is NULL
                             or source.stage is not NULL else (), "send")

    def stream_put(self, srcbuf, count=None, dst=None, stream_id=0, comm_id=0, from_fpga=False,
                   compress_dtype=None, run_async=False, waitfor=(), **more):
        """Write data into a stream of another rank, which makes no call for it.

        Parameters
        ----------
        srcbuf, count, dst, comm_id, from_fpga, compress_dtype, run_async, waitfor
            As for `send()`.
        stream_id : int
            Number of the stream, 0 to 246.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        return self.send(srcbuf, count, dst, stream_id, comm_id, from_fpga, compress_dtype,
                         ACCL_RES_STREAM, run_async, waitfor, **more)

    def recv(self, dstbuf, count=None, src=None, tag=TAG_ANY, comm_id=0, to_fpga=False,
             compress_dtype=None, run_async=False, waitfor=(), *, stream_flags=0, **more):
        """Receive the next message of a rank.

        Messages of a rank are received in order. The tag is only compared: if it differs from the
        message's, and neither is TAG_ANY, the receive waits until it times out.

        Parameters
        ----------
        dstbuf : ACCLBuffer
            Receives the data; with ``RES_STREAM``, which only uses its type, may be a dtype.
        count : int, optional
            Number of elements; all of `dstbuf` by default.
        src : int
            The sender, as a rank of the communicator.
        tag : int
            The tag that the message must have.
        comm_id : int
            Number of the communicator.
        to_fpga : bool
            The data stays in device memory.
        compress_dtype : dtype, optional
            Type of the data on the wire; same as the sender's.
        run_async : bool
            Return a handle instead of waiting.
        waitfor : sequence of ACCLHandle
            Calls that must finish first.
        stream_flags : ACCLStreamFlags
            ``RES_STREAM``: the data goes into the stream.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.

        Raises
        ------
        ACCLReceiveTimeoutError
            No matching message arrived in time.
        """
        cdef Caller caller = self._caller
        cdef accl_call call
        cdef Operand result
        cdef bint stream
        cdef object _operand_stage
        cdef bint found
        if more:
            run_async = take_async(more, run_async, "recv")
        if src is None:
            raise TypeError("recv: src is missing, the rank that sends")

        caller.begin(&call, ACCL_RECV, comm_id, "recv")
        caller.set_root(&call, src, "src", "recv")
        call.tag = _tag(tag, "recv")
        if stream_flags:
            call.stream_flags = _flags(stream_flags, "recv")

        stream = call.stream_flags & ACCL_RES_STREAM != 0
        if not stream:
            found = take_found(caller.device, dstbuf, True, &result, "dstbuf", "recv")
        else:
            found = _typed(caller.device, dstbuf, True, True, &result, "dstbuf", "recv")
        if not found:
            if (
                not run_async and not waitfor and not to_fpga and call.stream_flags == 0
                and take_array(caller.device, dstbuf, True, &result)
            ):
                call.host_flags = ACCL_RES_ARRAY
            else:
                _operand_stage = stage(caller.device, dstbuf, True, to_fpga, &result, "dstbuf",
                                       "recv")

        caller.set_count(&call, count, result.elements, "recv")
        if not stream:
            if result.elements < <Py_ssize_t>call.count:
                check_elements(&result, call.count, "dstbuf", "recv")
            call.address[2] = result.address
            if (
                not run_async and not waitfor and not to_fpga
                and is_whole_apart(caller.device, &result, call.count)
            ):
                call.host_flags = ACCL_RES_SYNC

        caller.set_types(&call, ACCL_NONE, ACCL_NONE, result.dtype, compress_dtype, "recv")
        return caller.finish(&call, NULL if stream else &result,
                             result.elements if result.stage is NULL else <Py_ssize_t>call.count,
                             to_fpga or call.host_flags & ACCL_RES_SYNC, run_async, waitfor,
                             (dstbuf, staged(&result))
                             if run_async or waitfor or result.block is NULL
                             or result.stage is not NULL else (), "recv")

    def copy(self, srcbuf, dstbuf, count=None, from_fpga=False, to_fpga=False, run_async=False,
             waitfor=(), **more):
        """Copy from buffer to buffer, converting between float32 and float16 where they differ.

        Parameters
        ----------
        srcbuf, dstbuf : ACCLBuffer
            Source and destination.
        count : int, optional
            Number of elements; all of `srcbuf` by default.
        from_fpga, to_fpga : bool
            The source is already in device memory; the result stays there.
        run_async : bool
            Return a handle instead of waiting.
        waitfor : sequence of ACCLHandle
            Calls that must finish first.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        cdef Options options
        if more:
            run_async = take_async(more, run_async, "copy")
        options = make_options(from_fpga, to_fpga, None, run_async, waitfor)
        return _copy(self._caller, srcbuf, dstbuf, count, &options, 0, "copy")

    def copy_from_stream(self, dstbuf, count=None, to_fpga=False, run_async=False, waitfor=(),
                         **more):
        """Copy from the kernel's stream into a buffer; parameters as for `copy()`."""
        cdef Options options
        if more:
            run_async = take_async(more, run_async, "copy_from_stream")
        dstbuf = as_array(dstbuf, True, "dstbuf", "copy_from_stream")
        options = make_options(True, to_fpga, None, run_async, waitfor)
        return _copy(self._caller, dstbuf.dtype, dstbuf, count, &options, ACCL_OP0_STREAM,
                     "copy_from_stream")

    def copy_to_stream(self, srcbuf, count=None, from_fpga=False, run_async=False, waitfor=(),
                       **more):
        """Copy from a buffer into the kernel's stream; parameters as for `copy()`."""
        cdef Options options
        if more:
            run_async = take_async(more, run_async, "copy_to_stream")
        srcbuf = as_array(srcbuf, False, "srcbuf", "copy_to_stream")
        options = make_options(from_fpga, True, None, run_async, waitfor)
        return _copy(self._caller, srcbuf, srcbuf.dtype, count, &options, ACCL_RES_STREAM,
                     "copy_to_stream")

    def copy_from_to_stream(self, dtype, count, run_async=False, waitfor=(), **more):
        """Move `count` elements of `dtype` from the kernel's stream back into it."""
        cdef Options options
        if more:
            run_async = take_async(more, run_async, "copy_from_to_stream")
        kind = np.dtype(dtype)
        options = make_options(True, True, None, run_async, waitfor)
        return _copy(self._caller, kind, kind, count, &options, ACCL_OP0_STREAM | ACCL_RES_STREAM,
                     "copy_from_to_stream")

    def combine(self, count, func, val1, val2, result, val1_from_fpga=False, val2_from_fpga=False,
                to_fpga=False, run_async=False, waitfor=(), **more):
        """Combine two vectors into a third.

        Parameters
        ----------
        count : int or None
            Number of elements; all of `val1` if None.
        func : ACCLReduceFunctions
            SUM, MAX, MIN or PROD.
        val1, val2, result : ACCLBuffer
            Operands and result; all may be the same.
        val1_from_fpga, val2_from_fpga, to_fpga : bool
            The operand is already in device memory; the result stays there.
        run_async : bool
            Return a handle instead of waiting.
        waitfor : sequence of ACCLHandle
            Calls that must finish first.

        Returns
        -------
        ACCLHandle or None
            A handle if `run_async`.
        """
        cdef Caller caller = self._caller
        cdef accl_call call
        cdef Operand first
        cdef Operand second
        cdef Operand out
        cdef object _stage1
        cdef object _stage2
        cdef object _out_stage
        if more:
            run_async = take_async(more, run_async, "combine")

        caller.begin(&call, ACCL_COMBINE, 0, "combine")
        call.function = to_function(func, "combine")
        if not take_found(caller.device, val1, False, &first, "val1", "combine"):
            _stage1 = stage(caller.device, val1, False, val1_from_fpga, &first, "val1", "combine")
        if not take_found(caller.device, val2, False, &second, "val2", "combine"):
            _stage2 = stage(caller.device, val2, False, val2_from_fpga, &second, "val2", "combine")
        if not take_found(caller.device, result, True, &out, "result", "combine"):
            _out_stage = stage(caller.device, result, True, to_fpga, &out, "result", "combine")

        caller.set_count(&call, count, first.elements, "combine")
        check_elements(&first, call.count, "val1", "combine")
        check_elements(&second, call.count, "val2", "combine")
        check_elements(&out, call.count, "result", "combine")
        caller.set_types(&call, first.dtype, second.dtype, out.dtype, None, "combine")

        call.address[0], call.address[1] = first.address, second.address
        call.address[2] = out.address
        if not val1_from_fpga:
            sync(&first, first.elements, True)
        if not val2_from_fpga:
            sync(&second, second.elements, True)

        return caller.finish(&call, &out,
                             out.elements if out.stage is NULL else <Py_ssize_t>call.count, to_fpga,
                             run_async, waitfor,
                             (val1, val2, result, staged(&first), staged(&second), staged(&out)),
                             "combine")
