# SPDX-License-Identifier: BSD-3-Clause
"""How good a launch is: roofline, balance, and one sentence of advice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .calls import CallGraph
from .costs import NOWHERE, SLEEPS, Code, Cost, add_up
from .raw import DONE, FAULT, Ending, Launch, RawProfile, RecordedProgram, Site

__all__ = ["LaunchFigures", "ProgramFigures", "advise", "launch_figures", "program_figures"]


@dataclass(frozen=True)
class LaunchFigures:
    """One launch of a program on some DPUs, or all launches of one DPU.

    Attributes
    ----------
    number : int
        Of the host's launch, or of the DPU.
    dpus : int
        That were profiled.
    cycles, mean_cycles : float
        Of the DPU that took longest, and of all.
    instructions, transfers, bytes, busy : int
        Of all DPUs; the last are cycles of their DMA engines.
    total : int
        Cycles of all DPUs.
    lost_dma, lost_stopped, lost_few : int
        Cycles of all DPUs in which nothing was issued, by their reason.
    faults, stops : int
        How often a DPU ended in a fault, and how often by a limit or an interrupt.
    """

    number: int
    dpus: int
    cycles: int
    mean_cycles: float
    total: int
    instructions: int
    transfers: int
    bytes: int
    busy: int
    lost_dma: int
    lost_stopped: int
    lost_few: int
    tasklets: int
    faults: int
    stops: int

    @property
    def status(self) -> str:
        """``done``, ``fault`` or ``stopped``."""
        return "fault" if self.faults else "stopped" if self.stops else "done"

    @property
    def per_cycle(self) -> float:
        """Instructions per cycle."""
        return self.instructions / self.total if self.total else 0.0

    @property
    def bytes_per_cycle(self) -> float:
        """Bytes between MRAM and WRAM per cycle."""
        return self.bytes / self.total if self.total else 0.0

    @property
    def balance(self) -> float:
        """Cycles of the mean DPU in those of the slowest one: 1 is best."""
        return self.mean_cycles / self.cycles if self.cycles else 1.0

    @property
    def share_busy(self) -> float:
        """In how much of the time the DMA engine is at work."""
        return min(1.0, self.busy / self.total) if self.total else 0.0


@dataclass(frozen=True)
class ProgramFigures:
    """A program over all its launches.

    Attributes
    ----------
    launches, dpus : list of LaunchFigures
        Of each launch, and of each DPU; of these the slowest comes first.
    whole : LaunchFigures
        Of all together.
    tasklets : dict of int to Cost
        Of all DPUs together.
    endings : list of Ending
        Where launches ended that did not complete.
    """

    program: RecordedProgram
    code: Code
    sites: list[Site]
    launches: list[LaunchFigures]
    dpus: list[LaunchFigures]
    whole: LaunchFigures
    tasklets: dict[int, Cost]
    calls: CallGraph
    endings: list[Ending]

    @property
    def limit(self) -> float:
        """Bytes per cycle that the DMA engines can do, in transfers of 2,048 bytes."""
        options = self.program.options
        cycles = options.get("softDmaSetup", 0) + 2.0 * options.get("softDmaEnginePerKiB", 0)
        if options.get("softDramBanks", 0):
            cycles = self._cycles_of_banks()
        return options.get("softDmaEngines", 1) * 2048 / cycles if cycles else float("inf")

    def _cycles_of_banks(self) -> float:
        """Cycles of an engine for 2,048 bytes of rows that are not open."""
        options = self.program.options
        rows = max(1, 2048 // options["softDramRowBytes"])
        clocks = rows * options["softDramRcdClocks"] + options["softDramClClocks"]
        if options["softDramBanks"] == 1:
            clocks += (rows - 1) * options["softDramRpClocks"]
        clocks += 256 * options["softDramCcdClocks"]
        per_cycle = options["softDramMHz"] * 1e6 / self.program.clock_hz
        return options["softDramSetupCycles"] + clocks / per_cycle

    @property
    def width(self) -> int:
        """Instructions per cycle that the pipeline can issue."""
        return self.program.options.get("softPipelineWidth", 1)

    @property
    def depth(self) -> int:
        """Cycles between two instructions of a tasklet."""
        return self.program.options.get("softPipelineCycles", 11)

    @property
    def joules(self) -> float | None:
        """Energy of all instructions; None if none is published of such a chip."""
        picojoules = self.program.options.get("softInstructionPicojoules", 0)
        return 1e-12 * picojoules * self.whole.instructions if picojoules else None

    @property
    def tasklet_balance(self) -> float:
        """Instructions of the mean tasklet in those of the busiest one."""
        counts = [cost.instructions for cost in self.tasklets.values()]
        most = max(counts, default=0)
        return sum(counts) / len(counts) / most if most else 1.0


def launch_figures(launches: Sequence[Launch], number: int = 0) -> LaunchFigures:
    """Add up what DPUs did in a launch, or in several."""
    slowest: dict[int, int] = {}
    for one in launches:
        slowest[one.operation] = max(slowest.get(one.operation, 0), one.cycles)
    dpus = len({one.dpu for one in launches})
    total = sum(one.cycles for one in launches)
    return LaunchFigures(
        number=number,
        dpus=dpus,
        cycles=sum(slowest.values()),
        mean_cycles=total / dpus if dpus else 0.0,
        total=total,
        instructions=sum(one.instructions for one in launches),
        transfers=sum(one.reads + one.writes for one in launches),
        bytes=sum(one.read_bytes + one.write_bytes for one in launches),
        busy=sum(one.dma_busy for one in launches),
        lost_dma=sum(one.lost_dma for one in launches),
        lost_stopped=sum(one.lost_stopped for one in launches),
        lost_few=sum(one.lost_few for one in launches),
        tasklets=max((sum(t.end != 0 for t in one.tasklets) for one in launches), default=0),
        faults=sum(one.status == FAULT for one in launches),
        stops=sum(one.status not in (DONE, FAULT) for one in launches),
    )


def program_figures(profile: RawProfile) -> list[ProgramFigures]:
    """Return the figures of each program, the one that took most cycles first."""
    found = []
    for number, program in profile.programs.items():
        launches = [one for one in profile.launches if one.program == number]
        runs = {(one.operation, one.dpu) for one in launches}
        groups, by_dpu = dict[int, list[Launch]](), dict[int, list[Launch]]()
        for one in launches:
            groups.setdefault(one.operation, []).append(one)
            by_dpu.setdefault(one.dpu, []).append(one)
        dpus = [launch_figures(group, key) for key, group in sorted(by_dpu.items())]
        code, sites = Code(program), profile.sites.get(number, [])
        found.append(
            ProgramFigures(
                program=program,
                code=code,
                sites=sites,
                launches=[launch_figures(group, key) for key, group in groups.items()],
                dpus=sorted(dpus, key=lambda one: -one.cycles),
                whole=launch_figures(launches),
                tasklets=dict(sorted(add_up(sites, lambda site: site.thread).items())),
                calls=CallGraph(code, sites, profile.calls.get(number, [])),
                endings=[one for one in profile.endings if (one.operation, one.dpu) in runs],
            )
        )
    return sorted(found, key=lambda one: -one.whole.cycles)


# Of all instructions: from here on, what calls a routine is worth a look.
_SHARE_OF_ROUTINES = 0.25
# Of the time of tasklets: from here on, locks are what bounds a program.
_SHARE_OF_LOCKS = 0.2
# Of the cycles in which the pipeline issues, and of those in which DMA is busy: with less of one of
# them a program is at most 1.25 times as fast without the other.
_SHARE_OF_BOTH = 0.8
# Functions of the run time that take a lock of their own.
_ALLOCATORS = frozenset(
    ("mem_alloc", "mem_reset", "fsb_get", "fsb_free", "buddy_alloc", "buddy_free", "buddy_realloc")
)


def _percent(part: float) -> str:
    return f"{100 * part:.0f} %"


def _hottest(figures: ProgramFigures, measure: str) -> str:
    """Name the line with most of some kind of cycles, outside the run time if possible."""
    code = figures.code
    lines = add_up(figures.sites, lambda site: code.place(site.pc))
    best = max(lines.items(), key=lambda item: getattr(item[1], measure), default=None)
    return best[0] if best is not None else NOWHERE


def _most_instructions(figures: ProgramFigures) -> str:
    """Say which line has most instructions, or which calls of a routine that compilers insert."""
    own = figures.calls.own
    routines = {name: cost.instructions for name, cost in own.items() if name.startswith("__")}
    name = max(routines, key=lambda one: routines[one], default=NOWHERE)
    share = routines.get(name, 0) / sum(cost.instructions for cost in own.values())
    site = figures.calls.most_expensive_call(name)
    if site is None or share < _SHARE_OF_ROUTINES:
        return f"most are at {_hottest(figures, 'instructions')}"
    return f"{_percent(share)} are in the routine {name}, most for {figures.code.place(site)}"


def _advice_on_locks(figures: ProgramFigures, share: float) -> str:
    """Say where tasklets wait for a lock, and what to do; an allocator's lock is none of theirs."""
    code = figures.code
    functions = add_up(figures.sites, lambda site: code.function(site.pc))
    name = max(functions, key=lambda one: functions[one].spin, default=NOWHERE)
    if name not in _ALLOCATORS:
        return (
            f"Bound by locks: tasklets spend {_percent(share)} of their time trying to take an "
            f"atomic bit, most at {_hottest(figures, 'spin')}; give each tasklet data of its own "
            "and join them at the end."
        )
    site = figures.calls.most_expensive_call(name)
    place = f", most for {code.place(site)}" if site is not None else ""
    return (
        f"Bound by locks: tasklets spend {_percent(share)} of their time waiting for the lock of "
        f"the allocator in {name}{place}; call it less often: once per tasklet and before loops, "
        "with one block for several buffers."
    )


