# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C during a call of veo raises KeyboardInterrupt once, whatever the call is doing then."""

from __future__ import annotations

import pytest

from tests.support.full import share

SIGNALS = share(25, 1000)

KERNELS = """
#include <unistd.h>
long count(void) { static long n; return ++n; }
void nap(long us) { usleep(us); }
"""

# The main thread makes calls, and another sends signals, each when the one before has arrived or
# has been waited for in vain.
PROGRAM = """
import os, random, signal, sys, threading, time
import numpy as np
import veo

operation, number, seed, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
proc = veo.VeoProc(0, library="soft")
lib = proc.load_library(path)
lib.count, lib.nap
main, side = proc.open_context(), proc.open_context()
memory, tagged, data = proc.alloc_mem(64), proc.alloc_hmem(64), np.zeros(8)
array = veo.to_device(proc, data)
ends = threading.Event()
state = {"sent": 0, "caught": 0, "lost": 0, "begun": 0}
rng = random.Random(seed)

def hold_the_lock_of_python():
    # A look at signals waits for it, and what is waited for ends meanwhile.
    while not ends.is_set():
        sum(range(200))

def send():
    mine, begun = random.Random(seed + 1), 0
    for _ in range(number):
        # Not before the main thread is where it catches them.
        while state["begun"] == begun:
            time.sleep(0.0005)
        time.sleep(mine.random() * 0.03)
        before, begun = state["caught"], state["begun"]
        state["sent"] += 1
        os.kill(os.getpid(), signal.SIGINT)
        deadline = time.monotonic() + 5
        while state["caught"] == before and time.monotonic() < deadline:
            time.sleep(0.0005)
        state["lost"] += state["caught"] == before
    ends.set()

def behind_a_kernel(call):
    lib.nap(main, rng.randrange(20000))
    return call()

def in_a_context(call):
    context = proc.open_context()
    lib.nap(context, rng.randrange(20000))
    call(context)

def open_and_close():
    with veo.VeoProc(0, library="soft") as other:
        other.open_context()

calls = {
    "wait_result": lambda: lib.nap(side, rng.randrange(20000)).wait_result(),
    "wait": lambda: veo.wait([lib.nap(context, 5000) for context in (main, side)]),
    "as_completed": lambda: list(veo.as_completed([lib.nap(c, 5000) for c in (main, side)])),
    "read_mem": lambda: behind_a_kernel(lambda: proc.read_mem(data, memory, 64)),
    "write_mem": lambda: behind_a_kernel(lambda: proc.write_mem(memory, data, 64)),
    "hmemcpy": lambda: behind_a_kernel(lambda: veo.VEO_HMEM.hmemcpy(data, tagged, 64)),
    "free_mem": lambda: behind_a_kernel(lambda: proc.free_mem(proc.alloc_mem(64))),
    "array": lambda: behind_a_kernel(lambda: array.write(data).read()),
    "dropped array": lambda: veo.to_device(proc, data).read(),
    "load_library": lambda: behind_a_kernel(lambda: proc.unload_library(proc.load_library(path))),
    "context_sync": lambda: behind_a_kernel(main.context_sync),
    "close of a context": lambda: in_a_context(lambda context: context.close()),
    "dropped context": lambda: in_a_context(lambda context: None),
    "open and close": open_and_close,
}
threads = [threading.Thread(target=send), threading.Thread(target=hold_the_lock_of_python)]
for thread in threads:
    thread.start()
while not ends.is_set():
    try:
        while not ends.is_set():
            state["begun"] += 1
            calls[operation]()
    except KeyboardInterrupt:
        state["caught"] += 1
for thread in threads:
    thread.join()
before = lib.count(main).wait_result(20)
assert lib.count(side).wait_result(20) == before + 1
proc.write_mem(memory, np.arange(8.0), 64)
proc.read_mem(data, memory, 64)
assert data.tolist() == list(range(8))
proc.close()
print(state["sent"], state["caught"], state["lost"])
"""

OPERATIONS = [
    "wait_result",
    "wait",
    "as_completed",
    "read_mem",
    "write_mem",
    "hmemcpy",
    "free_mem",
    "array",
    "dropped array",
    "load_library",
    "context_sync",
    "close of a context",
    "dropped context",
    "open and close",
]


@pytest.mark.timeout(600 if SIGNALS > 100 else 120)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_interrupt_arrives_once(run_python, compile_c, operation):
    library = compile_c(KERNELS, "libnaps.so", flags=["-g"])
    limit = 560 if SIGNALS > 100 else 110
    done = run_python(PROGRAM, operation, str(SIGNALS), "1", str(library), limit=limit)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [str(SIGNALS), str(SIGNALS), "0"]
