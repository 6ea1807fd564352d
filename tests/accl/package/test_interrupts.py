# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C during a call of accl raises KeyboardInterrupt once, whatever the call is doing then."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.full import share

SIGNALS = share(25, 1000)

# One rank. The main thread makes calls, another keeps the engine busy, and a third sends signals,
# each when the one before has arrived or has been waited for in vain.
PROGRAM = """
import os, random, signal, sys, threading, time
import numpy as np
from accl import accl

operation, number, seed, job = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
device = accl(1, 0, job=job)
device.set_timeout(0)
# A copy takes longer than a wait goes on without a look at signals.
large = device.allocate((3 << 24,), np.float32), device.allocate((3 << 24,), np.float32)
small = device.allocate((4,), np.float32), device.allocate((4,), np.float32)
ends = threading.Event()
state = {"sent": 0, "caught": 0, "lost": 0, "begun": 0}

def keep_busy():
    while not ends.is_set():
        device.copy(*large, large[0].size, from_fpga=True, to_fpga=True)

def hold_the_lock_of_python():
    # A look at signals waits for it, and what is waited for ends meanwhile.
    while not ends.is_set():
        sum(range(200))

def send():
    rng, begun = random.Random(seed), 0
    for _ in range(number):
        # Not before the main thread is where it catches them.
        while state["begun"] == begun:
            time.sleep(0.0005)
        time.sleep(rng.random() * 0.1)
        before, begun = state["caught"], state["begun"]
        state["sent"] += 1
        os.kill(os.getpid(), signal.SIGINT)
        deadline = time.monotonic() + 5
        while state["caught"] == before and time.monotonic() < deadline:
            time.sleep(0.0005)
        state["lost"] += state["caught"] == before
    ends.set()

calls = {
    "barrier": device.barrier,
    "allreduce": lambda: device.allreduce(*small, 4),
    "handle": lambda: device.allreduce(*small, 4, run_async=True).wait(),
    "recv": lambda: device.recv(small[0], 4, 0, 99) if state["sent"] < number else ends.wait(0.01),
    "pull": lambda: device.streams.pull(0.01),
}
threads = [threading.Thread(target=send, daemon=True)]
if operation not in ("recv", "pull"):
    threads.append(threading.Thread(target=keep_busy, daemon=True))
    threads.append(threading.Thread(target=hold_the_lock_of_python, daemon=True))
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
small[0][:] = 3
device.allreduce(*small, 4)
assert small[1].tolist() == [3] * 4
device.deinit()
print(state["sent"], state["caught"], state["lost"])
"""


@pytest.mark.timeout(600 if SIGNALS > 100 else 120)
@pytest.mark.parametrize("operation", ["barrier", "allreduce", "handle", "recv", "pull"])
def test_each_interrupt_arrives_once(operation: str, job: str) -> None:
    command = [sys.executable, "-P", "-c", PROGRAM, operation, str(SIGNALS), "1", job]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(SIGNALS), str(SIGNALS), "0"]
