# SPDX-License-Identifier: BSD-3-Clause
"""The state of a DPU that stands still, and why it does."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from ..elf.format import IRAM_BASE, MRAM_BASE

__all__ = [
    "INSTRUCTION",
    "IRAM_BASE",
    "MRAM_BASE",
    "Outcome",
    "Ran",
    "ThreadState",
    "Watch",
    "WatchKind",
]

# The bytes of an instruction.
INSTRUCTION = 8


class ThreadState(NamedTuple):
    """The state of a tasklet; its pc is an index of an instruction."""

    registers: tuple[int, ...]
    pc: int
    zero: bool
    carry: bool
    running: bool


class WatchKind(StrEnum):
    """Accesses that a watchpoint stops at."""

    WRITE = "write"
    READ = "read"
    ACCESS = "read_write"


class Watch(NamedTuple):
    """A watched part of a memory."""

    address: int
    size: int
    kind: WatchKind = WatchKind.WRITE


class Outcome(StrEnum):
    """Why a DPU stands still."""

    DONE = "done"
    FAULT = "fault"
    # It may go on: the rounds are over, or the tasklet has left its range.
    STEPPED = "stepped"
    BREAKPOINT = "breakpoint"
    WATCHPOINT = "watchpoint"
    LIMIT = "limit"


class Ran(NamedTuple):
    """End of a run.

    Of a watchpoint: the tasklet, the instruction that accessed it, and its number in the list.
    The counts are the instructions that each tasklet has executed since the start.
    """

    outcome: Outcome
    thread: int
    pc: int
    watch: int
    counts: tuple[int, ...]
    cycles: int = 0