def _sleeping(figures: ProgramFigures) -> tuple[str, float]:
    """Return what tasklets sleep in most, and the share of their time."""
    costs = add_up(figures.sites, lambda site: figures.code.function(site.pc))
    total = sum(cost.cycles for cost in costs.values())
    name = max(costs, key=lambda one: costs[one].sleep, default=NOWHERE)
    share = sum(cost.sleep for cost in costs.values()) / total if total else 0.0
    return SLEEPS.get(name, name), share


def _advice_on_endings(figures: ProgramFigures) -> str:
    """Say where a program was cut short: what bounds the rest of it, nobody knows."""
    whole = figures.whole
    what = "by a fault" if whole.faults else "by a limit or an interrupt"
    of = sum(one.dpus for one in figures.launches)
    place = ""
    if figures.endings:
        first = figures.endings[0]
        place = f" (DPU {first.dpu} in launch {first.operation}: {first.text})"
    return (
        f"Ended {what}: {whole.faults + whole.stops} of {of} runs of DPUs did not complete{place};"
        " the figures are of what came before."
    )


def _advice_on_limits(figures: ProgramFigures) -> str:
    """Name what the program reaches of the pipeline and the DMA engines; nothing if neither."""
    whole = figures.whole
    size = whole.bytes / whole.transfers if whole.transfers else 0.0
    hint = "use larger transfers" if size < 256 else "reuse in WRAM what was transferred"
    issuing, moving = whole.per_cycle / figures.width, whole.share_busy
    if min(issuing, moving) > _SHARE_OF_BOTH:
        # Without the one, the other would still take its share of the time.
        return (
            f"Compute-bound and DMA-bound: {whole.per_cycle:.2f} instructions per cycle of "
            f"{figures.width}, and the engine is busy in {_percent(moving)} of cycles, with "
            f"transfers of {size:.0f} bytes on average ({_hottest(figures, 'dma')}). Fewer "
            f"instructions alone gain at most {_percent(1 - moving)} of the time, and "
            f"{_most_instructions(figures)}; less to transfer alone gains at most "
            f"{_percent(1 - issuing)}: {hint}."
        )
    if moving > max(0.8, issuing):
        return (
            f"DMA-bound: the engine is busy in {_percent(moving)} of cycles; transfers "
            f"average {size:.0f} bytes ({_hottest(figures, 'dma')}): {hint}."
        )
    if issuing > 0.85:
        return (
            f"Compute-bound: {whole.per_cycle:.2f} instructions per cycle of {figures.width}; only "
            f"fewer instructions help, and {_most_instructions(figures)}."
        )
    return ""


