# SPDX-License-Identifier: BSD-3-Clause
"""After a fork the handles belong to the parent; the child may make its own."""

from __future__ import annotations

KERNELS = """
#include <unistd.h>
int count(void) { static int n; return ++n; }
int wait_for(volatile int *flag) { while (*flag == 0) usleep(100); return *flag; }
"""

PROGRAM = """
import gc, os, sys, veo
veo.use_library("soft")
proc = veo.VeoProc(0)
lib = proc.load_library(sys.argv[1])
lib.count.args_type()
lib.wait_for.args_type("int *")
ctx = proc.open_context()
side = proc.open_context()
address = proc.alloc_mem(8)
proc.write_mem(address, bytes(8), 8)
memory = bytearray(8)
pending = lib.wait_for(ctx, address)
transfer = ctx.async_read_mem(memory, address, 8)
dropped = ctx.async_read_mem(bytearray(8), address, 8)

def refused(call):
    try:
        call()
    except veo.VeoClosedError as error:
        assert "forked" in str(error), error
        return True
    return False

def in_child():
    calls = [
        lambda: lib.count(ctx), lambda: proc.alloc_mem(8), proc.open_context,
        lambda: proc.read_mem(memory, address, 8),
        pending.wait_result, pending.peek_result, transfer.result,
        lambda: ctx.async_write_mem(address, bytes(8), 8), ctx.context_sync,
        lambda: lib.find_function("count"), lambda: proc.load_library(sys.argv[1]),
        proc.__enter__,
    ]
    for number, call in enumerate(calls):
        assert refused(call), number
    assert proc.closed and ctx.closed and pending.done()
    proc.close()
    ctx.close()
    repr((proc, ctx, lib, pending, lib.count))
    with veo.VeoProc(0) as own:
        count = own.load_library(sys.argv[1]).count
        count.args_type()
        assert count(own.open_context()).wait_result() == 1

child = os.fork()
if child == 0:
    status = 1
    try:
        in_child()
        globals().pop("dropped")
        for name in ("proc", "lib", "ctx", "side", "pending", "transfer", "address"):
            globals().pop(name)
        gc.collect()
        status = 0
    finally:
        sys.stdout.flush()
        if status:
            import traceback
            traceback.print_exc()
        os._exit(status) if sys.argv[2] == "_exit" else sys.exit(status)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
side.async_write_mem(address, (1).to_bytes(8, "little"), 8).wait_result()
assert pending.wait_result(20) == 1
assert transfer.wait_result(20) == 0
assert lib.count(ctx).wait_result(20) == 1
print("parent is fine")
"""


def test_child_is_refused_and_parent_goes_on(run_python, compile_c):
    library = compile_c(KERNELS, "libfork.so", flags=["-g"])
    for ending in ("_exit", "exit"):
        done = run_python(PROGRAM, str(library), ending)
        assert (done.returncode, done.stdout, done.stderr) == (0, "parent is fine\n", "")


def test_multiprocessing_by_fork(run_python, compile_c):
    library = compile_c(KERNELS, "libfork.so", flags=["-g"])
    done = run_python(
        "import multiprocessing, sys, veo\n"
        "def work(path):\n"
        "    with veo.VeoProc(0, library='soft') as proc:\n"
        "        count = proc.load_library(path).count\n"
        "        count.args_type()\n"
        "        return count(proc.open_context()).wait_result()\n"
        "if __name__ == '__main__':\n"
        "    proc = veo.VeoProc(0, library='soft')\n"
        "    with multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "        print(pool.map(work, [sys.argv[1]] * 4))\n"
        "    proc.alloc_mem(8)\n",
        str(library),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[1, 1, 1, 1]\n", "")


WAITED_FOR = """
import os, sys, threading, veo, warnings
# Of os.fork() where there are threads.
warnings.simplefilter("ignore", DeprecationWarning)
veo.use_library("soft")
proc = veo.VeoProc(0)
lib = proc.load_library(sys.argv[1])
lib.wait_for.args_type("int *")
ctx = proc.open_context()
side = proc.open_context()
address = proc.alloc_mem(8)
proc.write_mem(address, bytes(8), 8)
pending = lib.wait_for(ctx, address)

# A thread gives the GIL up only where it waits in the library: so when this thread goes on after
# entered.wait(), the other one is there.
sys.setswitchinterval(100)
entered = threading.Event()

def wait():
    entered.set()
    assert pending.wait_result(20) == 1

thread = threading.Thread(target=wait)
thread.start()
entered.wait()
child = os.fork()
if child == 0:
    status = 1
    try:
        assert pending.wait(0) and pending.done()
        assert isinstance(pending.exception(0), veo.VeoClosedError)
        status = 0
    finally:
        os._exit(status)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
side.async_write_mem(address, (1).to_bytes(8, "little"), 8).wait_result()
thread.join(20)
print("parent is fine")
"""


def test_request_that_another_thread_waits_for_is_refused_in_child(run_python, compile_c):
    library = compile_c(KERNELS, "libfork.so", flags=["-g"])
    done = run_python(WAITED_FOR, str(library))
    assert (done.returncode, done.stdout, done.stderr) == (0, "parent is fine\n", "")
