# SPDX-License-Identifier: BSD-3-Clause
"""Profiles as one HTML page, which needs nothing else."""

from __future__ import annotations

from html import escape

from .costs import Cost, add_up
from .drawing import draw_dpus, draw_roofline, draw_tasklets, draw_timeline
from .figures import LaunchFigures, ProgramFigures, advise
from .raw import RawProfile
from .text import coverage

__all__ = ["page"]

_STYLE = """
body { font: 14px sans-serif; margin: 2em auto; max-width: 75em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; }
td, th { padding: 1px 9px; text-align: right; border-bottom: 1px solid #ddd; }
td:last-child, th:last-child { text-align: left; }
.advice { background: #eef5f2; border-left: 4px solid #2a7f62; padding: 0.7em 1em; }
.code td { border: 0; padding: 0 9px; font-family: monospace; white-space: pre; }
summary { cursor: pointer; font-weight: bold; margin: 1em 0 0; }
"""
_HEAD = ["cycles", "%", "instructions", "pipeline", "spin", "DMA", "sleep"]
_MOST_LAUNCHES, _MOST_ROWS = 200, 200


def _row(cells: list[str], tag: str = "td", style: str = "") -> str:
    inside = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
    return f"<tr{style}>{inside}</tr>"


def _table(head: list[str], rows: list[list[str]]) -> str:
    body = "\n".join(_row(row) for row in rows)
    return f"<table>\n{_row(head, 'th')}\n{body}\n</table>"


def _cells(cost: Cost, total: int) -> list[str]:
    share = 100 * cost.cycles / total if total else 0.0
    numbers = (cost.instructions, cost.pipeline, cost.spin, cost.dma, cost.sleep)
    return [f"{cost.cycles:,}", f"{share:.1f}", *(f"{number:,}" for number in numbers)]


def _costs(costs: dict[str, Cost], total: int, what: str) -> str:
    rows = [[*_cells(cost, total), name] for name, cost in list(costs.items())[:_MOST_ROWS]]
    return _table([*_HEAD, what], rows)


def _functions(figures: ProgramFigures, total: int) -> str:
    graph, rows = figures.calls, []
    for name, cost in list(graph.own.items())[:_MOST_ROWS]:
        cycles = graph.inclusive[name].cycles
        share = 100 * cycles / total if total else 0.0
        rows.append([f"{cycles:,}", f"{share:.1f}", *_cells(cost, total), name])
    return _table(["inclusive", "%", *_HEAD, "function"], rows)


def _calls(figures: ProgramFigures, total: int) -> str:
    rows = []
    for (caller, callee), (count, cost) in list(figures.calls.arcs().items())[:_MOST_ROWS]:
        share = 100 * cost.cycles / total if total else 0.0
        cells = [f"{count:,}", f"{cost.cycles:,}", f"{share:.1f}", f"{cost.instructions:,}"]
        rows.append([*cells, f"{caller} \N{RIGHTWARDS ARROW} {callee}"])
    return _table(["calls", "inclusive", "%", "instructions", "from and to"], rows)


def _launch(one: LaunchFigures, limit: float) -> list[str]:
    def share(cycles: int) -> str:
        return f"{100 * cycles / one.total:.0f}" if one.total else "0"

    return [
        f"{one.dpus}",
        f"{one.cycles:,}",
        f"{one.instructions:,}",
        f"{one.per_cycle:.3f}",
        f"{one.bytes_per_cycle:.3f} ({100 * one.bytes_per_cycle / limit:.0f} %)",
        f"{100 * one.share_busy:.0f}",
        share(one.lost_dma),
        share(one.lost_stopped),
        share(one.lost_few),
        f"{one.balance:.2f}",
        f"{one.number}" if one.number else "all",
    ]


def _sources(figures: ProgramFigures, total: int) -> str:
    """Return the annotated sources; the hotter a line, the redder."""
    code, parts = figures.code, []
    by_line = add_up(figures.sites, lambda site: code.line(site.pc))
    for file in sorted({file for file, line in by_line if line}):
        source = code.source(file)
        if source is None:
            continue
        rows = []
        for number, text in enumerate(source, 1):
            cost = by_line.get((file, number))
            share = cost.cycles / total if cost is not None and total else 0.0
            style = f' style="background: rgba(192,57,43,{min(0.6, share):.3f})"' if share else ""
            costs = [f"{cost.cycles:,}", f"{100 * share:.1f}"] if cost is not None else ["", ""]
            rows.append(_row([*costs, f"{number}", text], style=style))
        body = "\n".join(rows)
        parts.append(
            f"<details open><summary>{escape(file)}</summary>\n"
            f'<table class="code">\n{body}\n</table></details>'
        )
    return "\n".join(parts)


def _program(profile: RawProfile, figures: ProgramFigures) -> str:
    code, total = figures.code, sum(cost.cycles for cost in figures.tasklets.values())
    head = ["DPUs", "cycles", "instructions", "per cycle", "bytes per cycle (of limit)"]
    head += ["DMA busy %", "lost: DMA %", "stopped %", "few tasklets %", "balance", "launch"]
    rows = [_launch(one, figures.limit) for one in figures.launches[:_MOST_LAUNCHES]]
    rows.append(_launch(figures.whole, figures.limit))
    pictures = [draw_roofline(figures), draw_tasklets(figures)]
    if len(figures.dpus) > 1:
        pictures.append(draw_dpus(figures))
    number = figures.program.number
    events = next((one for one in profile.events if one.program == number and one.events), None)
    if events is not None:
        pictures.append(draw_timeline(figures, events))
    covered = [
        [f"{executed} of {size}", name] for name, (executed, size) in coverage(figures).items()
    ]
    return "\n".join(
        [
            f"<h2>{escape(figures.program.path or 'program from memory')}</h2>",
            f'<p class="advice">{escape(advise(figures))}</p>',
            _table(head, rows),
            *pictures,
            "<h3>Functions</h3>",
            _functions(figures, total),
            "<h3>Calls</h3>",
            _calls(figures, total),
            "<h3>Lines</h3>",
            _costs(add_up(figures.sites, lambda site: code.place(site.pc)), total, "line"),
            "<details><summary>Coverage (instructions)</summary>",
            _table(["executed", "function"], covered),
            "</details>",
            "<h3>Sources</h3>",
            _sources(figures, total),
        ]
    )


def page(profile: RawProfile, programs: list[ProgramFigures]) -> str:
    """Return the page."""
    notes = []
    if profile.dropped:
        notes.append(f"{profile.dropped} records were beyond the limit of the file.")
    if profile.left_out:
        notes.append(f"Launches that ran on none of the profiled DPUs: {profile.left_out}.")
    if not profile.is_complete:
        notes.append("A process did not come to its end.")
    body = "\n".join(_program(profile, one) for one in programs)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f"<title>DPU profile</title>\n<style>{_STYLE}</style></head>\n<body>\n"
        "<h1>DPU profile</h1>\n"
        "<p>Cycles in tables are those of tasklets, of all DPUs together: issuing, and waiting for "
        f"DMA and for others. {escape(' '.join(notes))}</p>\n{body}\n</body></html>\n"
    )
