# SPDX-License-Identifier: BSD-3-Clause
"""The command dpu-lldb runs scripts, and its answers can be JSON."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu.toolchain import BuildOptions, Toolchain, build

from .conftest import line_of

Run = Callable[..., subprocess.CompletedProcess[str]]

INLINED = """
#include <attributes.h>
#include <stdint.h>
__host volatile uint32_t first = 3, second = 5, sum;
static inline __attribute__((always_inline)) uint32_t twice(uint32_t n)
{
    return n * 2 + first;
}
int main(void)
{
    sum = twice(first);
    sum += twice(second);
    return 0;
}
"""


@pytest.fixture
def run(kernel: Callable[..., Path], tmp_path: Path) -> Run:
    """Run dpu-lldb with the commands of a script."""

    def start(script: str, *options: str, program: str | None = None) -> object:
        path = tmp_path / "script"
        path.write_text(script)
        command = [sys.executable, "-P", "-m", "dpu.lldb", "-s", str(path), *options]
        command.append(program if program is not None else str(kernel()))
        return subprocess.run(command, capture_output=True, text=True, timeout=60, input="")

    return start  # type: ignore[return-value]


def test_a_session(run: Run) -> None:
    end = line_of("the line of the end")
    script = f"""
# Comments are left out.
breakpoint set -f kernel.c -l {end}
b sum if n == 8
breakpoint list
run
bt
frame variable
p block[1] + 1
p/x count
finish
br del 2
watchpoint set variable points[1].x
c
thread list
thread select 0
register read r22 pc
x/2w &word
memory read -s 1 -c 4 &word
memory write &count 7 0
target variable count
disassemble -n sum -c 4
source list -l {end}
continue
step
watchpoint list
process status
help finish
quit
"""
    done = run(script, "-b")
    assert done.returncode == 0, done.stdout + done.stderr
    text = done.stdout
    for part in (
        "stop reason = breakpoint 2",
        "frame #1: ",
        "(uint32_t) n = 8",
        "uint64_t) 21",
        "(uint32_t) 0x8",
        "stop reason = watchpoint 1 (points[1].x), written by kernel.c:",
        ": 0 -> 2",
        "0x04030201",
        "0x01 0x02 0x03 0x04",
        "(uint32_t) count = 7",
        "the line of the end",
    ):
        assert part in text, part
    assert "error" not in text


def test_answers_are_json(run: Run) -> None:
    done = run("b sum\nrun\nframe variable n block\nbt\np nothing\n", "--json", "-o", "b main")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [a["command"] for a in answers][:3] == ["b main", "b sum", "run"]
    assert answers[2]["stop"] == "breakpoint" and answers[2]["frame"]["function"] == "main"
    assert "error" in answers[-1]


def test_breakpoints_before_the_program_runs(run: Run) -> None:
    script = "b main\nb sum\nb nowhere\nbr del 1\nbr l\nr\nr\nbr l\nbr del\nbr l\nkill\nbr l\n"
    text = run(script, "-b").stdout
    assert "Breakpoint 2: sum, set when the program runs" in text
    assert "2: sum, set when the program runs\n3: nowhere, set" in text
    # A place that does not exist keeps no other from being set; a second run keeps them.
    assert "warning: breakpoint 3 (nowhere) is not in this program: " in text
    assert text.count("stop reason = breakpoint 2") == 2
    assert "2: sum, hit 1 times\n3: nowhere, not in this program: there is no" in text
    assert text.endswith("(lldb) br l\nno breakpoints\n")


def test_a_breakpoint_keeps_its_number(run: Run) -> None:
    # The first is nowhere, the second is removed: the others have the numbers that were told.
    script = "b nowhere\nb main\nb sum\nb main\nbr del 2\nbr dis 4\nr\nbr l\nbr en 4\nb sum\n"
    text = run(script).stdout
    assert "Breakpoint 3: sum, set when" in text and "stop reason = breakpoint 3" in text
    assert "\n1: nowhere, not in this program: there is no function 'nowhere'\n3: sum, hit" in text
    assert "\n4: main, hit 0 times, disabled\n" in text
    assert "Breakpoint 5: sum, 1 location" in text


def test_a_line_alone_is_of_the_file_with_main(run: Run) -> None:
    end = line_of("the line of the end")
    text = run(f"b {end}\nrun\n").stdout
    assert "stop reason = breakpoint 1" in text and f"kernel.c:{end}" in text


def test_a_line_without_code_tells_where_the_breakpoint_is(run: Run) -> None:
    # A declaration has no code: the breakpoint is at the next one that has.
    wanted = line_of("__dma_aligned uint64_t block")
    text = run(f"b kernel.c:{wanted}\nb sum\nrun\n").stdout
    assert f"Breakpoint 1: kernel.c:{wanted}, 1 location(s): kernel.c:{wanted + 1}\n" in text
    # Nothing is said about a breakpoint that is where it was asked for.
    assert "Breakpoint 2: sum, 1 location" not in text
    answers = run(f"b kernel.c:{wanted}\nb sum\nrun\n", "--json").stdout.splitlines()
    stop = next(json.loads(one) for one in answers if "remarks" in one)
    assert [f"kernel.c:{wanted + 1}" in one for one in stop["remarks"]] == [True]


def test_breakpoints_that_stop_once_and_that_match_names(run: Run) -> None:
    script = "tbreak sum\nrbreak ^ma.n$\nr\nbr l\nbr mod -c 0 2\nc\nbr l\nc\n"
    text = run(script, "-b").stdout
    assert text.count("stop reason = breakpoint 2") == 1 and "1 breakpoint(s) changed" in text
    # Only the first tasklet stops in sum.
    assert text.count("stop reason = breakpoint 1") == 1 and text.count("\n1: sum, ") == 1
    assert text.rstrip().endswith("ended with status 0")
    text = run("rbreak (\nrbreak nothing\nr\nbr l\n").stdout
    assert "is no regular expression" in text and "there is no function that matches" in text


def test_an_inlined_function_has_breakpoints(
    toolchain: Toolchain, run: Run, tmp_path: Path
) -> None:
    source, program = tmp_path / "inlined.c", tmp_path / "inlined.dpu"
    source.write_text(INLINED)
    build([source], program, BuildOptions(level="-O2"), toolchain=toolchain)
    script = "b twice\nrun\nbr l\nimage lookup -n twice\np n\nc\np n\nc\n"
    text = run(script, "-b", program=str(program)).stdout
    assert text.count("stop reason = breakpoint 1") == 2
    assert text.count("twice [inlined] in main(") == 2
    assert text.split("image lookup")[1].count(": main + ") == 2


SHADOWED = """#include <attributes.h>
#include <stdint.h>
__host volatile uint32_t result;
static inline __attribute__((always_inline)) uint32_t twice(uint32_t n) {
    volatile uint32_t half = n + 40;
    result = half;
    return 2 * n;
}
int main(void) {
    volatile uint32_t half = 3, other = 5;
    for (uint32_t half = 7; half < 8; half++) {
        result = half;
        result += twice(9);
    }
    result = half + other;
    return 0;
}
"""


def test_a_variable_that_another_one_hides_is_not_shown(
    toolchain: Toolchain, run: Run, tmp_path: Path
) -> None:
    source, program = tmp_path / "shadowed.c", tmp_path / "shadowed.dpu"
    source.write_text(SHADOWED)
    build([source], program, BuildOptions(level="-O0"), toolchain=toolchain)
    script = "".join(f"b shadowed.c:{line}\n" for line in (12, 6, 15))
    script += "run\n" + "frame variable\np half\nc\n" * 3
    text = run(script, "-b", program=str(program)).stdout
    stops = text.split("(lldb) frame variable\n")[1:]
    assert len(stops) == 3, text
    for shown, value in zip(stops, (7, 49, 3), strict=True):
        variables = shown.split("(lldb) p half")[0]
        assert variables.count(" half = ") == 1 and f"half = {value}\n" in variables, text
        assert "other = 5\n" in variables
        assert re.search(rf"\(lldb\) p half\n.* {value}\n", shown)


TAIL_CALLS = """#include <attributes.h>
#include <stdint.h>
__host volatile uint32_t result;
uint32_t __attribute__((noinline)) work(uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        result += i;
    return result;
}
uint32_t __attribute__((noinline)) outer(uint32_t n) {
    result += n;
    return work(n + 1);
}
int main(void) {
    result = work(3) + outer(4) + 1;
    return work(result);
}
"""


def test_a_function_that_ended_with_a_jump_is_named(
    toolchain: Toolchain, run: Run, tmp_path: Path
) -> None:
    source, program = tmp_path / "tail.c", tmp_path / "tail.dpu"
    source.write_text(TAIL_CALLS)
    build([source], program, BuildOptions(level="-O2"), toolchain=toolchain)
    script = "b work\nrun\n" + "bt\nc\n" * 3
    text = run(script, "-b", program=str(program)).stdout
    called, by_outer, by_main = text.split("(lldb) bt\n")[1:]
    assert "[tail call]" not in called and "frame #1" in called and " main(" in called, text
    assert re.search(r" work\(.*\n    outer \[tail call\], .*\n.*frame #1: .* main\(", by_outer)
    assert re.search(r" work\(.*\n    main \[tail call\], which ended", by_main)
    answers = run(script, "--json", program=str(program)).stdout.splitlines()
    found = [json.loads(one)["backtrace"][0]["frames"] for one in answers if '"bt"' in one]
    jumps = [[frame["jumped_from"] for frame in frames] for frames in found]
    assert jumps == [[None, None], ["outer", None], ["main"]]


def test_what_a_program_has(run: Run) -> None:
    text = run("run -s\nimage list\nimage lookup -n sum\nimage lookup -a 0\nv\n").stdout
    assert " functions, " in text and ": sum at kernel.c:" in text
    assert "0x80000000: " in text
    assert "image lookup needs" in run("run -s\nimage lookup\n").stdout


def test_names_are_completed_before_the_program_runs(kernel: Callable[..., Path]) -> None:
    import io

    from dpu.lldb.commands import Interpreter
    from dpu.lldb.programs import command_for

    words = Interpreter(command_for([str(kernel())]), io.StringIO()).words()
    assert {"main", "sum", "totals"} <= set(words)
    assert Interpreter([sys.executable], io.StringIO()).words() == []


def test_commands_of_upmem_documentation(run: Run) -> None:
    script = "dpu_attach_on_boot\ndpu_list\nb sum\nc\ndpu_detach\nc\n"
    text = run(script, "-b").stdout
    assert "stop reason = launch" in text and "DPU 0.0.0 of process" in text
    assert "stop reason = breakpoint 1" in text and "ended with status 0" in text
    first = run("dpu_attach_first\nthread select 1\nstep\n")
    assert "tasklet 1 does not run: it has not started" in first.stdout


def test_a_batch_ends_at_an_error(run: Run) -> None:
    done = run("p 1\nrun\n", "-b")
    assert done.returncode == 1
    assert "nothing runs" in done.stdout and "(lldb) run" not in done.stdout


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("nonsense", "no command"),
        ("breakpoint set", "needs -l LINE"),
        ("breakpoint set -z", "not known"),
        ("breakpoint set -l", "needs a value"),
        ("attach_dpu x", "rank.slice.member"),
        ("file", "needs a program"),
        ("c", "nothing runs"),
        ("file /nowhere/program\nrun", "cannot start"),
    ],
)
def test_wrong_commands(command: str, message: str) -> None:
    import io

    from dpu.lldb.commands import Interpreter

    output = io.StringIO()
    interpreter = Interpreter([], output)
    for line in command.splitlines():
        fulfilled = interpreter.run(line)
    assert not fulfilled
    assert message in output.getvalue()


def test_a_host_without_a_launch_keeps_the_breakpoints() -> None:
    host = [sys.executable, "-P", "-m", "dpu.lldb", "-b"]
    for command in ("b sum", "run", "br l"):
        host += ["-o", command]
    done = subprocess.run(
        [*host, "--", sys.executable, "-c", ""], capture_output=True, text=True, timeout=60
    )
    assert "ended with status 0, and launched no DPU to debug" in done.stdout
    assert "1: sum, set when the program runs" in done.stdout


def test_who_was_launched_is_told_if_the_dpu_is_not_among_them(run: Run) -> None:
    text = run("run\n", "--dpu", "0.7.7").stdout
    assert "launched 1 DPU(s), of which none is 0.7.7: 0.0.0" in text


def test_a_change_of_a_long_variable_is_shown(run: Run) -> None:
    text = run("b main\nrun\nbr del\nwatchpoint set variable totals\nc\nc\n").stdout
    changes = [line for line in text.splitlines() if "(totals), written" in line]
    assert len(changes) == 2
    for change in changes:
        old, new = change.split(" on ")[1].split(" -> ")
        assert old != new
    assert any(": from byte 8 on " in change for change in changes)


def test_a_host_that_launches_no_dpu(run: Run) -> None:
    done = run("run\n", "-b", program=sys.executable + "x")
    assert done.returncode == 1 and "cannot start" in done.stdout
