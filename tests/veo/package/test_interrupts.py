# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C during a call of veo raises KeyboardInterrupt once, whatever the call is doing then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.interrupts import LIMIT_S, SIGNALS

KERNELS = """
#include <unistd.h>
long count(void) { static long n; return ++n; }
void nap(long us) { usleep(us); }
"""

ROOT = Path(__file__).resolve().parents[3]

PROGRAM = """
import random, sys
import numpy as np
import veo

sys.path.append(sys.argv[4])
from tests.support.interrupts import interrupt_at_random

operation, number, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
proc = veo.VeoProc(0, library="soft")
lib = proc.load_library(path)
lib.count, lib.nap
main, side = proc.open_context(), proc.open_context()
memory, tagged, data = proc.alloc_mem(64), proc.alloc_hmem(64), np.zeros(8)
array = veo.to_device(proc, data)
rng = random.Random(2)

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
    "call_many": lambda: side.call_many(lib.nap, np.full(30, 500)),
    "context_sync": lambda: behind_a_kernel(main.context_sync),
    "close of a context": lambda: in_a_context(lambda context: context.close()),
    "dropped context": lambda: in_a_context(lambda context: None),
    "open and close": open_and_close,
}
caught, lost = interrupt_at_random(calls[operation], number)
before = lib.count(main).wait_result(20)
assert lib.count(side).wait_result(20) == before + 1
proc.write_mem(memory, np.arange(8.0), 64)
proc.read_mem(data, memory, 64)
assert data.tolist() == list(range(8))
proc.close()
print(caught, lost)
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
    "call_many",
    "context_sync",
    "close of a context",
    "dropped context",
    "open and close",
]


@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_interrupt_arrives_once(run_python, compile_c, operation):
    library = compile_c(KERNELS, "libnaps.so", flags=["-g"])
    done = run_python(PROGRAM, operation, str(SIGNALS), str(library), str(ROOT), limit=LIMIT_S - 10)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [str(SIGNALS), "0"]
