# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of profiles, as SVG."""

from __future__ import annotations

import math
from html import escape

from .costs import Cost
from .figures import ProgramFigures
from .raw import EventKind, LaunchEvents

__all__ = ["draw_dpus", "draw_roofline", "draw_tasklets", "draw_timeline"]

_WIDTH, _LEFT, _TOP = 640, 80, 28
# Parts of a tasklet's time, and their colours.
_PARTS = {
    "instructions": "#2a7f62",
    "pipeline": "#c9d6d2",
    "spin": "#c0392b",
    "DMA": "#2e6da4",
    "sleep": "#e0a030",
}
# Parts of a DPU's cycles, and their colours: instructions, and those lost by their reason.
_LOST = {
    "instructions": _PARTS["instructions"],
    "too few tasklets": _PARTS["pipeline"],
    "stopped": _PARTS["sleep"],
    "DMA": _PARTS["DMA"],
}
_EVENT_COLOURS = {
    EventKind.RUN: _PARTS["pipeline"],
    EventKind.READ: _PARTS["DMA"],
    EventKind.WRITE: "#6c4aa0",
    EventKind.SLEEP: _PARTS["sleep"],
    EventKind.SPIN: _PARTS["spin"],
}
_EVENT_NAMES = {
    EventKind.RUN: "runs",
    EventKind.READ: "reads MRAM",
    EventKind.WRITE: "writes MRAM",
    EventKind.SLEEP: "sleeps",
    EventKind.SPIN: "spins",
}


