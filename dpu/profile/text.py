# SPDX-License-Identifier: BSD-3-Clause
"""Profiles as sorted text, and as annotated sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from .costs import Cost, add_up
from .figures import LaunchFigures, ProgramFigures, advise

__all__ = ["annotate", "count_of", "coverage", "energy", "report", "summary"]

_COSTS = ("cycles", "%", "instr", "issue", "pipeline", "spin", "dma", "sleep")


def count_of(number: int, name: str) -> str:
    """Write a number of things, such as "1 DPU" and "2 launches"."""
    ending = "" if number == 1 else "es" if name.endswith("ch") else "s"
    return f"{number:,} {name}{ending}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Align all columns to the right but the last one."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        numbers = "  ".join(text.rjust(widths[i]) for i, text in enumerate(row[:-1]))
        yield f"  {numbers}  {row[-1]}"


def _cost_row(cost: Cost, total: int, name: str) -> list[str]:
    share = 100 * cost.cycles / total if total else 0.0
    numbers = (cost.issue - cost.spin - cost.pipeline, cost.pipeline, cost.spin)
    return [
        f"{cost.cycles}",
        f"{share:.1f}",
        f"{cost.instructions}",
        *(f"{number}" for number in numbers),
        f"{cost.dma}",
        f"{cost.sleep}",
        name,
    ]


def _costs(costs: dict[str, Cost], total: int, limit: int, what: str) -> Iterator[str]:
    rows = [_cost_row(cost, total, name) for name, cost in list(costs.items())[:limit]]
    yield from _table([*_COSTS, what], rows)
    if len(costs) > limit:
        yield f"  ... and {len(costs) - limit} more"


def _functions(figures: ProgramFigures, total: int, limit: int) -> Iterator[str]:
    """Functions, with what passed in them and in what they call before their own cost."""
    graph, rows = figures.calls, []
    for name, cost in list(graph.own.items())[:limit]:
        cycles = graph.inclusive[name].cycles
        share = 100 * cycles / total if total else 0.0
        rows.append([f"{cycles}", f"{share:.1f}", *_cost_row(cost, total, name)])
    yield from _table(["inclusive", "%", *_COSTS, "function"], rows)
    if len(graph.own) > limit:
        yield f"  ... and {len(graph.own) - limit} more"


def _calls(figures: ProgramFigures, total: int, limit: int) -> Iterator[str]:
    arcs = figures.calls.arcs()
    rows = [
        [
            *(f"{count}", f"{cost.cycles}", f"{100 * cost.cycles / total if total else 0:.1f}"),
            *(f"{cost.instructions}", f"{cost.dma}", f"{cost.spin + cost.sleep}"),
            f"{caller} -> {callee}",
        ]
        for (caller, callee), (count, cost) in list(arcs.items())[:limit]
    ]
    head = ["calls", "inclusive", "%", "instr", "dma", "wait", "caller -> callee"]
    yield from _table(head, rows)
    if len(arcs) > limit:
        yield f"  ... and {len(arcs) - limit} more"


def _launch_row(one: LaunchFigures, limit: float) -> list[str]:
    def share(cycles: int) -> str:
        return f"{100 * cycles / one.total:.0f}" if one.total else "0"

    return [
        f"{one.number}" if one.number else "all",
        f"{one.dpus}",
        f"{one.cycles}",
        f"{one.instructions}",
        f"{one.per_cycle:.3f}",
        f"{one.bytes_per_cycle:.3f}",
        f"{100 * one.bytes_per_cycle / limit:.0f}",
        f"{100 * one.share_busy:.0f}",
        f"{one.bytes / one.transfers if one.transfers else 0:.0f}",
        share(one.lost_dma),
        share(one.lost_stopped),
        share(one.lost_few),
        f"{one.balance:.2f}",
        one.status,
    ]


def _launches(figures: ProgramFigures, limit: int) -> Iterator[str]:
    head = ["launch", "DPUs", "cycles", "instr", "instr/cycle", "bytes/cycle", "% of limit"]
    head += ["DMA busy %", "bytes/transfer", "lost: DMA %", "stopped %", "few tasklets %"]
    head += ["balance", "status"]
    rows = [_launch_row(one, figures.limit) for one in figures.launches[:limit]]
    if len(figures.launches) > 1:
        rows.append(_launch_row(figures.whole, figures.limit))
    yield from _table(head, rows)


def _dpus(figures: ProgramFigures, limit: int) -> Iterator[str]:
    """DPUs, the slowest first."""
    head = ["cycles", "of mean", "instr", "instr/cycle", "bytes", "DMA busy %"]
    head += ["lost: DMA %", "stopped %", "few tasklets %", "DPU"]
    mean, rows = figures.whole.mean_cycles or 1.0, []
    for one in figures.dpus[:limit]:
        shares = (one.lost_dma, one.lost_stopped, one.lost_few)
        rows.append(
            [
                *(f"{one.cycles}", f"{one.cycles / mean:.2f}", f"{one.instructions}"),
                *(f"{one.per_cycle:.3f}", f"{one.bytes}", f"{100 * one.share_busy:.0f}"),
                *(f"{100 * cycles / (one.total or 1):.0f}" for cycles in shares),
                f"DPU {one.number}",
            ]
        )
    yield from _table(head, rows)
    if len(figures.dpus) > limit:
        fastest = figures.dpus[-1]
        more = f"{len(figures.dpus) - limit} more, DPU {fastest.number} in {fastest.cycles}"
        yield f"  ... and {more}"


def coverage(figures: ProgramFigures) -> dict[str, tuple[int, int]]:
    """Return how many instructions of each function were executed, and how many it has."""
    executed = {site.pc for site in figures.sites}
    return {
        name: (sum(pc in executed for pc in range(first, last)), last - first)
        for name, (first, last) in figures.code.functions().items()
    }


def energy(figures: ProgramFigures) -> str:
    """Write the energy of the instructions; nothing if none is published of such a chip."""
    return "" if figures.joules is None else f", about {1e3 * figures.joules:.3g} mJ"


def summary(figures: ProgramFigures) -> list[str]:
    """Return two lines: what was profiled, and the advice."""
    return [
        f"program {figures.program.path or '(from memory)'}: "
        f"{count_of(len(figures.launches), 'launch')} of "
        f"{count_of(figures.whole.dpus, 'profiled DPU')}, "
        f"{count_of(figures.whole.tasklets, 'tasklet')}{energy(figures)}",
        f"  {advise(figures)}",
    ]


def report(figures: ProgramFigures, *, lines: int = 20, instructions: int = 0) -> str:
    """Return the figures of a program as text.

    Parameters
    ----------
    figures : ProgramFigures
        The program.
    lines, instructions : int
        How many of them to show, of functions and launches as many as of lines.
    """
    code, sites, total = figures.code, figures.sites, 0
    total = sum(cost.cycles for cost in figures.tasklets.values())
    parts = [
        *summary(figures),
        "",
        "launches (cycles of the slowest DPU):",
        *_launches(figures, lines),
        "",
        *(["DPUs:", *_dpus(figures, lines), ""] if len(figures.dpus) > 1 else []),
        "functions (cycles of all tasklets):",
        *_functions(figures, total, lines),
        "",
        "calls (and what passed in them):",
        *_calls(figures, total, lines),
        "",
        "lines:",
        *_costs(add_up(sites, lambda site: code.place(site.pc)), total, lines, "line"),
    ]
    if instructions:

        def name(pc: int) -> str:
            return f"{pc:#05x} {code.instruction(pc)}  ({code.place(pc)})"

        costs = add_up(sites, lambda site: name(site.pc))
        parts += ["", "instructions:", *_costs(costs, total, instructions, "instruction")]
    tasklets = {f"tasklet {number}": cost for number, cost in figures.tasklets.items()}
    parts += ["", "tasklets:", *_costs(tasklets, total, 24, "tasklet")]
    covered = [one for one in coverage(figures).values() if one[1]]
    parts += [
        "",
        f"coverage: {sum(one[0] for one in covered)} of {sum(one[1] for one in covered)} "
        f"instructions, {sum(one[0] != 0 for one in covered)} of {len(covered)} functions",
    ]
    return "\n".join(parts) + "\n"


def annotate(figures: ProgramFigures) -> str:
    """Return the sources that were executed, with the cost of each line before it."""
    code, parts = figures.code, []
    total = sum(cost.cycles for cost in figures.tasklets.values())
    by_line = add_up(figures.sites, lambda site: code.line(site.pc))
    for file in sorted({file for file, line in by_line if line}):
        source = code.source(file)
        if source is None:
            parts.append(f"-- {file}: cannot be read here")
            continue
        parts += [f"-- {file}", f"{'cycles':>14} {'%':>5} {'instr':>12} {'dma':>12} {'wait':>12}"]
        for number, text in enumerate(source, 1):
            cost = by_line.get((file, number))
            if cost is None:
                parts.append(f"{'':59} {text}".rstrip())
                continue
            share = 100 * cost.cycles / total if total else 0.0
            parts.append(
                f"{cost.cycles:14} {share:5.1f} {cost.instructions:12} {cost.dma:12} "
                f"{cost.spin + cost.sleep:12} {text}"
            )
    if not parts:
        parts = [f"{Path(figures.program.path).name}: no source lines (compile with -g)"]
    return "\n".join(parts) + "\n"
