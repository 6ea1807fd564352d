# SPDX-License-Identifier: BSD-3-Clause
"""Correct use of the veo package; looked at by the type checker only."""

from __future__ import annotations

import array
from pathlib import Path

import numpy as np

import veo
from veo import OnStack, VEMemPtr, VeoCtxt, VeoFunction, VeoLibrary, VeoProc, VeoRequest


def hook(proc: VeoProc) -> None:
    proc.static_library()


veo.set_proc_init_hook(hook)
veo.del_proc_init_hook(hook)

with veo.VeoProc(0, b"/path/of/veorun", library="soft") as proc:
    library: VeoLibrary = proc.load_library(Path("/path/of/kernels.so"))
    function: VeoFunction = library.find_function("kernel")
    function.args_type("double *", "int", "char *")
    function.ret_type("double")
    values = np.zeros(10)
    with proc.open_context() as ctx:
        request: VeoRequest = function(
            ctx, OnStack(values, inout=veo.INTENT_INOUT), 10, OnStack(b"text", 4)
        )
        result: float = request.wait_result(timeout=1.5)
        done: bool = request.done()
        other: VeoCtxt = request.ctx
    pointer: VEMemPtr = proc.alloc_mem(80)
    offset: int = pointer + 8
    proc.write_mem(pointer, values, 80)
    proc.write_mem(offset, array.array("d", [1.0]), 8)
    proc.read_mem(bytearray(8), pointer, 8)
    ctx.async_read_mem(values, pointer, 80).add_done_callback(lambda done: print(done))
    proc.free_mem(pointer)
    found: VeoFunction | None = proc.get_function("kernel")
    size: int = OnStack(values).size()
    path: str = proc.library.path

info: dict[str, object] = veo.library_info()
text: str = library.name
contexts: list[VeoCtxt] = proc.context
veo.logging.set_stream_handler(veo.logging.VEO)


async def awaits(request: VeoRequest) -> float:
    value: float = await request
    return value


def fails() -> None:
    try:
        proc.load_library("x")
    except veo.VeoKernelException as error:
        code: int | None = error.code
        print(code)
