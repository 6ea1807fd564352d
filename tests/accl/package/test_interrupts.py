# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C during a call of accl raises KeyboardInterrupt once, whatever the call is doing then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.interrupts import LIMIT_S, SIGNALS

ROOT = Path(__file__).resolve().parents[3]

# One rank. The main thread makes calls, and another keeps the engine busy.
PROGRAM = """
import sys, threading
import numpy as np
from accl import accl

sys.path.append(sys.argv[4])
from tests.support.interrupts import interrupt_at_random

operation, number, job = sys.argv[1], int(sys.argv[2]), sys.argv[3]
device = accl(1, 0, job=job)
device.set_timeout(0)
# A copy takes longer than a wait goes on without a look at signals.
large = device.allocate((3 << 24,), np.float32), device.allocate((3 << 24,), np.float32)
small = device.allocate((4,), np.float32), device.allocate((4,), np.float32)
ends = threading.Event()

def keep_busy():
    while not ends.is_set():
        device.copy(*large, large[0].size, from_fpga=True, to_fpga=True)

calls = {
    "barrier": device.barrier,
    "allreduce": lambda: device.allreduce(*small, 4),
    "handle": lambda: device.allreduce(*small, 4, run_async=True).wait(),
    "recv": lambda: device.recv(small[0], 4, 0, 99),
    "pull": lambda: device.streams.pull(0.01),
}
waits = operation in ("recv", "pull")
thread = threading.Thread(target=ends.wait if waits else keep_busy)
thread.start()
caught, lost = interrupt_at_random(calls[operation], number, most_s=0.1, crowded=not waits)
ends.set()
thread.join()
small[0][:] = 3
device.allreduce(*small, 4)
assert small[1].tolist() == [3] * 4
device.deinit()
print(caught, lost)
"""


@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("operation", ["barrier", "allreduce", "handle", "recv", "pull"])
def test_each_interrupt_arrives_once(operation: str, job: str) -> None:
    command = [sys.executable, "-P", "-c", PROGRAM, operation, str(SIGNALS), job, str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S - 10)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(SIGNALS), "0"]
