# SPDX-License-Identifier: BSD-3-Clause
"""Wrong use of the dpu package: every marked line must be refused by the type checker."""

from __future__ import annotations

import dpu
from dpu import DpuSet, DpuSymbol
from dpu.asm import assemble
from dpu.debug import Debugger

DpuSet("4")  # mistake
DpuSet(nr_dpus=4, nonsense=1)  # mistake
DpuSet(4, profile=5)  # mistake
dpus = DpuSet(4)
dpus.copy(5, "x")  # mistake
dpus.copy("x", b"1234", offset="0")  # mistake
dpus.exec(async_mode="no")  # mistake
dpus.exec_async().wait("1")  # mistake
dpus.sync(5)  # mistake
dpus.call(5, None)  # mistake
dpus.restore(None)  # mistake
dpus.report.cycles.nonsense  # noqa: B018  # mistake
dpus.report[0].status.nonsense  # noqa: B018  # mistake
length: str = len(dpus)  # mistake
DpuSymbol("x", 5)  # mistake
assemble(b"nop")  # mistake
assemble("a.S", nr_tasklets="16")  # mistake
Debugger(dpus).step("0")  # mistake
dpu.use_library(None)  # mistake
dpu.library_info(5)  # mistake
