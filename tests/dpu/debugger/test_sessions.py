# SPDX-License-Identifier: BSD-3-Clause
"""A program stops where it is told to, and shows its variables, frames and tasklets."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu.debugger.errors import DebuggerError
from dpu.debugger.expressions import evaluate
from dpu.debugger.host import Host
from dpu.debugger.machine import WatchKind
from dpu.debugger.process import Process, Reason
from dpu.debugger.values import as_json, show
from dpu.dwarf.locations import Unavailable

from .conftest import line_of

LOOP, END = line_of("the line of the loop"), line_of("the line of the end")
Debug = Callable[..., Process]


def text(process: Process, expression: str) -> str:
    return show(evaluate(expression, process.frame()))


def test_a_breakpoint_at_a_line_stops_each_tasklet(debug: Debug) -> None:
    process = debug()
    process.add_breakpoint(f"kernel.c:{END}")
    stopped = [process.resume() for _ in range(2)]
    assert {stop.thread for stop in stopped} == {0, 1}
    for stop in stopped:
        assert (stop.reason, stop.number) == (Reason.BREAKPOINT, 1)
    line = process.frame().line
    assert line is not None and line.line == END
    assert process.resume().reason is Reason.EXITED


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_backtrace_leads_from_a_function_to_main(debug: Debug, level: str) -> None:
    process = debug(level)
    process.add_breakpoint("sum")
    assert process.resume().reason is Reason.BREAKPOINT
    names = [frame.function.name for frame in process.frames() if frame.function is not None]
    assert names[:2] == ["sum", "main"]
    assert process.frames()[1].line is not None


def test_a_chip_has_64_tasklets(debug: Debug, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPMEM_PROFILE", "softTasklets=64")
    process = debug()
    process.add_breakpoint(f"kernel.c:{END}")
    assert {process.resume().thread for _ in range(2)} == {0, 1}
    process.select(63)
    assert process.frame().pc == 0x8000_0000  # it has not begun
    with pytest.raises(DebuggerError):
        process.select(64)
    assert process.resume().reason is Reason.EXITED


def test_each_tasklet_has_its_own_variables(debug: Debug) -> None:
    process = debug()
    process.add_breakpoint(f"kernel.c:{END}")
    process.resume()
    for thread in range(2):
        process.select(thread)
        here = [f.function.name if f.function else "" for f in process.frames()]
        process.frame_level = here.index("main")
        assert text(process, "id") == str(thread)


EXPRESSIONS = {
    "count": "8",
    "count + 2 * 3": "14",
    "-count": "4294967288",
    "count / 3 * 1.5": "3.0",
    "(int64_t)count - 9": "-1",
    "n > 3 && n != 9": "1",
    "n << 4 | 1": "129",
    "n == 8 ? 7 : 9": "7",
    "colour": "RED",
    "GREEN": "GREEN",
    "(colour_t)5": "GREEN",
    "word.bytes[2]": "3",
    "word": "{whole = 67305985, bytes = {1, 2, 3, 4}}",
    "ratio": "0.5",
    "name": '"kernel"',
    "matrix[1][2]": "-6",
    "matrix": "{{1, 2, 3}, {-4, -5, -6}}",
    "sizeof(struct point)": "16",
    "sizeof numbers": "512",
    "numbers[3]": "40",
    "*(numbers + 1)": "20",
    "far[1]": "30",
    "*far": "20",
    "block[2]": "30",
    "*block": "10",
    "&points[1] - &points[0]": "1",
    "*(uint32_t *)&word": "67305985",
    "*(__mram_ptr uint64_t *)8": "20",
    "'a'": "97 'a'",
    "0x10": "16",
}
WRONG = {
    "nothing": "no variable 'nothing' here, or the compiler has removed it: -O0",
    "count.x": "has no member",
    "*count": "cannot be dereferenced",
    "1 / 0": "division by zero",
    "1 +": "not complete",
    "(1": "'\\)' is expected",
    "1 2": "'2' is not expected",
    "points + points": "cannot be added",
    "$r99": "no register",
    "1 << 99": "shift",
    "(" * 200 + "1" + ")" * 200: "nested too deeply",
    "#": "not understood",
}


def test_expressions(debug: Debug) -> None:
    process = debug()
    process.add_breakpoint("sum")
    process.resume()
    assert {expression: text(process, expression) for expression in EXPRESSIONS} == EXPRESSIONS


def test_wrong_expressions(debug: Debug) -> None:
    process = debug()
    process.add_breakpoint("sum")
    process.resume()
    for expression, message in WRONG.items():
        with pytest.raises(DebuggerError, match=message):
            evaluate(expression, process.frame())


def test_members_pointers_and_bit_fields(debug: Debug) -> None:
    process = debug()
    process.add_breakpoint(f"kernel.c:{END}")
    process.resume()
    assert text(process, "points[1].x") == "2"
    assert text(process, "points[1].next->x") == "1"
    assert text(process, "points[1].low") == "5"
    assert as_json(evaluate("points[0]", process.frame())) == {
        "x": 1,
        "y": 0,
        "next": evaluate("&points[0]", process.frame()).integer(),
        "low": 5,
        "high": 0,
    }


def test_assignments_change_the_program(debug: Debug) -> None:
    process = debug()
    process.add_breakpoint("sum")
    process.resume()
    evaluate("n = 2", process.frame())
    process.breakpoints.clear()
    process.add_breakpoint(f"kernel.c:{END}", thread=0)
    process.resume()
    assert text(process, "mine") == "30"
    evaluate("$r5 = 77", process.frame())
    assert process.machine.thread(0).registers[5] == 77


def test_a_watchpoint_tells_who_wrote(debug: Debug) -> None:
    process = debug()
    process.add_watchpoint("points[1].x")
    stop = process.resume()
    assert (stop.reason, stop.thread, stop.number) == (Reason.WATCHPOINT, 1, 1)
    assert text(process, "points[1].x") == "2"
    assert f"kernel.c:{line_of('points[id].x')}" in stop.detail


def test_a_watchpoint_sees_transfers(debug: Debug) -> None:
    process = debug()
    process.add_watchpoint("numbers[2]", WatchKind.READ)
    stop = process.resume()
    assert stop.reason is Reason.WATCHPOINT and "read" in stop.detail


def test_steps_follow_the_lines(debug: Debug) -> None:
    process = debug()
    first = line_of("far = numbers + 1")
    process.add_breakpoint(f"kernel.c:{first}", thread=0)
    process.resume()
    assert process.step(into=False).reason is Reason.STEP
    lines = [process.frame().line]
    process.step(into=True)
    inside = process.frame()
    assert inside.function is not None and inside.function.name == "sum"
    assert process.finish().reason is Reason.STEP
    after = process.frame()
    assert after.function is not None and after.function.name == "main"
    process.step(into=False)
    lines.append(process.frame().line)
    assert [line.line for line in lines if line is not None] == [first + 1, first + 2]


def test_next_passes_a_call(debug: Debug) -> None:
    process = debug()
    call = line_of("int64_t mine = sum")
    process.add_breakpoint(f"kernel.c:{call}", thread=0)
    process.resume()
    assert process.step(into=False).reason is Reason.STEP
    line = process.frame().line
    assert line is not None and line.line == call + 1
    assert text(process, "mine") == "100"


def test_an_instruction_is_one_of_its_tasklet(debug: Debug) -> None:
    process = debug()
    process.add_breakpoint("sum")
    process.resume()
    before = process.machine.threads()
    assert process.step_instruction().reason is Reason.STEP
    after = process.machine.threads()
    assert [a == b for a, b in zip(before, after, strict=True)].count(False) == 1
    assert after[process.thread].pc != before[process.thread].pc


def test_conditions_and_counts(debug: Debug) -> None:
    process = debug()
    process.add_breakpoint(f"kernel.c:{LOOP}", condition="i == 3")
    assert process.resume().reason is Reason.BREAKPOINT
    assert text(process, "i") == "3"
    process.breakpoints.clear()
    process.add_breakpoint(f"kernel.c:{LOOP}", ignore=1, thread=process.thread, once=True)
    process.resume()
    assert text(process, "i") == "5"
    assert not process.breakpoints
    assert process.resume().reason is Reason.EXITED


def test_wrong_places_are_refused(debug: Debug) -> None:
    process = debug()
    for place in ("nowhere", "kernel.c:9999", "other.c:1", "0x90000000"):
        with pytest.raises(DebuggerError):
            process.add_breakpoint(place)
    assert not process.breakpoints


@pytest.mark.parametrize("level", ["-O2", "-Os"])
def test_optimised_values_are_right_or_not_available(debug: Debug, level: str) -> None:
    process = debug(level)
    point = process.add_breakpoint(f"kernel.c:{LOOP}")
    known = 0
    for _ in range(4):
        if process.resume().reason is not Reason.BREAKPOINT:
            break
        sums = {0, 10, 30, 60, 100}
        for variable, expected in (("n", {8}), ("i", set(range(9))), ("total", sums)):
            try:
                value = evaluate(variable, process.frame()).integer()
            except (Unavailable, DebuggerError):
                continue
            known += 1
            assert value in expected, variable
    assert point.hits == 0 or known > 0


HOST = """
import sys
from dpu import DpuSet
with DpuSet(nr_dpus=4, binary=sys.argv[1]) as dpus:
    for _ in range(2):
        dpus.exec()
    print([int(total[0]) for total in dpus.totals.int64()])
