# SPDX-License-Identifier: BSD-3-Clause
"""The rules of Chrome's trace format that Perfetto relies on."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["check_trace", "slices_of"]


def slices_of(trace: dict[str, Any]) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """Return what took time, by process and thread."""
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            found.setdefault((event["pid"], event["tid"]), []).append(event)
    return found


def _check_nesting(events: list[dict[str, Any]]) -> None:
    """Whatever overlaps nests, when begin and duration are rounded to nanoseconds."""
    inside: list[int] = []
    before = 0
    for event in events:
        begin = round(event["ts"] * 1000)
        end = begin + round(event["dur"] * 1000)
        assert 0 <= before <= begin <= end, event
        while inside and inside[-1] <= begin:
            inside.pop()
        assert not inside or end <= inside[-1], event
        inside.append(end)
        before = begin


def check_trace(trace: dict[str, Any]) -> None:
    """Check a whole trace; AssertionError with the event that breaks a rule."""
    assert json.loads(json.dumps(trace)) == trace
    assert trace["displayTimeUnit"] in ("ms", "ns")
    processes, threads = set(), set()
    for event in trace["traceEvents"]:
        assert event["ph"] in ("X", "M", "i"), event
        assert isinstance(event["name"], str) and event["name"], event
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int), event
        assert isinstance(event.get("args", {}), dict), event
        if event["name"] == "process_name":
            processes.add(event["pid"])
        elif event["name"] == "thread_name":
            threads.add((event["pid"], event["tid"]))
        elif event["ph"] == "i":
            assert event["s"] in ("g", "p", "t") and event["ts"] >= 0, event

    for (process, thread), events in slices_of(trace).items():
        assert process in processes and (process, thread) in threads and thread != 0
        _check_nesting(events)
