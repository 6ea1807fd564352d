# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C ends whatever blocks, soon, and leaves things usable."""

from __future__ import annotations

import pytest

KERNELS = """
#include <unistd.h>
int count(void) { static int n; return ++n; }
int wait_for(volatile int *flag) { while (*flag == 0) usleep(100); return *flag; }
"""

PROGRAM = """
import os, signal, sys, threading, time, veo
proc = veo.VeoProc(0, library="soft")
lib = proc.load_library(sys.argv[1])
lib.count.args_type()
lib.wait_for.args_type("int *")
ctx = proc.open_context()
side = proc.open_context()
address = proc.alloc_mem(8)
proc.write_mem(address, bytes(8), 8)
data = bytearray(8)
request = lib.wait_for(ctx, address)
sent = []

def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(0.3, interrupt).start()
try:
    {blocking}
except KeyboardInterrupt:
    late = time.monotonic() - sent[0]
    assert late < 1.0, late
else:
    raise SystemExit("was not interrupted")
assert not request.done()
side.async_write_mem(address, (1).to_bytes(8, "little"), 8).wait_result(20)
assert request.wait_result(20) == 1
assert lib.count(ctx).wait_result(20) == 1
proc.read_mem(data, address, 8)
proc.close()
print("usable")
"""

BLOCKING = {
    "wait_result": "request.wait_result()",
    "result": "request.result()",
    "wait with a limit": "request.wait(60)",
    "read_mem": "proc.read_mem(data, address, 8)",
    "write_mem": "proc.write_mem(address + 4, bytes(4), 4)",
    "free_mem": "proc.free_mem(proc.alloc_mem(8))",
    "load_library": "proc.load_library(sys.argv[1])",
    "context_sync": "ctx.context_sync()",
    "close of the context": "ctx.close()",
    "close of the process": "proc.close()",
}


@pytest.mark.parametrize("blocking", BLOCKING)
def test_interrupt(run_python, compile_c, blocking):
    library = compile_c(KERNELS, "libsignal.so", flags=["-g"])
    done = run_python(PROGRAM.replace("{blocking}", BLOCKING[blocking]), str(library), limit=40)
    assert (done.returncode, done.stdout, done.stderr) == (0, "usable\n", "")
