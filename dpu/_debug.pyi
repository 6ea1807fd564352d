# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Sequence
from typing import SupportsIndex

from dpu._set import DpuSet
from dpu.reports import DpuReport

__all__ = ["boot", "describe_fault", "get_thread", "go_on", "set_breakpoint", "set_thread", "step"]

def boot(dpu: DpuSet) -> None: ...
def step(dpu: DpuSet, thread: SupportsIndex, count: SupportsIndex) -> DpuReport: ...
def go_on(dpu: DpuSet, rounds: SupportsIndex) -> DpuReport: ...
def set_breakpoint(dpu: DpuSet, pc: SupportsIndex, enabled: bool) -> None: ...
def get_thread(
    dpu: DpuSet, thread: SupportsIndex
) -> tuple[tuple[int, ...], int, bool, bool, bool]: ...
def set_thread(
    dpu: DpuSet,
    thread: SupportsIndex,
    registers: Sequence[int],
    pc: SupportsIndex,
    zero: bool,
    carry: bool,
    running: bool,
) -> None: ...
def describe_fault(dpu: DpuSet) -> str: ...