def advise(figures: ProgramFigures) -> str:
    """Say in a sentence what bounds a program, and what would help."""
    whole = figures.whole
    if whole.status != "done":
        return _advice_on_endings(figures)
    if not whole.total or not whole.instructions:
        return "Nothing was executed."

    time = sum(cost.cycles for cost in figures.tasklets.values())
    spin = sum(cost.spin for cost in figures.tasklets.values()) / time if time else 0.0
    sleeps_in, sleep = _sleeping(figures)
    size = whole.bytes / whole.transfers if whole.transfers else 0.0
    if whole.balance < 0.75:
        slowest = f"DPU {figures.dpus[0].number}" if figures.dpus else "the slowest one"
        return (
            f"Unbalanced DPUs: {slowest} takes {1 / whole.balance:.1f} times as long as the mean; "
            "give each DPU as much to do."
        )
    # Where most tasklets have ended, locks that they met before say little about the whole.
    if spin > max(_SHARE_OF_LOCKS, whole.lost_stopped / whole.total):
        return _advice_on_locks(figures, spin)
    limits = _advice_on_limits(figures)
    if limits:
        return limits
    if figures.tasklet_balance < 0.6 and whole.lost_stopped >= max(whole.lost_dma, whole.lost_few):
        return (
            f"Unbalanced tasklets: the mean one executes {_percent(figures.tasklet_balance)} of "
            "the instructions of the busiest one; divide the work evenly."
        )
    lost = {"few": whole.lost_few, "dma": whole.lost_dma, "stopped": whole.lost_stopped}
    most = max(lost, key=lambda one: lost[one])
    share = _percent(lost[most] / whole.total)
    if most == "few":
        return (
            f"Too few tasklets: {share} of cycles issue nothing because only {whole.tasklets} "
            f"tasklets run, and one issues in {figures.depth} cycles; "
            f"use {figures.depth * figures.width} or more."
        )
    if most == "dma":
        hint = "compute more between transfers, or transfer less"
        if size < 256:
            hint = "use larger transfers"
        elif whole.tasklets < 16:
            hint = "use more tasklets"
        return (
            f"Bound by the latency of DMA: in {share} of cycles nothing is issued because tasklets "
            f"wait for transfers, which average {size:.0f} bytes "
            f"({_hottest(figures, 'dma')}): {hint}."
        )
    if sleep > 0.1:
        return (
            f"Tasklets wait for each other: {_percent(sleep)} of their time is sleep "
            f"({sleeps_in}, most at {_hottest(figures, 'sleep')}); divide the work between two "
            "meetings evenly."
        )
    return (
        f"Tasklets end early: in {share} of cycles nothing is issued because too few of "
        f"{whole.tasklets} still run; divide the work evenly."
    )
