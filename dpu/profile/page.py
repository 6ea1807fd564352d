# SPDX-License-Identifier: BSD-3-Clause
"""Profiles as one HTML page, which needs nothing else."""

from __future__ import annotations

from html import escape
from pathlib import Path

from .costs import Code, Cost, add_up
from .drawing import draw_dpus, draw_roofline, draw_tasklets, draw_timeline
from .figures import LaunchFigures, ProgramFigures, advise
from .raw import RawProfile
from .text import count_of, coverage, energy

__all__ = ["page"]

_STYLE = """
:root { color-scheme: light dark; --page: #fff; --text: #222; --quiet: #666; --line: #ddd;
  --box: #eef5f2; --good: #2a7f62; --hot: 192,57,43; }
@media (prefers-color-scheme: dark) { :root { --page: #191c1b; --text: #ddd; --quiet: #999;
  --line: #3a3f3d; --box: #22302b; --good: #5cc29f; --hot: 231,96,80; } }
body { font: 14px/1.45 sans-serif; margin: 0 auto; padding: 1em; max-width: 75em;
  color: var(--text); background: var(--page); }
h1, h2, h3 { line-height: 1.2; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 0.5em 0 1em; }
td, th { padding: 2px 9px; text-align: right; white-space: pre;
  border-bottom: 1px solid var(--line); }
td:first-child, th:first-child { text-align: left; position: sticky; left: 0;
  background: var(--page); }
th { white-space: normal; vertical-align: bottom; }
.source td:last-child, .source th:last-child, .code td:nth-child(4) {
  text-align: left; font-family: monospace; }
.advice { background: var(--box); border-left: 4px solid var(--good); padding: 0.7em 1em; }
.quiet { color: var(--quiet); } code { overflow-wrap: anywhere; }
svg { background: white; min-width: 36rem; max-width: 100%; height: auto; }
.code td { border: 0; padding: 0 9px; }
summary { cursor: pointer; font-weight: bold; margin: 1em 0 0; }
dt { font-weight: bold; } dd { margin: 0 0 0.3em 2em; }
"""
_HEAD = ["%", "time", "cycles", "instructions", "pipeline", "spin", "DMA", "sleep"]
_MEANINGS = {
    "cycles": "of a launch, those of its slowest DPU; of functions, lines and tasklets, the time "
    "in which tasklets issue, or wait as the columns on the right say",
    "time": "these cycles, at the clock of the DPU",
    "pipeline": "the rest of the rounds in which an instruction was issued: a tasklet issues one "
    "in 11 cycles or more",
    "spin": "rounds in which it tried to take an atomic bit, as of a mutex, that another one held",
    "DMA": "waiting for its transfer",
    "sleep": "stopped, in a barrier, semaphore or handshake, until another tasklet resumed it",
    "with calls": "the cost of a function with all that it calls",
    "bytes per cycle (of limit)": "between MRAM and WRAM, and the share of what the DMA engine can "
    "do in transfers of 2,048 bytes",
    "DMA busy": "how much of the time the DMA engine is at work",
    "lost: DMA": "cycles in which nothing is issued, as tasklets wait for DMA",
    "stopped": "the same, as tasklets have stopped, and wait for others",
    "few tasklets": "the same, as there are too few tasklets",
    "balance": "the mean DPU's cycles in those of the slowest one",
    "status": "done, or fault or stopped where a DPU did not complete",
}
_MOST_LAUNCHES = 20
# Rows of less than this share of the whole are added up in one.
_LEAST_SHARE = 0.005
# Lines of a source that are shown around one with a cost.
_AROUND = 3


def _row(cells: list[str], tag: str = "td", style: str = "") -> str:
    inside = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
    return f"<tr{style}>{inside}</tr>"


def _table(head: list[str], rows: list[list[str]], kind: str = "") -> str:
    body = "\n".join(_row(row) for row in rows)
    opening = f'<table class="{kind}">' if kind else "<table>"
    return f'<div class="wide">{opening}\n{_row(head, "th")}\n{body}\n</table></div>'


def _time(cycles: float, clock_hz: int) -> str:
    """Write cycles as a time with its unit."""
    seconds = cycles / clock_hz if clock_hz else 0.0
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _cells(cost: Cost, total: int, clock_hz: int) -> list[str]:
    share = 100 * cost.cycles / total if total else 0.0
    numbers = (cost.cycles, cost.instructions, cost.pipeline, cost.spin, cost.dma, cost.sleep)
    return [f"{share:.1f} %", _time(cost.cycles, clock_hz), *(f"{number:,}" for number in numbers)]


