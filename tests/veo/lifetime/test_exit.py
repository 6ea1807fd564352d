# SPDX-License-Identifier: BSD-3-Clause
"""However the interpreter ends, nothing is printed and no worker is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

KERNELS = r"""
#include <stdio.h>
#include <unistd.h>
int count(void) { static int n; return ++n; }
int wait_for(volatile int *flag) { while (*flag == 0) usleep(100); return *flag; }
void say(void) { printf("kernel was here\n"); }
void fill(char *memory, long size) { for (long i = 0; i < size; i++) memory[i] = 'Z'; }
int crash(void) { return *(volatile int *)8; }
"""

START = """
import os, sys, signal, threading, veo
veo.use_library("soft")
proc = veo.VeoProc(0)
print(proc.pid, flush=True)
lib = proc.load_library(sys.argv[1])
for name in ("count", "say", "crash"):
    getattr(lib, name).args_type()
lib.wait_for.args_type("int *")
lib.fill.args_type("char *", "long")
ctx = proc.open_context()
"""

ENDLESS = """
address = proc.alloc_mem(4)
request = lib.wait_for(ctx, int(address))
if sys.argv[2] == "memory":
    ctx.async_read_mem(bytearray(8), address, 4)
print("waiting", flush=True)
request.wait_result()
"""

ENDINGS = {
    "open process": "",
    "open context": "other = proc.open_context()",
    "pending requests": "requests = [lib.count(ctx) for _ in range(1000)]",
    "dropped requests": "for _ in range(1000): lib.count(ctx)",
    "dropped transfer": "ctx.async_read_mem(bytearray(1 << 20), proc.alloc_mem(1 << 20), 1 << 20)",
    "dropped stack memory": "lib.fill(ctx, veo.OnStack(bytearray(99), inout=veo.INTENT_OUT), 99)",
    "closed process": "proc.close()",
    "closed context": "ctx.close()",
    "only a request": "request = lib.count(ctx); del proc, lib, ctx",
    "only a function": "function = lib.count; del proc, lib, ctx",
    "deleted in order": "del ctx, lib, proc",
    "deleted in reverse": "del proc, lib, ctx",
    "two processes": "second = veo.VeoProc(0); second.open_context()",
    "cycle": "class Mine(veo.VeoProc): pass\nm = Mine(0); m.me = m; m.r = m.open_context(); del m",
    "sys.exit": "sys.exit(0)",
    "os._exit": "os._exit(0)",
    "exit in a thread": "threading.Thread(target=sys.exit).start()",
    "daemon thread that waits": (
        "request = lib.wait_for(ctx, proc.alloc_mem(4))\n"
        "threading.Thread(target=request.wait_result, daemon=True).start()\n"
        "os.kill(proc.pid, signal.SIGKILL)"
    ),
    "callback": "lib.count(ctx).add_done_callback(lambda request: None)",
    "crashed kernel": "lib.crash(ctx).exception()",
    "held in a finalizer": (
        "class Last:\n"
        "    def __init__(self): self.proc = proc; self.address = proc.alloc_mem(8)\n"
        "    def __del__(self): self.proc.free_mem(self.address); self.proc.close()\n"
        "last = Last()"
    ),
    "stored in a module": "sys.kept = proc, ctx, lib.count(ctx)",
}


def gone(pid: int, limit: float = 25.0) -> bool:
    """True if a process that is not our child ends in time."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        try:
            if "State:\tZ" in Path(f"/proc/{pid}/status").read_text():
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


@pytest.fixture
def library(compile_c):
    return compile_c(KERNELS, "libend.so", flags=["-g"])


@pytest.mark.parametrize("ending", ENDINGS)
def test_silent_end(run_python, library, ending):
    done = run_python(START + ENDINGS[ending], str(library), limit=50)
    assert (done.returncode, done.stderr) == (0, "")
    assert gone(int(done.stdout.split()[0]))


def test_output_of_kernels_is_flushed_at_the_end(run_python, library):
    done = run_python(START + "lib.say(ctx)", str(library))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("kernel was here\n")


def test_uncaught_exception_ends_the_worker(run_python, library):
    done = run_python(START + "lib.count(ctx)\nraise KeyError('mine')", str(library))
    assert done.returncode == 1
    assert done.stderr.endswith("KeyError: 'mine'\n")
    assert gone(int(done.stdout.split()[0]))


