# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Sequence
from typing import Literal, overload

import numpy.typing as npt

from accl._calls import Calls
from accl._handle import ACCLHandle
from accl._staging import _Array

__all__ = ["Collectives"]

_Count = int | float | None
_WaitFor = Sequence[ACCLHandle | None] | ACCLHandle | None

class Collectives(Calls):
    @overload
    def bcast(
        self,
        buf: _Array,
        count: _Count = None,
        root: int = 0,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def bcast(
        self,
        buf: _Array,
        count: _Count = None,
        root: int = 0,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
    @overload
    def scatter(
        self,
        sbuf: _Array | None,
        rbuf: _Array,
        count: _Count = None,
        root: int = 0,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def scatter(
        self,
        sbuf: _Array | None,
        rbuf: _Array,
        count: _Count = None,
        root: int = 0,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
    @overload
    def gather(
        self,
        sbuf: _Array,
        rbuf: _Array | None,
        count: _Count = None,
        root: int = 0,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def gather(
        self,
        sbuf: _Array,
        rbuf: _Array | None,
        count: _Count = None,
        root: int = 0,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
    @overload
    def allgather(
        self,
        sbuf: _Array,
        rbuf: _Array,
        count: _Count = None,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def allgather(
        self,
        sbuf: _Array,
        rbuf: _Array,
        count: _Count = None,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
    @overload
    def reduce(
        self,
        sbuf: _Array,
        rbuf: _Array | None,
        count: _Count = None,
        root: int = 0,
        func: int = 0,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def reduce(
        self,
        sbuf: _Array,
        rbuf: _Array | None,
        count: _Count = None,
        root: int = 0,
        func: int = 0,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
    @overload
    def allreduce(
        self,
        sbuf: _Array,
        rbuf: _Array,
        count: _Count = None,
        func: int = 0,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def allreduce(
        self,
        sbuf: _Array,
        rbuf: _Array,
        count: _Count = None,
        func: int = 0,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
    @overload
    def reduce_scatter(
        self,
        sbuf: _Array,
        rbuf: _Array,
        count: _Count = None,
        func: int = 0,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def reduce_scatter(
        self,
        sbuf: _Array,
        rbuf: _Array,
        count: _Count = None,
        func: int = 0,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
    @overload
    def alltoall(
        self,
        sbuf: _Array,
        rbuf: _Array,
        count: _Count = None,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def alltoall(
        self,
        sbuf: _Array,
        rbuf: _Array,
        count: _Count = None,
        comm_id: int = 0,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: npt.DTypeLike | None = None,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
    @overload
    def barrier(
        self,
        comm_id: int = 0,
        *,
        run_async: Literal[True],
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle: ...
    @overload
    def barrier(
        self,
        comm_id: int = 0,
        run_async: bool = False,
        waitfor: _WaitFor = (),
        **more: bool,
    ) -> ACCLHandle | None: ...