def _svg(height: int, title: str, parts: list[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="11">\n'
        f"<title>{escape(title)}</title>\n"
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>\n'
        f'<text x="{_LEFT}" y="16" font-size="13">{escape(title)}</text>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _box(x: float, y: float, width: float, height: float, colour: str, note: str = "") -> str:
    hint = f"<title>{escape(note)}</title>" if note else ""
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(width, 0.3):.2f}" height="{height:.2f}" '
        f'fill="{colour}">{hint}</rect>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = "#444") -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _legend(y: float, colours: dict[str, str]) -> list[str]:
    parts, x = [], float(_LEFT)
    for name, colour in colours.items():
        parts += [_box(x, y - 9, 10, 10, colour), _text(x + 14, y, name)]
        x += 30 + 6.5 * len(name)
    return parts


def draw_roofline(figures: ProgramFigures) -> str:
    """Draw launches below the roofs of the pipeline and of the DMA engine."""
    height, bottom, right = 300, 250, _WIDTH - 20
    low_x, high_x, low_y, high_y = -3.0, 2.0, -3.0, 0.3

    def x_of(value: float) -> float:
        place = (math.log10(value) - low_x) / (high_x - low_x)
        return _LEFT + min(1.0, max(0.0, place)) * (right - _LEFT)

    def y_of(value: float) -> float:
        place = (math.log10(value) - low_y) / (high_y - low_y)
        return bottom - min(1.0, max(0.0, place)) * (bottom - _TOP)

    parts = [_line(_LEFT, bottom, right, bottom), _line(_LEFT, _TOP, _LEFT, bottom)]
    for power in range(-3, 3):
        parts.append(_text(x_of(10**power), bottom + 18, f"{10.0**power:g}", "middle"))
    for power in range(-3, 1):
        parts.append(_text(_LEFT - 6, y_of(10**power) + 4, f"{10.0**power:g}", "end"))
    parts.append(_text((_LEFT + right) / 2, bottom + 36, "instructions per byte of MRAM", "middle"))
    upwards = _text(-(_TOP + bottom) / 2, _LEFT - 50, "instructions per cycle", "middle")
    parts.append(upwards.replace("<text ", '<text transform="rotate(-90)" '))

    limit, roof = figures.limit, figures.width
    ridge = roof / limit
    start = 10**low_x
    parts.append(_line(x_of(start), y_of(start * limit), x_of(ridge), y_of(roof), "#2e6da4"))
    parts.append(_line(x_of(ridge), y_of(roof), right, y_of(roof), "#2a7f62"))
    parts.append(
        _text(
            right,
            y_of(roof) - 9,
            f"pipeline: {roof} instruction{'s' * (roof > 1)} per cycle",
            "end",
        )
    )
    at = x_of(0.02)
    parts.append(_text(at + 6, y_of(0.02 * limit) + 14, f"DMA: {limit:.2f} bytes per cycle"))
    for one in figures.launches[:100]:
        if not one.instructions:
            continue
        density = one.instructions / one.bytes if one.bytes else 10.0**high_x
        note = f"launch {one.number}: {one.per_cycle:.3f} instructions per cycle"
        parts.append(
            f'<circle cx="{x_of(density):.1f}" cy="{y_of(one.per_cycle or 1e-9):.1f}" r="5" '
            f'fill="#c0392b"><title>{escape(note)}</title></circle>'
        )
    return _svg(height, f"Roofline of {figures.code.name}", parts)


def _shares(cost: Cost) -> dict[str, int]:
    issued = cost.issue - cost.spin - cost.pipeline
    return dict(zip(_PARTS, (issued, cost.pipeline, cost.spin, cost.dma, cost.sleep), strict=True))


def draw_tasklets(figures: ProgramFigures) -> str:
    """Draw what the time of each tasklet went to."""
    costs = figures.tasklets
    longest = max((cost.cycles for cost in costs.values()), default=0) or 1
    row, parts = 15, []
    for index, (number, cost) in enumerate(costs.items()):
        x, y = float(_LEFT), _TOP + row * index
        parts.append(_text(_LEFT - 6, y + 10, f"tasklet {number}", "end"))
        for name, cycles in _shares(cost).items():
            width = cycles / longest * (_WIDTH - _LEFT - 20)
            note = f"{name}: {100 * cycles / max(1, cost.cycles):.1f} %"
            parts.append(_box(x, y, width, row - 3, _PARTS[name], note) if cycles else "")
            x += width
    y = _TOP + row * len(costs) + 18
    return _svg(y + 12, f"Time of tasklets of {figures.code.name}", parts + _legend(y, _PARTS))


def draw_dpus(figures: ProgramFigures) -> str:
    """Draw what the cycles of each DPU went to, side by side."""
    dpus = sorted(figures.dpus, key=lambda one: one.number)
    bottom, longest = 200, max((one.cycles for one in dpus), default=0) or 1
    width = (_WIDTH - _LEFT - 20) / max(1, len(dpus))
    parts = [
        _text(_LEFT - 6, _TOP + 4, f"{longest:,}", "end"),
        _text(_LEFT - 6, bottom, "0", "end"),
    ]
    for index, one in enumerate(dpus):
        x, y = _LEFT + index * width, float(bottom)
        shares = (one.instructions // figures.width, one.lost_few, one.lost_stopped, one.lost_dma)
        note = f"DPU {one.number}: {one.cycles:,} cycles"
        for colour, cycles in zip(_LOST.values(), shares, strict=True):
            height = min(cycles, longest) / longest * (bottom - _TOP)
            y -= height
            parts.append(_box(x, y, width * 0.85, height, colour, note) if cycles else "")
    for index in range(0, len(dpus), max(1, len(dpus) // 8)):
        x = _LEFT + (index + 0.4) * width
        parts.append(_text(x, bottom + 14, f"{dpus[index].number}", "middle"))
    parts.append(_line(_LEFT, bottom, _WIDTH - 20, bottom))
    parts.append(_text(_LEFT - 6, bottom + 14, "DPU", "end"))
    legend = _legend(bottom + 36, _LOST)
    return _svg(bottom + 48, f"Cycles of DPUs of {figures.code.name}", parts + legend)


def _bounds(launch: LaunchEvents, most: int) -> tuple[int, int]:
    """Return the first cycles, with so many events."""
    ends = sorted(event.begin for event in launch.events if event.kind != EventKind.RUN)
    end = ends[most] if len(ends) > most else max(event.end for event in launch.events)
    return 0, max(1, end)


def draw_timeline(figures: ProgramFigures, launch: LaunchEvents, *, most: int = 400) -> str:
    """Draw the beginning of a launch: tasklets, and the DMA engine."""
    begin, end = _bounds(launch, most)
    scale = (_WIDTH - _LEFT - 20) / (end - begin)
    threads = sorted({event.thread for event in launch.events})
    rows = {thread: _TOP + 15 * index for index, thread in enumerate(threads)}
    engine = _TOP + 15 * len(threads)
    parts = [_text(_LEFT - 6, y + 10, f"tasklet {thread}", "end") for thread, y in rows.items()]
    parts.append(_text(_LEFT - 6, engine + 10, "DMA engine", "end"))
    runs = [event for event in launch.events if event.kind == EventKind.RUN]
    for thread in rows.keys() - {event.thread for event in runs}:
        # Events were cut before it stopped.
        first = min(event.begin for event in launch.events if event.thread == thread)
        x = _LEFT + (min(first, end) - begin) * scale
        parts.append(_box(x, rows[thread], _WIDTH - 20 - x, 12, _PARTS["pipeline"]))
    for event in [*runs, *(event for event in launch.events if event.kind != EventKind.RUN)]:
        if event.begin >= end or event.kind == EventKind.HELD:
            continue
        is_engine = event.kind == EventKind.ENGINE
        colour = _PARTS["DMA"] if is_engine else _EVENT_COLOURS[EventKind(event.kind)]
        y = engine if is_engine else rows[event.thread]
        x = _LEFT + (event.begin - begin) * scale
        width = (min(event.end, end) - event.begin) * scale
        parts.append(_box(x, y, width, 12, colour))
    bottom = engine + 30
    parts.append(_text(_LEFT, bottom, f"cycle {begin:,}"))
    parts.append(_text(_WIDTH - 20, bottom, f"cycle {end:,}", "end"))
    parts += _legend(bottom + 18, {_EVENT_NAMES[kind]: c for kind, c in _EVENT_COLOURS.items()})
    launches = [one.number for one in figures.launches]
    which = f"launch {launch.operation} of {max(launches, default=launch.operation)}"
    return _svg(bottom + 30, f"Timeline of {figures.code.name}, {which}", parts)