@pytest.mark.parametrize("kept", ["memory", "nothing"])
def test_interrupted_program_does_not_wait_for_an_endless_kernel(library, tmp_path, kept):
    host = subprocess.Popen(
        [sys.executable, "-P", "-c", START + ENDLESS, str(library), kept],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert host.stdout is not None
    with host:
        worker = int(host.stdout.readline())
        assert host.stdout.readline() == "waiting\n"
        started = time.monotonic()
        host.send_signal(signal.SIGINT)
        host.wait(30)
        assert time.monotonic() - started < 5
    assert host.returncode == -signal.SIGINT
    assert gone(worker)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_worker_does_not_outlive_a_killed_host(library, tmp_path, number):
    program = START + "lib.wait_for(ctx, proc.alloc_mem(4)).wait_result()"
    host = subprocess.Popen(
        [sys.executable, "-P", "-c", program, str(library)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert host.stdout is not None
    with host:
        worker = int(host.stdout.readline())
        host.send_signal(number)
        host.wait(30)
    assert host.returncode == -number
    assert gone(worker)


# The worker notices the death of its host in two ways; each has to do without the other.
ONE_WAY = {
    "the end of a pipe": ("from tests.support.seccomp import *\ndeny(PIDFD_OPEN)\n", ""),
    "the process": ("", "child = os.fork()\nif child == 0: signal.pause()\n"),
}


@pytest.mark.parametrize("way", ONE_WAY)
def test_each_sign_of_a_hosts_death_ends_the_worker(library, tmp_path, way):
    before, after = ONE_WAY[way]
    # A child that holds the pipe open.
    tell = "print(child if 'child' in dir() else 0, flush=True)\nsignal.pause()\n"
    host = subprocess.Popen(
        [sys.executable, "-P", "-c", before + START + after + tell, str(library)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])},
    )
    assert host.stdout is not None
    with host:
        worker, child = int(host.stdout.readline()), int(host.stdout.readline())
        assert (child != 0) == (way == "the process")
        host.kill()
        host.wait(30)
        try:
            assert gone(worker)
        finally:
            if child:
                os.kill(child, signal.SIGKILL)


def test_import_in_a_thread(run_python, library):
    done = run_python(
        "import threading\n"
        "def work():\n"
        "    import veo\n"
        "    with veo.VeoProc(0, library='soft') as proc: proc.open_context()\n"
        "thread = threading.Thread(target=work)\n"
        "thread.start(); thread.join()\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


GIVE_UP = """
import time
address = proc.alloc_mem(4)
lib.wait_for.ret_type("int")
request = lib.wait_for(ctx, int(address))
behind = lib.count(ctx)
if sys.argv[2] == "result":
    try:
        request.wait_result(timeout=0.1)
        raise SystemExit("it ended")
    except veo.VeoTimeoutError:
        pass
elif sys.argv[2] == "wait":
    assert not request.wait(0.1)
elif sys.argv[2] == "dropped":
    assert not request.wait(0.1)
    del request, behind
print(time.monotonic(), flush=True)
"""

# 1.5 s and what a busy machine adds; without the limit it takes more than 20 s.
SOON_S = 6

WAYS_OUT = {
    "end of the program": "",
    "close": "proc.close(); assert proc.closed and ctx.closed",
    "with": "with proc: pass\nassert proc.closed",
    "context": "ctx.close(); assert ctx.closed",
    "deleted": (
        "import gc, psutil\n"
        "pid = proc.pid\n"
        "request = behind = address = None; del proc, lib, ctx; gc.collect()\n"
        "assert not psutil.pid_exists(pid)"
    ),
}


@pytest.mark.parametrize("way", WAYS_OUT)
@pytest.mark.parametrize("given_up_by", ["result", "wait", "dropped"])
def test_a_kernel_that_was_given_up_is_not_waited_for(run_python, library, way, given_up_by):
    text = START + GIVE_UP + WAYS_OUT[way]
    done = run_python(text, str(library), given_up_by, limit=30)
    took = time.monotonic() - float(done.stdout.split()[1])
    assert (done.returncode, done.stderr) == (0, "")
    assert took < SOON_S
    assert gone(int(done.stdout.split()[0]))


def test_an_endless_kernel_does_not_hold_up_the_end_of_a_program(run_python, library):
    done = run_python(START + GIVE_UP, str(library), "nobody waits", limit=30)
    took = time.monotonic() - float(done.stdout.split()[1])
    assert (done.returncode, done.stderr) == (0, "")
    assert took < SOON_S


def test_a_slow_kernel_that_was_waited_for_with_limits_is_waited_for_at_last(run_python, library):
    """A loop of limited waits gives nothing up when it goes on to the end."""
    done = run_python(
        START + "import threading\n"
        "address = proc.alloc_mem(4); proc.write_mem(address, bytes(4), 4)\n"
        "side = proc.open_context()\n"
        "request = lib.wait_for(ctx, int(address))\n"
        "assert not request.wait(0.05)\n"
        "side.async_write_mem(address, b'\\1\\0\\0\\0', 4).wait_result()\n"
        "while not request.wait(0.05): pass\n"
        "after = lib.count(ctx)\n"
        "proc.close()\n"
        "assert (request.result(), after.result()) == (1, 1)\n",
        str(library),
        limit=30,
    )
    assert (done.returncode, done.stderr) == (0, "")
