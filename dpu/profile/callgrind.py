# SPDX-License-Identifier: BSD-3-Clause
"""Profiles in the format of callgrind, for KCachegrind and callgrind_annotate.

Lines of a function that come from another file than the function itself, as inlined code does, are
below ``fi=``, and belong to the function all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..elf.format import IRAM_BASE
from .costs import Code, Cost, add_up
from .figures import ProgramFigures, advise
from .raw import Call

__all__ = ["callgrind"]

# Names of the events, as they are shown, and what they count.
_EVENTS = {
    "Ir": "instructions",
    "Cy": "cycles of tasklets",
    "Dma": "cycles that tasklets waited for DMA",
    "Spin": "cycles of instructions that found an atomic bit taken",
    "Sleep": "cycles that tasklets slept",
}
_NO_FILE = "???"


def _numbers(cost: Cost) -> str:
    return f"{cost.instructions} {cost.cycles} {cost.dma} {cost.spin} {cost.sleep}"


def _address(pc: int) -> str:
    return f"{IRAM_BASE + 8 * pc:#x}"


def _file_of(code: Code, pc: int) -> str:
    """Return the file of the function that an instruction is in."""
    first = code.functions().get(code.function(pc), (pc, pc))[0]
    return code.line(first)[0] or _NO_FILE


def _call(code: Code, call: Call) -> Iterator[str]:
    cost = Cost()
    cost.add(call)
    target, name = call.target, code.function(call.target)
    yield f"cfi={_file_of(code, target)}"
    yield f"cfn={name}"
    yield f"calls={call.times} {_address(target)} {code.line(target)[1]}"
    yield f"{_address(call.site)} {code.line(call.site)[1]} {_numbers(cost)}"


def _body(figures: ProgramFigures) -> Iterator[str]:
    code, calls = figures.code, dict[int, list[Call]]()
    for call in figures.calls.calls:
        calls.setdefault(call.site, []).append(call)

    function = within = ""
    for pc, cost in sorted(add_up(figures.sites, lambda site: site.pc).items()):
        file, line = code.line(pc)
        own, name = _file_of(code, pc), code.function(pc)
        if name != function:
            yield f"fl={own}"
            yield f"fn={name}"
            function, within = name, own
        if (file or _NO_FILE) != within:
            within = file or _NO_FILE
            yield f"{'fe' if within == own else 'fi'}={within}"
        yield f"{_address(pc)} {line} {_numbers(cost)}"
        for call in calls.get(pc, ()):
            yield from _call(code, call)


def callgrind(figures: ProgramFigures, pid: int = 0) -> str:
    """Return a profile as callgrind would write it.

    Parameters
    ----------
    figures : ProgramFigures
        The program.
    pid : int
        The process of the host.
    """
    whole = add_up(figures.sites, lambda _: "").get("", Cost())
    path = figures.program.path.replace("\n", " ")
    parts = [
        "# callgrind format",
        "version: 1",
        "creator: offchip dpu.profile",
        f"pid: {pid}",
        f"cmd: {path}",
        *([f"desc: {advise(figures)}"] if figures.whole.status != "done" else []),
        "positions: instr line",
        *(f"event: {name} : {text}" for name, text in _EVENTS.items()),
        f"events: {' '.join(_EVENTS)}",
        f"summary: {_numbers(whole)}",
        "",
        f"ob={path}",
        *_body(figures),
    ]
    return "\n".join(parts) + "\n"
