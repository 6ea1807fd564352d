# SPDX-License-Identifier: BSD-3-Clause
"""A DPU that never ends comes back to the user: deadlocks, limits of time, Ctrl-C."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpu.debugger.deadlocks import DeadlockWatch
from dpu.debugger.host import Host, program_command
from dpu.debugger.process import Process, Reason
from dpu.debugger.session import SLICE
from dpu.elf.locks import lock_name
from dpu.lldb import session
from dpu.lldb.commands import Interpreter
from dpu.toolchain import BuildOptions, Toolchain, build

Compile = Callable[[str], Path]

DEADLOCK = """
#include <attributes.h>
#include <defs.h>
#include <mutex.h>
MUTEX_INIT(first);
MUTEX_INIT(second);
__host volatile int arrived[2];
int main(void)
{
    if (me() == 0)
        mutex_lock(first);
    else
        mutex_lock(second);
    arrived[me()] = 1;
    while (!arrived[1 - me()])
        ;
    if (me() == 0)
        mutex_lock(second); /* tasklet 0 */
    else
        mutex_lock(first); /* tasklet 1 */
    return 0;
}
"""

# Many times as long as the debugger waits between two looks; often both wait for a lock.
CONTENDED = """
#include <attributes.h>
#include <defs.h>
#include <mutex.h>
#include <stdint.h>
MUTEX_INIT(one);
__host volatile uint32_t count;
int main(void)
{
    for (uint32_t i = 0; i < 40000; i++) {
        mutex_lock(one);
        count++;
        mutex_unlock(one);
    }
    mutex_lock(one);
    for (uint32_t i = 0; i < 100000; i++)
        count++;
    mutex_unlock(one);
    return 0;
}
"""

# One tasklet, which comes to a lock that is free again and again.
ALONE = CONTENDED.replace(
    "int main(void)\n{", "int main(void)\n{\n    if (me() != 0)\n        return 0;"
)

ENDLESS = """
#include <attributes.h>
__host volatile int flag;
int main(void)
{
    while (!flag)
        ;
    return 0;
}
"""


@pytest.fixture
def compile(toolchain: Toolchain, tmp_path: Path) -> Compile:
    def make(source: str) -> Path:
        code, program = tmp_path / "program.c", tmp_path / "program.dpu"
        code.write_text(source)
        options = BuildOptions(level="-O1", defines={"NR_TASKLETS": 2})
        build([code], program, options, toolchain=toolchain)
        return program

    return make


def lldb(program: Path, *options: str) -> list[str]:
    return [sys.executable, "-P", "-m", "dpu.lldb", *options, str(program)]


def test_a_deadlock_is_told_with_locks_and_lines(compile: Compile) -> None:
    lines = DEADLOCK.splitlines()
    zero = next(n for n, text in enumerate(lines, 1) if "tasklet 0" in text)
    command = lldb(compile(DEADLOCK), "-b", "-o", "run", "-o", "bt all", "-o", "continue")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    told = (
        f"tasklet 0 waits for mutex 'second' in main at program.c:{zero}; "
        f"tasklet 1 waits for mutex 'first' in main at program.c:{zero + 2}: nobody is left"
    )
    assert done.stdout.count(f"stop reason = deadlock: {told}") == 2
    assert "tasklet 1\n" in done.stdout


def test_locks_that_are_released_are_no_deadlock(compile: Compile) -> None:
    process = Process(Host(program_command(str(compile(CONTENDED)))))
    try:
        process.start()
        assert process.resume().reason is Reason.EXITED
    finally:
        process.close()


def test_who_is_at_a_free_lock_is_not_in_a_deadlock(compile: Compile) -> None:
    process = Process(Host(program_command(str(compile(ALONE)))))
    try:
        process.start()
        machine = process.machine
        watch = DeadlockWatch(machine, process.code)
        for _ in range(3000):
            assert watch.look(machine.run(1)) == ""
            if watch.rounds == 1:
                break
        # It is at the lock: what follows is seen instruction by instruction, and none is not.
        assert watch.rounds == 1
        assert watch.look(machine.run(0)) == ""
        for _ in range(100):
            assert watch.look(machine.run(watch.rounds)) == ""
            if watch.rounds == SLICE:
                break
        assert watch.rounds == SLICE
    finally:
        process.close()


def test_locks_have_the_names_of_their_sources(compile: Compile) -> None:
    process = Process(Host(program_command(str(compile(DEADLOCK)))))
    try:
        process.start()
        symbols = {s.name: s.value & 0xFF for s in process.code.file.symbols}
        names = [
            lock_name(process.code.file.symbols, n)
            for n in (symbols["__atomic_bit_mutex_first"], None)
        ]
        assert names == ["mutex 'first'", "an atomic bit"]
        assert lock_name(process.code.file.symbols, 255) == "atomic bit 255"
    finally:
        process.close()


@pytest.mark.parametrize(("option", "status"), [(["-b"], 1), ([], 0)])
def test_a_command_has_a_limit_of_time(compile: Compile, option: list[str], status: int) -> None:
    options = [*option, "--timeout", "0.2", "-o", "run", "-o", "p 1234"]
    command = lldb(compile(ENDLESS), *options)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, input="b main\n")
    # On a busy machine the limit is met before the DPU starts.
    assert "interrupted after 0.2 s (--timeout)" in done.stdout
    # The rest of the script is dropped; who is asked for commands goes on with them.
    assert done.returncode == status and "1234" not in done.stdout
    assert ("Breakpoint 1: main" in done.stdout) == (not option)


def test_a_limit_of_time_stops_the_dpu(compile: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.StringIO()
    interpreter = Interpreter(program_command(str(compile(ENDLESS))), output, limit=3600)
    # The time between commands does not count.
    later = SimpleNamespace(monotonic=lambda: time.monotonic() + 7200)
    monkeypatch.setattr(session, "time", later)
    try:
        assert interpreter.run("b main")
        assert interpreter.run("run")
        assert not interpreter.poll()
        assert interpreter.run("breakpoint delete 1")
        interpreter.limit = 0.2
        assert interpreter.run("continue")
        assert "stop reason = interrupted after 0.2 s (--timeout)" in output.getvalue()
        assert interpreter.was_interrupted
        assert interpreter.run("p 99")
        assert output.getvalue().endswith("99\n")
        assert not interpreter.was_interrupted
    finally:
        interpreter.close()


@pytest.mark.parametrize("text", ["x", "0", "-1", "nan", "inf"])
def test_a_wrong_limit_is_refused(text: str) -> None:
    done = subprocess.run(
        lldb(Path("none"), f"--timeout={text}"), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and f"{text} is no number of seconds above 0" in done.stderr


def test_ctrl_c_ends_a_script(compile: Compile) -> None:
    command = lldb(compile(ENDLESS), "-b", "-o", "run", "-o", "continue", "-o", "continue")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as debugger:
        try:
            assert debugger.stdout is not None
            assert debugger.stdout.readline() == "(lldb) run\n"
            debugger.send_signal(signal.SIGINT)
            output, _ = debugger.communicate(timeout=60)
            assert "interrupted" in output and "(lldb) continue" not in output
            assert debugger.returncode == 1
        finally:
            debugger.kill()
