# SPDX-License-Identifier: BSD-3-Clause
"""`dpu.stack` says what programs are then seen to need."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu import stack
from dpu.toolchain.link.program import Program
from tests.dpu.support.running import Running

Compile = Callable[..., Program]

NESTED = """
#define KEEP __attribute__((noinline))
volatile int length = 3;
static KEEP int touch(volatile char *bytes, int size)
{
    for (int i = 0; i < size; i++) bytes[i] = 1;
    return bytes[length];
}
KEEP int inner(void) { volatile char bytes[200]; return touch(bytes, 200) + length; }
KEEP int shallow(void) { volatile char bytes[40]; return touch(bytes, 40) + length; }
KEEP int outer(void) { volatile char bytes[100]; return inner() + touch(bytes, 100) + shallow(); }
int main(void) { return outer() + shallow(); }
"""
POINTER = """
__attribute__((noinline)) int a(int x) { volatile char bytes[300]; bytes[x] = 1; return bytes[3]; }
int b(int x) { return x; }
int (*volatile table[2])(int) = {a, b};
int main(void) { return table[1](7) + 1; }
"""
RECURSIVE = """
volatile int depth = 3;
__attribute__((noinline)) int sum(int n)
{ volatile int kept = n; return n == 0 ? depth : sum(n - 1) + kept; }
int main(void) { return sum(depth); }
"""
COMPUTED = """
volatile int length = 3;
__attribute__((noinline)) int use(volatile char *x) { return x[0]; }
int main(void) { volatile char bytes[length]; bytes[0] = 5; return use(bytes); }
"""


@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
def test_what_is_told_is_what_is_used(
    compile_text: Compile, machine_library: ctypes.CDLL, level: str
) -> None:
    program = compile_text(NESTED, level=level)
    functions = stack.analyse(program.elf)
    told = functions["main"]
    assert told.is_bounded
    assert told.path[:3] == ("main", "outer", "inner")
    with Running(machine_library, program.elf) as running:
        start = running.file.symbol("__sys_stack_thread_0").value
        wram = running.machine.wram
        wram[start : start + 1024] = b"\xa5" * 1024
        running.launch()
        used = 1024 - next(i for i in range(1024) if wram[start + i] != 0xA5)
    # A frame may have room at its end that nothing is stored to.
    assert told.deepest - 32 <= used <= told.deepest


def test_division_needs_no_stack(compile_text: Compile) -> None:
    text = "volatile int x = 9;\nint main(void) { return x / x + x % x + x * x; }"
    main = stack.analyse(compile_text(text).elf)["main"]
    assert main.is_bounded
    assert main.deepest == main.frame


def test_a_pointer_may_lead_to_what_nothing_calls(compile_text: Compile) -> None:
    main = stack.analyse(compile_text(POINTER).elf)["main"]
    assert main.path == ("main", "a")
    assert main.deepest > 300
    assert main.uncertain == ("main: it calls or jumps through a pointer",)


@pytest.mark.parametrize(
    ("text", "doubt"),
    [(RECURSIVE, "sum: it is recursive"), (COMPUTED, "the size of its frame is computed")],
)
def test_what_cannot_be_told_is_said(compile_text: Compile, text: str, doubt: str) -> None:
    main = stack.analyse(compile_text(text, level="-O1").elf)["main"]
    assert not main.is_bounded
    assert any(doubt in one for one in main.uncertain)


def test_command_finds_stacks_that_are_too_small(
    compile_text: Compile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program"
    path.write_bytes(compile_text(NESTED, tasklets=3).elf)
    assert stack.main([str(path)]) == 0
    assert "3 tasklet(s) with stacks of 1024 bytes" in capsys.readouterr().out
    sizes = {"STACK_SIZE_DEFAULT": 256, "STACK_SIZE_TASKLET_1": 640}
    path.write_bytes(compile_text(NESTED, tasklets=3, defines=sizes).elf)
    assert stack.main([str(path)]) == 1
    assert "too small: the stacks of tasklet(s) 0, 2" in capsys.readouterr().out
    assert stack.main(["--json", str(path)]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["too_small"] == [0, 2]
    assert found["functions"]["inner"]["frame"] >= 200


def test_what_is_no_program_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "text"
    path.write_text("no program")
    assert stack.main([str(path)]) == 2
    assert stack.main([str(tmp_path / "missing")]) == 2
    assert capsys.readouterr().err.count("\n") == 2
