# SPDX-License-Identifier: BSD-3-Clause
"""Processes that use DPUs end, whatever they were doing; forks and threads."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import io, os, signal, sys, threading, time
from dpu import DpuError, DpuSet
SPIN = "__bootstrap: jump __bootstrap\\n"
COUNT = '''
    .text
    .globl __bootstrap
__bootstrap:
    lw r0, zero, counter
    add r0, r0, 1
    sw zero, counter, r0
    stop
    .section .data.__sys_host
    .globl counter
counter: .word 0
'''
def make(source, count=4):
    return DpuSet(nr_dpus=count, library="soft", asm_source=io.StringIO(source))
"""


@pytest.mark.parametrize(
    "end",
    [
        "spinning = make(SPIN); spinning.exec(async_mode=True)",
        "spinning = make(SPIN); spinning.exec(async_mode=True); sys.exit(0)",
        "make(SPIN).exec(async_mode=True)",
        "s = make(COUNT); s.call(lambda *_: time.sleep(0.2), None, async_mode=True)",
        "s = make(SPIN); threading.Thread(target=s.exec, daemon=True).start(); time.sleep(0.1)",
        "s = make(COUNT); s.copy('counter', bytes(4), async_mode=True)",
        "s = make(SPIN); s.exec(async_mode=True); os._exit(0)",
    ],
)
def test_process_ends_with_work_pending(run_python, end):
    done = run_python(PROGRAM + end, limit=30)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_interrupt_ends_a_spinning_program(tmp_path):
    text = PROGRAM + "s = make(SPIN)\nprint('spins', flush=True)\ns.exec()\n"
    with subprocess.Popen(
        [sys.executable, "-P", "-c", text],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "spins\n"
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=30)[1]
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in errors


@pytest.mark.nosanitize  # libasan's own locks may be held in the child
def test_forked_child_is_refused_and_leaves_the_parent_alone(run_python):
    done = run_python(
        PROGRAM
        + """
s = make(COUNT)
s.exec()
pid = os.fork()
if pid == 0:
    refused = 0
    for operation in (s.exec, s.sync, s.free, lambda: s.counter):
        try:
            operation()
        except DpuError as error:
            refused += "fork" in error.detail
    del s
    os._exit(refused)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
s.exec()
print(s.counter.uint32())
s.free()
"""
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "4\n[2, 2, 2, 2]\n"


def test_threads_share_a_set(run_python):
    done = run_python(
        PROGRAM
        + """
s = make(COUNT, 8)
failed = []
def work(number):
    try:
        one = s.dpus()[number]
        for _ in range(50):
            one.exec()
            s.copy([bytearray(4) if d is not None else None for d in s], "counter")
    except BaseException as error:
        failed.append(error)
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(failed, s.counter.uint32())
"""
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"[] {[50] * 8}\n"


@pytest.mark.nosanitize  # the sanitizer keeps freed memory for a while
def test_sets_leave_no_memory_behind(run_python):
    done = run_python(
        PROGRAM
        + """
import gc
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
image = io.StringIO(COUNT)
from dpu.asm import assemble
program = assemble(image)
def work():
    with DpuSet(nr_dpus=8, library="soft", binary=program) as s:
        s.exec()
        s.copy("counter", bytearray(4), async_mode=True)
        s.call(lambda *_: None, s)
        s.dpus()[0].checkpoint(mram=False).serialize()
        s.load(program)
for _ in range(40): work()
gc.collect(); before = resident()
for _ in range(200): work()
gc.collect(); print(resident() - before)
""",
        limit=100,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 8 << 20, done.stdout
