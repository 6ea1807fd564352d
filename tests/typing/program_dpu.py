# SPDX-License-Identifier: BSD-3-Clause
"""Correct use of the dpu package; looked at by the type checker only."""

from __future__ import annotations

import array
import io
import sys
from pathlib import Path

import numpy as np

import dpu
from dpu import ALLOCATE_ALL, DpuContext, DpuError, DpuSet, DpuSymbol, DpuTimeoutError
from dpu.asm import AsmError, Source, assemble
from dpu.debug import Debugger
from dpu.disasm import disassemble
from dpu.driver import DpuProgram, DpuRequest, DpuThreadContext
from dpu.reports import LaunchStatus


def called(part: DpuSet, index: int, text: str) -> None:
    print(len(part), index, text)


with DpuSet(nr_dpus=64, profile="backend=cas", binary=Path("program.dpu"), log=sys.stdout) as dpus:
    program: DpuProgram | None = dpus.program
    loaded: DpuProgram = dpus.load(asm_source=[io.StringIO("stop"), "more.S"])
    symbol: DpuSymbol | None = loaded.get_symbol("x")
    dpus.copy("x", np.zeros(8), offset=8, async_mode=True)
    dpus.copy(DpuSymbol("y", (0x08000000, 64)), [b"12345678", None])
    dpus.copy([bytearray(8), array.array("d", [1.0])], "x", size=8)
    dpus.exec(log={dpus.dpus()[0]: io.StringIO()})
    dpus.exec(async_mode=True)
    dpus.call(called, "text", is_blocking=True, single_call=False)
    request: DpuRequest = dpus.exec_async()
    done: bool = request.wait(timeout=1.5)
    dpus.sync()
    dpus.log(stream=io.StringIO())
    for one in dpus:
        rank: DpuSet = one.ranks()[0]
        print(rank, one.x.uint32())
    dpus.symbols["x"] = b"1234"
    cycles: int = dpus.report.cycles
    ended: bool = dpus.report[0].status is LaunchStatus.DONE
    context: DpuContext = one.checkpoint(mram=False)
    threads: list[DpuThreadContext] = context.threads
    one.restore(DpuContext.from_buffer(context.serialize()), iram=False)
    debugger = Debugger(one)
    pc: int = debugger.break_at("main")
    debugger.threads[0].set({1: 5}, pc=pc)
    where: str = debugger.disassembly(debugger.step(0).fault_pc)
    dpus.interrupt()
    path: str = dpus.library.path

everything = DpuSet(ALLOCATE_ALL, library="soft")
ranks = DpuSet(nr_ranks=2)
info: dict[str, object] = dpu.library_info()
name: str = dpu.use_library("soft").kind


async def awaits(request: DpuRequest) -> object:
    return await request


def fails() -> None:
    try:
        assemble(Source("a.S", "nop"), Path("a.dpu"), nr_tasklets=16, defines={"N": 5})
    except AsmError as error:
        print(error.problems[0].location)
    try:
        everything.exec()
    except (DpuTimeoutError, DpuError) as error:
        detail: str = error.detail
        code: int | None = error.code
        print(detail, code, disassemble(0))