def _cut(costs: list[tuple[str, int]], total: int) -> tuple[set[str], str]:
    """Return the names that matter, and what is said of the others."""
    kept = {name for name, cycles in costs if cycles >= _LEAST_SHARE * total}
    rest = [cycles for name, cycles in costs if name not in kept]
    if not rest or not total:
        return {name for name, _ in costs}, ""
    share = 100 * sum(rest) / total
    return kept, (
        f"{len(rest)} more, of less than {100 * _LEAST_SHARE:g} % each: {share:.1f} % together"
    )


def _shown(head: list[str], rows: dict[str, list[str]], cut: tuple[set[str], str]) -> str:
    """Return the table of rows that matter, and a line about the others."""
    kept, rest = cut
    shown = [[name, *cells] for name, cells in rows.items() if name in kept]
    table = _table(head, shown, "source" if head[-1] == "source" else "")
    return table + (f'\n<p class="quiet">{escape(rest)}</p>' if rest else "")


def _functions(figures: ProgramFigures, total: int) -> str:
    graph, clock = figures.calls, figures.program.clock_hz
    inclusive = {name: graph.inclusive[name].cycles for name in graph.own}
    rows = {
        name: [
            f"{100 * inclusive[name] / total if total else 0.0:.1f} %",
            *_cells(cost, total, clock),
        ]
        for name, cost in graph.own.items()
    }
    cut = _cut(list(inclusive.items()), total)
    return _shown(["function", "with calls", *_HEAD], rows, cut)


def _calls(figures: ProgramFigures, total: int) -> str:
    rows, clock = {}, figures.program.clock_hz
    arcs = figures.calls.arcs()
    for (caller, callee), (count, cost) in arcs.items():
        share = 100 * cost.cycles / total if total else 0.0
        cells = [f"{count:,}", f"{share:.1f} %", _time(cost.cycles, clock)]
        rows[f"{caller} \N{RIGHTWARDS ARROW} {callee}"] = [*cells, f"{cost.instructions:,}"]
    cycles = [cost.cycles for _, cost in arcs.values()]
    cut = _cut(list(zip(rows, cycles, strict=True)), total)
    return _shown(["from and to", "calls", "%", "time", "instructions"], rows, cut)


def _line_of(code: Code, pc: int) -> str:
    """Name the line of an instruction; all of a function without lines are one."""
    return code.place(pc) if code.line(pc)[1] else f"{code.function(pc)}, without lines"


def _lines(figures: ProgramFigures, total: int) -> str:
    """Return the lines that cost most, with their text."""
    code, clock = figures.code, figures.program.clock_hz
    texts = {}
    for site in figures.sites:
        file, number = code.line(site.pc)
        source = code.source(file) if number else None
        if source is not None and number <= len(source):
            texts[_line_of(code, site.pc)] = source[number - 1].strip()
    costs = add_up(figures.sites, lambda site: _line_of(code, site.pc))
    rows = {
        name: [*_cells(cost, total, clock), texts.get(name, "")] for name, cost in costs.items()
    }
    cut = _cut([(name, cost.cycles) for name, cost in costs.items()], total)
    return _shown(["line", *_HEAD, "source"], rows, cut)


def _launch(one: LaunchFigures, figures: ProgramFigures) -> list[str]:
    def share(cycles: int) -> str:
        return f"{100 * cycles / one.total:.0f} %" if one.total else "0 %"

    return [
        f"{one.number}" if one.number else "all",
        f"{one.dpus}",
        _time(one.cycles, figures.program.clock_hz),
        f"{one.cycles:,}",
        f"{one.instructions:,}",
        f"{one.per_cycle:.3f}",
        f"{one.bytes_per_cycle:.3f} ({100 * one.bytes_per_cycle / figures.limit:.0f} %)",
        f"{100 * one.share_busy:.0f} %",
        share(one.lost_dma),
        share(one.lost_stopped),
        share(one.lost_few),
        f"{one.balance:.2f}",
        one.status,
    ]


def _launches(figures: ProgramFigures) -> str:
    head = ["launch", "DPUs", "time", "cycles", "instructions", "instructions per cycle"]
    head += ["bytes per cycle (of limit)", "DMA busy", "lost: DMA", "stopped", "few tasklets"]
    slowest = sorted(figures.launches, key=lambda one: -one.cycles)[:_MOST_LAUNCHES]
    rows = [_launch(one, figures) for one in figures.launches if one in slowest]
    left = len(figures.launches) - len(rows)
    table = _table([*head, "balance", "status"], [*rows, _launch(figures.whole, figures)])
    return table + (f'\n<p class="quiet">{left} more, none of them slower.</p>' if left else "")


def _meanings() -> str:
    rows = "\n".join(
        f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in _MEANINGS.items()
    )
    return f"<details><summary>What the columns mean</summary>\n<dl>\n{rows}\n</dl></details>"