"""


def test_a_host_program_is_debugged_as_it_is(
    kernel: Callable[..., Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "host.py"
    script.write_text(HOST)
    command = [sys.executable, "-P", str(script), str(kernel())]
    process = Process(Host(command, dpu="0.2.0"))
    try:
        process.start()
        assert process.machine.hello.name == "0.2.0"
        process.add_breakpoint("sum", thread=0)
        for _ in range(2):
            assert process.resume().reason is Reason.BREAKPOINT
            evaluate("n = 1", process.frame())
        stop = process.resume()
        assert (stop.reason, stop.detail) == (Reason.EXITED, "0")
    finally:
        process.close()
    assert "[100, 100, 10, 100]" in capfd.readouterr().out


def test_a_fault_stops_before_the_host_has_it(
    toolchain: object, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from dpu.debugger.host import program_command
    from dpu.toolchain import BuildOptions, build

    source, path = tmp_path / "fault.c", tmp_path / "fault.dpu"
    source.write_text("volatile int *p = (int *)0x100000;\nint main(void) { return *p; }\n")
    build([source], path, BuildOptions(level="-O0"))
    process = Process(Host(program_command(str(path))))
    try:
        process.start()
        stop = process.resume()
        assert stop.reason is Reason.FAULT and "out of bounds" in stop.detail
        assert text(process, "p") == "0x00100000"
        stop = process.resume()
        assert (stop.reason, stop.detail) == (Reason.EXITED, "1")
    finally:
        process.close()
    assert "out of bounds" in capfd.readouterr().err
