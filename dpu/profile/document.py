# SPDX-License-Identifier: BSD-3-Clause
"""Profiles as an object of JSON, whose keys docs/dpu_profile.md lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .costs import Cost, add_up
from .figures import LaunchFigures, ProgramFigures, advise
from .raw import RawProfile
from .text import coverage

__all__ = ["VERSION", "document"]

# Grows when a key changes its meaning or goes; new keys may come without it.
VERSION = 1


def _costs(costs: Iterable[tuple[dict[str, Any], Cost]]) -> list[dict[str, Any]]:
    return [
        {
            **names,
            "cycles": cost.cycles,
            "instructions": cost.instructions,
            "pipeline": cost.pipeline,
            "spin": cost.spin,
            "dma": cost.dma,
            "sleep": cost.sleep,
        }
        for names, cost in costs
    ]


def _figures(one: LaunchFigures) -> dict[str, Any]:
    return {
        "cycles": one.cycles,
        "total_cycles": one.total,
        "instructions": one.instructions,
        "transfers": one.transfers,
        "bytes": one.bytes,
        "dma_busy": one.busy,
        "lost_dma": one.lost_dma,
        "lost_stopped": one.lost_stopped,
        "lost_few": one.lost_few,
        "tasklets": one.tasklets,
        "status": one.status,
        "faults": one.faults,
        "stops": one.stops,
    }


def _program(figures: ProgramFigures) -> dict[str, Any]:
    code, calls = figures.code, figures.calls
    lines = add_up(figures.sites, lambda site: code.line(site.pc))
    functions = [
        ({"function": name, "inclusive": calls.inclusive[name].cycles}, cost)
        for name, cost in calls.own.items()
    ]
    arcs = [
        ({"caller": caller, "callee": callee, "calls": count}, cost)
        for (caller, callee), (count, cost) in calls.arcs().items()
    ]
    covered = coverage(figures)
    return {
        "path": figures.program.path or None,
        "options": figures.program.options,
        "advice": advise(figures),
        "joules": figures.joules,
        "endings": [
            {"launch": one.operation, "dpu": one.dpu, "text": one.text} for one in figures.endings
        ],
        "bytes_per_cycle_limit": figures.limit if figures.limit != float("inf") else None,
        "whole": {"dpus": figures.whole.dpus, **_figures(figures.whole)},
        "launches": [
            {"launch": one.number, "dpus": one.dpus, **_figures(one)} for one in figures.launches
        ],
        "dpus": [{"dpu": one.number, **_figures(one)} for one in figures.dpus],
        "functions": _costs(functions),
        "calls": _costs(arcs),
        "lines": _costs(
            ({"file": file or None, "line": line or None}, cost)
            for (file, line), cost in lines.items()
        ),
        "tasklets": _costs(({"tasklet": n}, cost) for n, cost in figures.tasklets.items()),
        "coverage": [
            {"function": name, "executed": executed, "instructions": size}
            for name, (executed, size) in covered.items()
        ],
    }


def document(profile: RawProfile, programs: Iterable[ProgramFigures]) -> dict[str, Any]:
    """Return all figures of a profile as an object for JSON."""
    return {
        "version": VERSION,
        "complete": profile.is_complete,
        "dropped": profile.dropped,
        "left_out": profile.left_out,
        "programs": [_program(figures) for figures in programs],
    }