def _sources(figures: ProgramFigures, total: int) -> str:
    """Return the annotated sources around lines with costs; the hotter a line, the redder."""
    code, parts = figures.code, []
    by_line = add_up(figures.sites, lambda site: code.line(site.pc))
    files: dict[str, int] = {}
    for (file, line), cost in by_line.items():
        files[file] = files.get(file, 0) + (cost.cycles if line else 0)
    for file in sorted(files, key=lambda one: -files[one]):
        source = code.source(file)
        if source is None:
            continue
        numbers = {line for path, line in by_line if path == file}
        near = {one + d for one in numbers for d in range(-_AROUND, _AROUND + 1)}
        rows, last = [], 0
        for number in sorted(near & set(range(1, len(source) + 1))):
            if number != last + 1:
                rows.append(_row(["", "", "...", ""]))
            last, cost = number, by_line.get((file, number), Cost())
            share = cost.cycles / total if total else 0.0
            style = f' style="background: rgba(var(--hot),{min(0.6, share):.3f})"' if share else ""
            costs = [f"{100 * share:.1f} %", f"{cost.cycles:,}"] if cost.cycles else ["", ""]
            rows.append(_row([*costs, f"{number}", source[number - 1]], style=style))
        body = "\n".join(rows)
        share = files[file] / total if total else 0.0
        opened = " open" if share >= _LEAST_SHARE else ""
        parts.append(
            f"<details{opened}><summary>{escape(Path(file).name)}: "
            f"{100 * share:.1f} % of the cycles</summary>"
            f'\n<div class="wide"><table class="code">\n{body}\n</table></div></details>'
        )
    return "\n".join(parts)


def _program(profile: RawProfile, figures: ProgramFigures) -> str:
    total, whole = sum(cost.cycles for cost in figures.tasklets.values()), figures.whole
    clock = figures.program.clock_hz
    pictures = [draw_roofline(figures), draw_tasklets(figures)]
    if len(figures.dpus) > 1:
        pictures.append(draw_dpus(figures))
    number = figures.program.number
    events = next((one for one in profile.events if one.program == number and one.events), None)
    if events is not None:
        pictures.append(draw_timeline(figures, events))
    covered = [
        [name, f"{executed} of {size}"] for name, (executed, size) in coverage(figures).items()
    ]
    summary = (
        f"{_time(whole.cycles, clock)} ({whole.cycles:,} cycles at {clock / 1e6:.0f} MHz) of the "
        f"slowest of {count_of(whole.dpus, 'DPU')} in {count_of(len(figures.launches), 'launch')}, "
        f"{count_of(whole.tasklets, 'tasklet')}, {whole.instructions:,} instructions"
        f"{energy(figures)}."
    )
    return "\n".join(
        [
            f"<h2>{escape(Path(figures.program.path).name or 'program from memory')}</h2>",
            f'<p class="advice">{escape(advise(figures))}</p>',
            f"<p>{summary}</p>",
            _launches(figures),
            *(f'<div class="wide">{picture}</div>' for picture in pictures),
            "<h3>Functions</h3>",
            _functions(figures, total),
            "<h3>Calls</h3>",
            _calls(figures, total),
            "<h3>Lines</h3>",
            _lines(figures, total),
            "<details><summary>Coverage (instructions)</summary>",
            _table(["function", "executed"], covered),
            "</details>",
            "<h3>Sources</h3>",
            _sources(figures, total),
        ]
    )


def page(
    profile: RawProfile, programs: list[ProgramFigures], *, command: str = "", when: str = ""
) -> str:
    """Return the page.

    Parameters
    ----------
    profile : RawProfile
        What was recorded.
    programs : list of ProgramFigures
        Its figures.
    command : str, optional
        What was profiled, as it was typed.
    when : str, optional
        The date, to be read.
    """
    notes = []
    if profile.dropped:
        notes.append(f"{profile.dropped} records were beyond the limit of the file.")
    if profile.left_out:
        notes.append(f"Launches that ran on none of the profiled DPUs: {profile.left_out}.")
    if not profile.is_complete:
        notes.append("A process did not come to its end.")
    body = "\n".join(_program(profile, one) for one in programs)
    of = f"<code>{escape(command)}</code>, " if command else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>DPU profile</title>\n<style>{_STYLE}</style></head>\n<body>\n"
        f'<h1>DPU profile</h1>\n<p class="quiet">{of}{escape(when)}</p>\n'
        "<p>Times are those of the modelled DPU. In tables of functions, lines and tasklets they "
        "are added up over tasklets and DPUs: issuing, and waiting for DMA and for others. "
        f"{escape(' '.join(notes))}</p>\n{_meanings()}\n{body}\n</body></html>\n"
    )
