# SPDX-License-Identifier: BSD-3-Clause
"""Profiles in the format of callgrind, for KCachegrind and callgrind_annotate."""

from __future__ import annotations

from ..elf.format import IRAM_BASE
from .costs import Cost, add_up
from .figures import ProgramFigures

__all__ = ["callgrind"]

# Names of the events, as they are shown, and what they count.
_EVENTS = {
    "Ir": "instructions",
    "Cy": "cycles of tasklets",
    "Dma": "cycles that tasklets waited for DMA",
    "Spin": "cycles of instructions that found an atomic bit taken",
    "Sleep": "cycles that tasklets slept",
}


def _numbers(cost: Cost) -> str:
    return f"{cost.instructions} {cost.cycles} {cost.dma} {cost.spin} {cost.sleep}"


def callgrind(figures: ProgramFigures, pid: int = 0) -> str:
    """Return a profile as callgrind would write it.

    Parameters
    ----------
    figures : ProgramFigures
        The program. Costs are those of each instruction itself: calls are not recorded.
    pid : int
        The process of the host.
    """
    code = figures.code
    whole = Cost()
    for cost in figures.tasklets.values():
        whole.instructions += cost.instructions
        whole.issue += cost.issue
        whole.dma += cost.dma
        whole.spin += cost.spin
        whole.sleep += cost.sleep
    path = figures.program.path.replace("\n", " ")
    parts = [
        "# callgrind format",
        "version: 1",
        "creator: offchip dpu.profile",
        f"pid: {pid}",
        f"cmd: {path}",
        "positions: instr line",
        *(f"event: {name} : {text}" for name, text in _EVENTS.items()),
        f"events: {' '.join(_EVENTS)}",
        f"summary: {_numbers(whole)}",
        "",
        f"ob={path}",
    ]
    place = None
    for pc, cost in sorted(add_up(figures.sites, lambda site: site.pc).items()):
        file, line = code.line(pc)
        here = (file or "???", code.function(pc))
        if here != place:
            parts += [f"fl={here[0]}", f"fn={here[1]}"]
            place = here
        parts.append(f"{IRAM_BASE + 8 * pc:#x} {line} {_numbers(cost)}")
    return "\n".join(parts) + "\n"
