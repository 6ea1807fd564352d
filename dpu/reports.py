# SPDX-License-Identifier: BSD-3-Clause
"""Reports of launches: cycles, instructions, transfers and time, per DPU and in total."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any, NamedTuple

__all__ = [
    "DpuReport",
    "Engine",
    "FaultKind",
    "LaunchStatus",
    "RunTime",
    "SetReport",
    "make_report",
]


class LaunchStatus(IntEnum):
    """How a launch ended, or why it is stopped."""

    DONE = 0
    FAULT = 1
    INTERRUPTED = 2
    CYCLE_LIMIT = 3
    STEPPED = 4
    BREAKPOINT = 5
    NEVER_LAUNCHED = 6


class FaultKind(IntEnum):
    """The kind of fault that stopped a DPU."""

    NONE = 0
    FAULT_INSTRUCTION = 1
    DMA = 2
    WRAM = 3
    UNDECODABLE = 4


class Engine(IntEnum):
    """How tasklets are executed; what they compute is the same."""

    NONE = 0
    TURNS = 1
    DRIFT = 2
    TRANSLATED = 3
    LOCKSTEP = 4


class RunTime(IntEnum):
    """The run time that a program was linked with, which its instruction counts depend on."""

    OTHER = 0
    """That of the vendor, or none."""
    OFFCHIP = 1
    """That of this package."""
    UPMEM_COSTS = 2
    """That of this package with ``--costs=upmem``."""


class DpuReport(NamedTuple):
    """Report of the last launch of one DPU.

    Parameters
    ----------
    status : LaunchStatus
        How it ended.
    cycles, instructions : int
        Of the whole DPU.
    dma_read_bytes, dma_write_bytes : int
        Bytes transferred from MRAM and to MRAM.
    seconds : float
        Time by the clock of the modelled DPU, not of the simulation.
    thread_instructions : tuple of int
        Instructions of each tasklet.
    fault : FaultKind
        The kind of fault, if there was one.
    fault_thread, fault_pc : int
        The tasklet in fault, and the index of the instruction.
    breakpoint : int
        The number of a fault instruction.
    fault_address : int
        The address of a faulting load or store.
    engine : Engine
        How the simulator executed it.
    runtime : RunTime
        The run time of the program.
    joules : float or None
        Energy of its instructions, ``softInstructionPicojoules`` each; None for another chip, of
        which nothing is published. docs/cycle_model.md says where it is from, and how well it fits.
    cache_hits, cache_misses : int
        Loads and stores of MRAM by a cache (``softCacheKiB``), by whether their line was there.
    cache_write_backs, cache_fill_bytes : int
        Dirty lines written to MRAM, and bytes read from it.
    """

    status: LaunchStatus
    cycles: int
    instructions: int
    dma_read_bytes: int
    dma_write_bytes: int
    seconds: float
    thread_instructions: tuple[int, ...]
    fault: FaultKind
    fault_thread: int
    fault_pc: int
    breakpoint: int
    fault_address: int
    engine: Engine
    runtime: RunTime
    joules: float | None = None
    cache_hits: int = 0
    cache_misses: int = 0
    cache_write_backs: int = 0
    cache_fill_bytes: int = 0


class SetReport(tuple[DpuReport, ...]):
    """Reports of the last launches of the DPUs of a set, in their order, with totals."""

    __slots__ = ()

    def __new__(cls, reports: Iterable[DpuReport] = ()) -> SetReport:
        """Create it from the reports of the DPUs."""
        return super().__new__(cls, reports)

    @property
    def cycles(self) -> int:
        """Cycles of the slowest DPU."""
        return max((report.cycles for report in self), default=0)

    @property
    def seconds(self) -> float:
        """Time of the slowest DPU."""
        return max((report.seconds for report in self), default=0.0)

    @property
    def instructions(self) -> int:
        """Instructions of all DPUs."""
        return sum(report.instructions for report in self)

    @property
    def dma_read_bytes(self) -> int:
        """Bytes that all DPUs transferred from MRAM."""
        return sum(report.dma_read_bytes for report in self)

    @property
    def dma_write_bytes(self) -> int:
        """Bytes that all DPUs transferred to MRAM."""
        return sum(report.dma_write_bytes for report in self)

    @property
    def cache_hits(self) -> int:
        """Loads and stores of all DPUs that found their line in the cache."""
        return sum(report.cache_hits for report in self)

    @property
    def cache_misses(self) -> int:
        """Those that did not."""
        return sum(report.cache_misses for report in self)

    @property
    def joules(self) -> float | None:
        """Energy of the instructions of all DPUs; None if it is unknown."""
        energies = [report.joules for report in self]
        return None if None in energies else sum(filter(None, energies))

    @property
    def runtimes(self) -> frozenset[RunTime]:
        """Run times of the programs."""
        return frozenset(report.runtime for report in self)

    def __repr__(self) -> str:
        names = "+".join(runtime.name.lower() for runtime in sorted(self.runtimes))
        return (
            f"<SetReport of {len(self)} DPU(s): {self.cycles} cycles, "
            f"{self.instructions} instructions, {self.seconds:.3g} s, run time {names or 'none'}>"
        )


def make_report(status: int, *rest: Any) -> DpuReport:
    """Create a report from the numbers of the library."""
    names = DpuReport._fields[1:]
    report = DpuReport(LaunchStatus(status), **dict(zip(names, rest, strict=True)))
    return report._replace(
        fault=FaultKind(report.fault),
        engine=Engine(report.engine),
        runtime=RunTime(report.runtime),
    )
