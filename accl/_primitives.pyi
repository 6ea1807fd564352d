# SPDX-License-Identifier: BSD-3-Clause
from typing import Literal, overload

import numpy.typing as npt

from accl._calls import Calls
from accl._collectives import _Count, _WaitFor
from accl._handle import ACCLHandle
from accl._staging import _Array

__all__ = ["Primitives"]

class Primitives(Calls):
    @overload
    def nop(
        self,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def nop(
        self, run_async: bool = False, waitfor: _WaitFor = (), **more: bool
    ) -> ACCLHandle | None: ...
    @overload
    def send(
        self,
        srcbuf: _Array | npt.DTypeLike,
        count: _Count = None,
        dst: int | None = None,
        tag: int = ...,
        comm_id: int = 0,
        from_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        stream_flags: int = 0,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def send(
        self,
        srcbuf: _Array | npt.DTypeLike,
        count: _Count = None,
        dst: int | None = None,
        tag: int = ...,
        comm_id: int = 0,
        from_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        stream_flags: int = 0,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
    @overload
    def stream_put(
        self,
        srcbuf: _Array,
        count: _Count = None,
        dst: int | None = None,
        stream_id: int = 0,
        comm_id: int = 0,
        from_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def stream_put(
        self,
        srcbuf: _Array,
        count: _Count = None,
        dst: int | None = None,
        stream_id: int = 0,
        comm_id: int = 0,
        from_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
    @overload
    def recv(
        self,
        dstbuf: _Array | npt.DTypeLike,
        count: _Count = None,
        src: int | None = None,
        tag: int = ...,
        comm_id: int = 0,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        stream_flags: int = 0,
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def recv(
        self,
        dstbuf: _Array | npt.DTypeLike,
        count: _Count = None,
        src: int | None = None,
        tag: int = ...,
        comm_id: int = 0,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        *,
        stream_flags: int = 0,
        **more: bool,
    ) -> ACCLHandle | None: ...
    @overload
    def copy(
        self,
        srcbuf: _Array,
        dstbuf: _Array,
        count: _Count = None,
        from_fpga: bool = False,
        to_fpga: bool = False,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def copy(
        self,
        srcbuf: _Array,
        dstbuf: _Array,
        count: _Count = None,
        from_fpga: bool = False,
        to_fpga: bool = False,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
    @overload
    def copy_from_stream(
        self,
        dstbuf: _Array,
        count: _Count = None,
        to_fpga: bool = False,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def copy_from_stream(
        self,
        dstbuf: _Array,
        count: _Count = None,
        to_fpga: bool = False,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
    @overload
    def copy_to_stream(
        self,
        srcbuf: _Array,
        count: _Count = None,
        from_fpga: bool = False,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def copy_to_stream(
        self,
        srcbuf: _Array,
        count: _Count = None,
        from_fpga: bool = False,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
    @overload
    def copy_from_to_stream(
        self,
        dtype: npt.DTypeLike,
        count: int,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def copy_from_to_stream(
        self,
        dtype: npt.DTypeLike,
        count: int,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
    @overload
    def combine(
        self,
        count: int | None,
        func: int,
        val1: _Array,
        val2: _Array,
        result: _Array,
        val1_from_fpga: bool = False,
        val2_from_fpga: bool = False,
        to_fpga: bool = False,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def combine(
        self,
        count: int | None,
        func: int,
        val1: _Array,
        val2: _Array,
        result: _Array,
        val1_from_fpga: bool = False,
        val2_from_fpga: bool = False,
        to_fpga: bool = False,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
